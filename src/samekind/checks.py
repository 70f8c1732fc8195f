"""Random checks: how well the groups fit what the person means, estimated from answers alone.

Some questions are about items drawn at random, with the choice that the groups would have given
noted beforehand. How often the person agrees is an honest estimate of how many items are where the
person would put them; questions that a strategy chooses say nothing of the kind, since it looks for
items that are unclear.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from samekind.clustering import Clustering
from samekind.questions import UNSURE, Answer

RECENT = 24
"""Checks that count: older ones tell of groups that have become better since."""
FEWEST = 5
"""Checks from which on an estimate is given."""
STEADY = 0.01
"""A refit that moves fewer items than this hardly changes anything."""
GOOD = 0.85
"""If the interval lies above this and the groups are steady, one may stop."""


@dataclass(frozen=True)
class Quality:
    """Of so many random checks the person agreed with so many: a share, and its 95 % interval."""

    checks: int
    agreed: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The estimate."""
        return self.agreed / self.checks

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> Quality | None:
        """From the answers to random checks; None while there are too few.

        The interval is that of Clopper and Pearson, which is never too short. Checks were made
        while the groups were still being learnt, so it is rather too pessimistic.
        """
        checks = [a for a in answers if a.question.expected is not None and a.choice != UNSURE]
        recent = checks[-RECENT:]
        if len(recent) < FEWEST:
            return None
        agreed = sum(answer.choice == answer.question.expected for answer in recent)
        return cls(len(recent), agreed, *interval(agreed, len(recent)))


def interval(agreed: int, checks: int, error: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share.

    >>> [round(end, 3) for end in interval(9, 10)]
    [0.555, 0.997]
    """
    from scipy.stats import beta

    low = beta.ppf(error / 2, agreed, checks - agreed + 1) if agreed else 0.0
    high = beta.ppf(1 - error / 2, agreed + 1, checks - agreed) if agreed < checks else 1.0
    return float(low), float(high)


def moved(clustering: Clustering) -> float | None:
    """Share of items that the last refit put into another group; None before the first."""
    if not clustering.lineage:
        return None
    stayed = sum(came.get(number, 0) for number, came in clustering.lineage.items())
    return 1 - stayed / max(len(clustering.labels), 1)


def trust(answers: Iterable[Answer], clustering: Clustering) -> dict[str, Any]:
    """What can be told of the quality, as plain JSON.

    ``quality`` is None while there are too few random checks. ``moved`` bounds what the next refit
    will change, if it is like the last one. ``enough`` suggests to stop.
    """
    found, change = Quality.of(answers), moved(clustering)
    steady = change is not None and change < STEADY
    return {
        "quality": None
        if found is None
        else {
            "checks": found.checks,
            "agreed": found.agreed,
            "share": round(found.share, 4),
            "low": round(found.low, 4),
            "high": round(found.high, 4),
        },
        "moved": None if change is None else round(change, 4),
        "enough": bool(found is not None and found.low > GOOD and steady),
    }


def in_words(told: dict[str, Any]) -> str:
    """The same for a person; empty while nothing can be told.

    >>> in_words({"quality": {"checks": 10, "agreed": 9, "low": 0.56, "high": 0.997},
    ...     "moved": 0.02, "enough": False})
    'You agreed with 9 of 10 random checks: about 56 to 99 % of the items are where you want them.'
    """
    found = told["quality"]
    if found is None:
        return ""
    low, high = int(100 * found["low"]), int(100 * found["high"])
    said = (
        f"You agreed with {found['agreed']} of {found['checks']} random checks: "
        f"about {low} to {high} % of the items are where you want them."
    )
    if told["enough"]:
        said += " The groups hardly change any more: this may be enough."
    return said
