"""A report on the answers of a session: what was answered, how long it took, and by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from samekind.questions import UNSURE, Answer, wording
from samekind.session.accuracy import MIN_PLACEMENTS
from samekind.session.agreement import error_rates
from samekind.session.quality import describe_quality, random_checks
from samekind.session.session import Session
from samekind.session.tally import Tally


@dataclass(frozen=True)
class KindCount:
    """Answers to one kind of question. Seconds count only the `timed` answers."""

    kind: str
    prompt: str
    answers: int
    unsure: int
    seconds: float
    timed: int
    median: float | None


@dataclass(frozen=True)
class SessionReport:
    """The state of a session; `quality` and `gain` are those of :meth:`Session.progress`.

    `people` counts the answers of each person, or model, by name. `errors` has the learned share of
    their answers that are wrong, as soon as something can be said about it.
    """

    answers: int
    unsure: int
    items: int
    placed: int
    groups: int
    conflicts: int
    snapshot: int
    kinds: list[KindCount]
    choices: dict[str, int]
    people: dict[str, int]
    errors: dict[str, float]
    seconds: float
    timed: int
    checks: int
    checking: bool
    placements: int
    placements_needed: int
    quality: dict[str, Any] | None
    gain: dict[str, Any] | None
    moved: float | None
    notice: str
    enough: bool
    words: str


def report(session: Session) -> SessionReport:
    """Report on a session."""
    progress: dict[str, Any] = session.progress()
    answers = session.answers
    times = [answer.seconds for answer in answers if answer.seconds is not None]
    shared = (
        "answers", "unsure", "items", "placed", "groups", "conflicts", "snapshot",
        "quality", "gain", "moved", "notice", "enough",
    )  # fmt: skip
    return SessionReport(
        **{name: progress[name] for name in shared},
        kinds=count_kinds(answers),
        choices=dict(Counter(map(_describe_choice, answers)).most_common()),
        people=dict(Counter(answer.by for answer in answers).most_common()),
        errors={name: round(error, 3) for name, (error, _) in error_rates(session).items()},
        seconds=round(sum(times), 1),
        timed=len(times),
        checks=len(random_checks(answers)),
        checking=bool(getattr(session.strategy, "check_every", 0)),
        placements=Tally.of(answers).placements,
        placements_needed=MIN_PLACEMENTS,
        words=describe_quality(progress),
    )


def count_kinds(answers: Sequence[Answer]) -> list[KindCount]:
    """Count answers and seconds per kind of question, the most frequent kind first."""
    kinds: dict[str, list[Answer]] = {}
    for answer in answers:
        kinds.setdefault(answer.question.kind, []).append(answer)
    return [_count(kinds[kind]) for kind in sorted(kinds, key=lambda kind: -len(kinds[kind]))]


def _count(answers: Sequence[Answer]) -> KindCount:
    times = [answer.seconds for answer in answers if answer.seconds is not None]
    question = answers[0].question
    return KindCount(
        kind=question.kind,
        prompt=question.prompt,
        answers=len(answers),
        unsure=sum(answer.choice == UNSURE for answer in answers),
        seconds=round(sum(times), 1),
        timed=len(times),
        median=round(median(times), 1) if times else None,
    )


def _describe_choice(answer: Answer) -> str:
    """Put a choice into words that do not depend on where a group was on the screen."""
    if answer.choice[0].isdecimal():
        marking = answer.question.marking
        return marking.several.format("Some") if marking else "One of the groups"
    return wording.label(answer.choice, answer.question.words)
