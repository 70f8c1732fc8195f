"""Random checks: how well the groups fit what the person means, estimated from answers alone.

Some questions are about items drawn at random. Groups that were learnt without the answers to them
are compared with these answers: how often they agree is an honest estimate of how many items are
where the person would put them. Questions that a strategy chooses say nothing of the kind, since it
looks for items that are unclear, and neither do answers that the groups were learnt from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.questions import UNSURE, Answer

FEWEST = 5
"""Checks from which on an estimate is given."""


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
    def of(cls, checks: Sequence[Answer], labels: NDArray[np.intp]) -> Quality | None:
        """From answers to checks and groups (n,) learnt without them; None: too few checks.

        The interval is that of Clopper and Pearson, which is never too short.
        """
        if len(checks) < FEWEST:
            return None
        agreed = sum(_agrees(answer, labels) for answer in checks)
        return cls(len(checks), agreed, *interval(agreed, len(checks)))


def checks_of(answers: Iterable[Answer]) -> list[Answer]:
    """The answers to random checks that say something."""
    return [a for a in answers if a.question.at_random and a.choice != UNSURE]


def without(
    known: Constraints, items: Collection[int], rows: NDArray[np.intp] | None = None
) -> Constraints:
    """The same knowledge as if these items had never come up.

    What they taught about other items stays: which kinds there are, and that these are different.
    With `rows` (ascending, all that answers speak of among them) it is about these rows only, which
    are counted from 0.
    """
    out = set(items)
    touched = known.touched
    places = touched if rows is None else np.searchsorted(rows, touched)
    first: dict[int, int] = {}
    links: list[tuple[int, int, bool]] = []
    for item, place in zip(touched.tolist(), places.tolist(), strict=True):
        if item in out:
            continue
        component = int(known.components[item])
        if component in first:
            links.append((first[component], place, True))
        first.setdefault(component, place)
    for a, b in known.component_links().tolist():
        if a in first and b in first:
            links.append((first[a], first[b], False))
    return Constraints.from_links(known.n_items if rows is None else len(rows), links)


def _agrees(answer: Answer, labels: NDArray[np.intp]) -> bool:
    """Whether the groups put the item where the person did."""
    question, choice = answer.question, answer.choice
    own = labels[question.items()[0]]
    same = {
        c: labels[shown[0]] == own for c in question.choices() if (shown := question.exemplars(c))
    }
    return bool(same[choice] if choice in same else not any(same.values()))


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


def trust(
    found: Quality | None, clustering: Clustering, gain: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What can be told of the quality, as plain JSON.

    ``quality`` is None while there are too few random checks. ``moved`` bounds what the next refit
    will change, if it is like the last one. ``gain`` is what 20 more answers would bring (see
    :mod:`samekind.session.gains`). ``enough`` suggests to stop: that would be little, and
    ``quality`` says
    how good the groups are as they stand.
    """
    change = moved(clustering)
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
        "gain": gain,
        "enough": bool(found is not None and gain is not None and gain["little"]),
    }


def in_words(told: dict[str, Any]) -> str:
    """The same for a person; empty while nothing can be told.

    >>> in_words({"quality": {"checks": 10, "agreed": 9, "low": 0.56, "high": 0.997},
    ...     "moved": 0.02, "gain": None, "enough": False})
    'You agreed with 9 of 10 random checks: about 56 to 99 % of the items are where you want them.'
    >>> in_words({"quality": None, "gain": {"answers": 20, "items": 30}, "enough": False})
    '20 more answers would probably put about 30 more items in place.'
    """
    found, gain = told["quality"], told["gain"]
    said = []
    if found is not None:
        low, high = int(100 * found["low"]), int(100 * found["high"])
        said.append(
            f"You agreed with {found['agreed']} of {found['checks']} random checks: "
            f"about {low} to {high} % of the items are where you want them."
        )
    if told["enough"]:
        said.append("More answers change little: you may stop.")
    elif gain is not None:
        many = "1 more item" if gain["items"] == 1 else f"{gain['items']:,} more items"
        said.append(f"{gain['answers']} more answers would probably put about {many} in place.")
    return " ".join(said)
