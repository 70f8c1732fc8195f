"""Quality: estimate from the answers alone how well the groups fit what the person means.

Some questions are random checks, about items drawn at random. Groups that were learnt without them
are compared with their answers: the share that agrees is an honest estimate of how many items are
where the person would put them. Questions that a strategy chooses are biased towards unclear items,
and answers that the groups were learnt from prove nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.questions import UNSURE, Answer
from samekind.questions.wording import plural
from samekind.session.refit import fit_clusterer

MIN_CHECKS = 5
"""Random checks that an estimate needs."""
MAX_SAMPLED_ITEMS = 12_000
"""Items on which the quality is estimated; more would take longer and say the same."""


@dataclass(frozen=True)
class Quality:
    """The share of random checks in which the groups agree with the person; 95 % interval."""

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
        """Compare the answers to checks with groups (n,) learnt without them; None: too few checks.

        The Clopper-Pearson interval is exact and never too short.
        """
        if len(checks) < MIN_CHECKS:
            return None
        agreed = sum(_agrees(answer, labels) for answer in checks)
        return cls(len(checks), agreed, *interval(agreed, len(checks)))


def random_checks(answers: Iterable[Answer]) -> list[Answer]:
    """The answers to random checks, without those that are unsure."""
    return [a for a in answers if a.question.at_random and a.choice != UNSURE]


class QualityEstimate:
    """The quality by the latest random checks; updated only when their answers have changed."""

    def __init__(self) -> None:
        self.quality: Quality | None = None
        self._checked: tuple[tuple[int, str], ...] = ()
        self._busy = Lock()

    def update(self, clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int) -> None:
        """Estimate again, unless nothing has changed or another thread is doing it already."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            checked = tuple((a.number, a.choice) for a in random_checks(constraints.answers))
            if checked != self._checked:
                self.quality = cross_check(clusterer, X, constraints, seed)
                self._checked = checked
        finally:
            self._busy.release()


def cross_check(
    clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int
) -> Quality | None:
    """Fit without the random checks, and compare the groups with the answers to them.

    In a large collection a random part is fitted, with all items that answers are about: where a
    few items belong does not depend on how many others there are. None while there are too few
    checks, for clusterers that train for long, and when answered items are gone.
    """
    checks = random_checks(constraints.answers)
    trains_long = clusterer.get_params().get("warm_start")
    if len(checks) < MIN_CHECKS or trains_long or constraints.n_gone:
        return None
    rows = _sampled_rows(constraints, checks, seed)
    checked = [answer.question.items()[0] for answer in checks]
    known = constraints_without(constraints, checked, rows)
    labels = np.zeros(len(X), dtype=np.intp)
    labels[rows] = fit_clusterer(
        clusterer, X if len(rows) == len(X) else X[rows], known, seed
    ).labels_
    return Quality.of(checks, labels)


def _sampled_rows(
    constraints: Constraints, checks: Sequence[Answer], seed: int
) -> NDArray[np.intp]:
    """All items, or a random sample with those in answers and checks; ascending."""
    n = constraints.n_items
    if n <= MAX_SAMPLED_ITEMS:
        return np.arange(n)
    drawn = np.random.default_rng((seed, n)).choice(n, MAX_SAMPLED_ITEMS, replace=False)
    shown = [item for answer in checks for item in answer.question.items()]
    return np.union1d(np.union1d(drawn, constraints.touched), np.array(shown, dtype=np.intp))


def constraints_without(
    known: Constraints, items: Collection[int], rows: NDArray[np.intp] | None = None
) -> Constraints:
    """The constraints as if these items had never been asked about.

    What they taught about other items stays: which kinds there are, and that these differ. With
    `rows` (ascending, and including all items in answers) positions are those among the rows.
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
    """Whether the groups put the item where the person put it."""
    question, choice = answer.question, answer.choice
    own = labels[question.items()[0]]
    same = {
        c: labels[shown[0]] == own for c in question.choices() if (shown := question.exemplars(c))
    }
    return bool(same[choice] if choice in same else not any(same.values()))


def interval(agreed: int, checks: int, error: float = 0.05) -> tuple[float, float]:
    """The Clopper-Pearson interval for a share.

    >>> [round(end, 3) for end in interval(9, 10)]
    [0.555, 0.997]
    """
    from scipy.stats import beta

    low = beta.ppf(error / 2, agreed, checks - agreed + 1) if agreed else 0.0
    high = beta.ppf(1 - error / 2, agreed + 1, checks - agreed) if agreed < checks else 1.0
    return float(low), float(high)


def share_moved(clustering: Clustering) -> float | None:
    """Share of items that the last refit moved to another group; None before the first refit."""
    if not clustering.lineage:
        return None
    stayed = sum(came.get(number, 0) for number, came in clustering.lineage.items())
    return 1 - stayed / max(len(clustering.labels), 1)


def quality_summary(
    found: Quality | None, clustering: Clustering, gain: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Summarise the quality as plain JSON.

    ``quality`` is None while there are too few random checks. ``moved`` is the share of items that
    the last refit moved. ``gain`` is the expected gain of 20 more answers
    (see :mod:`samekind.session.gains`). ``enough`` suggests to stop, because that gain is small.
    """
    change = share_moved(clustering)
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


def describe_quality(summary: Mapping[str, Any]) -> str:
    """The summary in words for a person; empty while nothing is known.

    >>> describe_quality({"quality": {"checks": 10, "agreed": 9, "low": 0.56, "high": 0.997},
    ...     "moved": 0.02, "gain": None, "enough": False})
    'You agreed with 9 of 10 random checks: about 56 to 99 % of the items are where you want them.'
    >>> describe_quality({"quality": None, "gain": {"answers": 20, "items": 30}, "enough": False})
    '20 more answers would probably put about 30 more items in place.'
    """
    found, gain = summary["quality"], summary["gain"]
    sentences = []
    if found is not None:
        low, high = int(100 * found["low"]), int(100 * found["high"])
        sentences.append(
            f"You agreed with {found['agreed']} of {found['checks']} random checks: "
            f"about {low} to {high} % of the items are where you want them."
        )
    if summary["enough"]:
        sentences.append("More answers will change little. You can stop here.")
    elif gain is not None:
        items = plural(gain["items"], "more item")
        sentences.append(
            f"{gain['answers']} more answers would probably put about {items} in place."
        )
    return " ".join(sentences)
