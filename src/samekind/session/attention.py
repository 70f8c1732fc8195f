"""Attention: notice answers that follow no wish, such as the same key again and again.

Groups that are learnt from such answers agree with them, so no estimate of the quality would warn.
Nobody is accused: a person may have good reasons, and is asked to look at the latest answers.
"Not sure" again and again teaches nothing, so the person is told what else could help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from samekind.questions import UNSURE, Answer

LONG_RUN = 12
"""Equal choices in a row that are worth a second look."""
N_LATEST = 30
"""Latest placements that are compared with what the groups implied."""
MAX_LOOKED_AT = 1000
"""Latest answers among which placements are looked for: with many groups only random checks count,
and those are an eighth of the answers."""
MIN_COMPARED = 20
"""Placements below which no comparison is made."""
BY_CHANCE = 0.1
"""Agreement beyond chance (Cohen's kappa) below which the answers follow no pattern."""
MIN_KAPPA = 0.3
"""Agreement beyond chance below which nobody is told that the groups are good."""
N_UNSURE = 20
"""Latest answers among which "not sure" is counted."""
MOSTLY_UNSURE = 0.8
"""Share of "not sure" among them from which on little is learnt."""
HABIT, HABIT_KAPPA = 0.8, 0.45
"""Share of one choice that looks like a habit, if the other answers were not predicted either:
below this agreement beyond chance."""


@dataclass(frozen=True)
class Attention:
    """How the latest questions were answered.

    Parameters
    ----------
    run : equal choices in a row among the latest placements.
    habit : share of the commonest choice; 0 with too few placements.
    kappa : agreement with what the groups implied, beyond chance; None: too few placements.
    unsure_run : "not sure" in a row at the end. unsure : its share; 0 with too few answers.
    """

    run: int
    habit: float
    kappa: float | None
    unsure_run: int = 0
    unsure: float = 0.0

    @property
    def is_monotone(self) -> bool:
        """Whether one choice was repeated so often that groups learnt from it prove nothing."""
        unexplained = self.kappa is not None and self.kappa < HABIT_KAPPA
        return self.run >= LONG_RUN or (self.habit >= HABIT and unexplained)

    @property
    def is_unsure(self) -> bool:
        """Whether "not sure" was said so often that hardly anything could be learnt.

        Where the groups predict the other answers, only hard items are left, and being unsure
        about those is right.
        """
        often = self.unsure_run >= LONG_RUN or self.unsure >= MOSTLY_UNSURE
        return often and (self.kappa is None or self.kappa < MIN_KAPPA)

    @property
    def notice(self) -> str:
        """A gentle sentence; empty if there is nothing to notice."""
        if self.is_unsure:
            which, learnt = f"the last {self.unsure_run}", "nothing"
            if self.unsure_run < LONG_RUN:
                which, learnt = "most of the latest", "little"
            return (
                f"You were not sure about {which} questions, so {learnt} could be learnt from "
                "them. Pick one thing to sort by, such as colour or topic, and skip what you "
                "cannot tell. Or start another grouping."
            )
        if self.is_monotone:
            which = f"Your last {self.run} answers were all"
            if self.run < LONG_RUN:
                which = "Most of your latest answers were"
            return (
                f"{which} the same choice. Please look at them again: if some were slips, the "
                "groups have learnt them."
            )
        if self.kappa is not None and self.kappa < BY_CHANCE:
            return (
                "Your latest answers could not be predicted from the earlier ones. Either some "
                "were slips, or the difference that you mean cannot be seen yet."
            )
        return ""

    @property
    def is_enough(self) -> bool:
        """Whether advice to stop may rely on these answers."""
        return not self.notice and (self.kappa is None or self.kappa >= MIN_KAPPA)


def attention(latest_first: Iterable[Answer]) -> Attention:
    """Judge the latest answers; agreement counts among placements in two groups or more.

    Where the order of the groups follows what is believed, the first one is mostly right, and
    choosing it again and again says nothing. No more answers are looked at than are needed.
    """
    choices: list[str] = []
    pairs: list[tuple[str, str]] = []
    unsure: list[bool] = []
    run, broken = 0, False
    for answer in islice(latest_first, MAX_LOOKED_AT):
        if not answer.question.by_hand:
            unsure.append(answer.choice == UNSURE)
        groups = 0 if answer.question.hints else _n_groups(answer)
        if not groups:
            continue
        choices.append(answer.choice)
        broken = broken or answer.choice != choices[0]
        run += not broken
        if groups >= 2 and answer.question.expected is not None:
            pairs.append((answer.choice, answer.question.expected.choice))
        if broken and len(pairs) >= N_LATEST:
            break
    latest = Counter(choices[:N_LATEST])
    habit = max(latest.values()) / latest.total() if len(choices) >= MIN_COMPARED else 0.0
    unsure_run = [*unsure, False].index(False)
    share = sum(unsure[:N_UNSURE]) / N_UNSURE if len(unsure) >= N_UNSURE else 0.0
    return Attention(run, habit, _kappa(pairs[:N_LATEST]), unsure_run, share)


def _n_groups(answer: Answer) -> int:
    """The number of groups among which an item was placed; 0 for other answers."""
    question = answer.question
    if question.many or question.by_hand or answer.choice == UNSURE:
        return 0
    return sum(bool(question.exemplars(choice)) for choice in question.choices())


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of what was said and what was implied; None: too few, or all the same."""
    n = len(pairs)
    if n < MIN_COMPARED:
        return None
    said, implied = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(said[choice] * implied[choice] for choice in said) / n**2
    if by_chance == 1:
        return None
    return (sum(a == b for a, b in pairs) / n - by_chance) / (1 - by_chance)
