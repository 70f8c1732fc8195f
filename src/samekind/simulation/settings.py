"""Settings of a run: the protocol of a variant, and the segments that it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from samekind.simulation.loop import Segment

GROUPS = ("given", "unknown")
HELD_OUT = (True, False, "given")


@dataclass(frozen=True)
class Settings:
    """The protocol of a run, and the parameters of the method's constructor.

    There are two protocols. With `score_at`, questions come one by one, as a person gets them, and
    the groups are scored after these numbers of answers. Without it, all questions of a round are
    proposed at once and the method learns at the end of the round, as published for methods whose
    refits take minutes.

    Parameters
    ----------
    method, strategy : names of ``samekind list``, or package.module:Class. A suite that names no
        strategy uses the method's own.
    questions : the budget.
    score_at : numbers of answers after which the groups are refitted if there are new answers, and
        scored. The first and the last state are always scored.
    questions_per_refit : answers between two refits; refit_at : explicit numbers of answers
        instead. With `score_at`, 0 refits only before a score, and refits_from = { 50 = 10 }
        refits after every 10 answers from answer 50 on.
    first_refits : refits before the first question. refits : minimum number of refits; the run
        continues after the last question until they are done.
    score_every : refits between two scores, without `score_at`.
    held_out : true keeps the test part for scoring, or every fifth item where the set has none;
        false trains on and scores the whole set (OCC); "given": only where the set has a test part.
    items : number of items to train on, the first ones; 0: all.
    encoder : "none" (arrays as they are), "default", or the name of an encoder.
    groups : "given" tells the method the number of groups if it has such a parameter; "unknown"
        does not.
    without : parts of the loss to leave out.
    strategy_with : parameters of the strategy, such as how many groups a question shows.
    person, noise, unsure : who answers, where the suite has no ``[person.NAME]``.
    parameters : parameters of the method's constructor.
    """

    method: str = "pcl"
    strategy: str = "pcl"
    questions: int = 0
    questions_per_refit: int = 0
    refit_at: tuple[int, ...] = ()
    first_refits: int = 0
    refits: int = 0
    score_every: int = 1
    held_out: bool | str = True
    items: int = 0
    without: tuple[str, ...] = ()
    strategy_with: Mapping[str, Any] = field(default_factory=dict)
    person: str = "shown"
    noise: float = 0.0
    unsure: float = 0.0
    score_at: tuple[int, ...] = ()
    refits_from: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = "none"
    groups: str = "given"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Numbers of answers after which the method is refitted; the last is the budget."""
        step = self.questions_per_refit or max(1, self.questions)
        at = self.refit_at or range(step, self.questions, step)
        return (
            *(n for n in at if n < self.questions),
            *([self.questions] if self.questions else []),
        )

    def segments(self) -> tuple[Segment, ...]:
        """The segments up to the budget.

        >>> Settings(questions=30, score_at=(10,), questions_per_refit=5).segments()
        (Segment(until=10, every=5, ahead=1), Segment(until=30, every=5, ahead=1))
        >>> Settings(questions=30, questions_per_refit=20).segments()
        (Segment(until=20, every=0, ahead=0), Segment(until=30, every=0, ahead=0))
        """
        if not self.score_at:
            return tuple(Segment(until) for until in self.rounds)
        later = {int(start): int(every) for start, every in self.refits_from.items()}
        ends = sorted({n for n in (*self.score_at, *later) if 0 < n < self.questions})
        ends += [self.questions] if self.questions else []
        segments, every, start = [], self.questions_per_refit, 0
        for until in ends:
            every = later.get(start, every)
            segments.append(Segment(until, every, 1))
            start = until
        return tuple(segments)

    def is_scored_at(self, n_answers: int) -> bool:
        """Whether the groups are scored after this many answers (with `score_at`)."""
        return n_answers in self.score_at or n_answers == self.questions


KINDS: dict[str, type] = {
    name: {
        "tuple[int, ...]": list,
        "tuple[str, ...]": list,
        "Mapping[str, Any]": dict,
        "bool | str": object,
        "str": str,
        "int": int,
        "float": float,
    }[str(of.type)]
    for name, of in Settings.__dataclass_fields__.items()
    if name != "parameters"
}
"""Keys of [base] and of variants that are not parameters of the method, with their types."""
