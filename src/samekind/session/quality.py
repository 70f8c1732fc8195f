"""Quality: estimate from the answers alone how well the groups fit what the person means.

Some questions are random checks, about items drawn at random. Groups that were learnt without them
are compared with their answers: the share that agrees is an honest estimate of how many items are
where the person would put them. Questions that a strategy chooses are biased towards unclear items,
and answers that the groups were learnt from prove nothing.

The expected gain of more answers is estimated from how many items the latest ones moved. Measured
in simulations: 20 more answers put about a quarter as many items in place as the refits of the
latest ten answers moved, plus a small constant share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Self

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
N_MORE_ANSWERS = 20
"""Number of further answers for which the gain is estimated."""
N_LATEST_ANSWERS = 10
"""Latest answers whose refits are considered."""
MIN_ANSWERS = 20
"""With fewer answers the groups are still being found, and no gain can be estimated."""
GAIN_PER_MOVE, CONSTANT_GAIN = 0.25, 0.001
"""Gain per item that the latest answers moved, and the constant share of all items."""
SMALL_GAIN = 0.003
"""Share of the items below which the gain is too small to continue."""


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
    stayed = sum(sources.get(number, 0) for number, sources in clustering.lineage.items())
    return 1 - stayed / max(len(clustering.labels), 1)


def quality_summary(
    found: Quality | None, clustering: Clustering, gain: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Summarise the quality as plain JSON.

    ``quality`` is None while there are too few random checks. ``moved`` is the share of items that
    the last refit moved. ``gain`` is the expected gain of 20 more answers
    (see :func:`expected_gain`). ``enough`` suggests to stop, because that gain is small.
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


@dataclass(frozen=True)
class Moves:
    """New answers and moved items of each refit that followed another one."""

    answers: int = 0
    steps: tuple[tuple[int, float], ...] = ()

    def then(self, answers: int, clustering: Clustering) -> Self:
        """Add a refit on this many answers in total."""
        share = share_moved(clustering)
        new = answers - self.answers
        if share is None or new <= 0:  # a fresh start, or answers were undone
            return type(self)(answers, self.steps if share is not None else ())
        steps = (*self.steps, (new, share * len(clustering.labels)))
        return type(self)(answers, steps[-N_LATEST_ANSWERS:])

    def per_answer(self) -> float | None:
        """Items moved per answer by the refits of the latest answers; None: too few answers."""
        answers, items = 0, 0.0
        for new, count in reversed(self.steps):
            if answers < N_LATEST_ANSWERS:
                answers, items = answers + new, items + count
        enough = answers >= N_LATEST_ANSWERS and self.answers >= MIN_ANSWERS
        return items / answers if enough else None


def expected_gain(moves: Moves, found: Quality | None, n_items: int) -> dict[str, Any] | None:
    """Estimate how many items 20 more answers would put in place, as plain JSON; None: unknown.

    Bounded by the items out of place at the lower end of the quality's interval: a few checks that
    all agree do not prove that nothing is left to gain.
    """
    rate = moves.per_answer()
    if rate is None:
        return None
    items = GAIN_PER_MOVE * N_LATEST_ANSWERS * rate + CONSTANT_GAIN * n_items
    if found is not None:
        items = min(items, (1 - found.low) * n_items + 1)
    return {
        "answers": N_MORE_ANSWERS,
        "items": _rounded(items),
        "share": round(items / n_items, 4),
        "little": items < SMALL_GAIN * n_items,
    }


def _rounded(items: float) -> int:
    """Round to one significant digit, which is all that is known."""
    whole = max(1, round(items))
    step = 10 ** (len(str(whole)) - 1)
    return int(round(whole / step) * step)
