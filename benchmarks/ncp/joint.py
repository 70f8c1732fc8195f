"""A joint test of a posterior sampler, after Geweke (2004), and whether its probabilities hold.

Draw a grouping and points from the law. Then, some times: draw a grouping from the posterior of
the points, and new points for that grouping. If the posterior is right, all these pairs of a
grouping and points have the same distribution, whatever one looks at. A small bias of the sampler
adds up from round to round. Data sets are independent, so each difference of means has a z-score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.ncp.laws import Floats, Labels, Law

Row = dict[str, Any]
Draw = Callable[[Floats, int], Labels]
"""One grouping of the points (n, d) from the posterior; the number is a seed."""
EDGES = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)
"""Ends of the intervals in which probabilities are compared with what is true."""


def _sizes(labels: Labels) -> Floats:
    return np.unique(labels, return_counts=True)[1] / len(labels)


def within(x: Floats, labels: Labels) -> float:
    """Share of the variance that lies within groups: no shift, scale or rotation changes it."""
    total = np.square(x - x.mean(0)).sum()
    inside = sum(np.square(x[labels == k] - x[labels == k].mean(0)).sum() for k in set(labels))
    return float(inside / total) if total > 0 else 1.0


def nearest_apart(x: Floats, labels: Labels) -> float:
    """Share of the points whose nearest neighbour is in another group."""
    gaps = np.square(x[:, None] - x[None]).sum(2) + np.diag(np.full(len(x), np.inf))
    return float(np.mean(labels[gaps.argmin(1)] != labels))


STATISTICS: dict[str, Callable[[Floats, Labels], float]] = {
    "groups": lambda x, labels: float(len(_sizes(labels))),
    "largest group": lambda x, labels: float(_sizes(labels).max()),
    "single points": lambda x, labels: float((_sizes(labels) * len(labels) == 1).sum()),
    "pairs together": lambda x, labels: float(np.square(_sizes(labels)).sum()),
    "variance within groups": within,
    "nearest neighbour apart": nearest_apart,
}


def joint_test(
    law: Law, draw: Draw, n: int, sets: int, rounds: int, rng: np.random.Generator
) -> list[Row]:
    """Each statistic: its mean under the law, its mean after some rounds, and the z-score.

    ``first`` is the z-score of new groupings of the same points, before any new points are drawn.
    """
    x, labels = law.draw(sets, n, rng)
    start = _values(x, labels)
    first: Floats | None = None
    for _ in range(rounds):
        labels = np.stack([draw(points, int(rng.integers(2**31))) for points in x])
        if first is None:
            first = _values(x, labels)
        x = law.redraw(labels, rng)
    end = _values(x, labels)
    assert first is not None, "there is at least one round"
    return [
        {"statistic": name, "law": float(start[k].mean()), "sampler": float(end[k].mean()),
         "first": z_score(first[k] - start[k]), "z": z_score(end[k] - start[k])}
        for k, name in enumerate(STATISTICS)
    ]  # fmt: skip


def z_score(differences: Floats) -> float:
    """The mean in standard errors; 0 where nothing differs."""
    spread = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() / spread) if spread > 0 else 0.0


def _values(x: Floats, labels: Labels) -> Floats:
    """(statistics, sets)"""
    pairs = list(zip(x, labels, strict=True))
    return np.array([[f(points, named) for points, named in pairs] for f in STATISTICS.values()])


def reliability(said: Sequence[Floats], true: Sequence[Floats]) -> list[Row]:
    """Probabilities against what is true, by interval of the probability.

    One array for each data set: what it says is dependent, so z-scores are over data sets.
    """
    p, y = np.concatenate(said), np.concatenate(true)
    rows = []
    for low, high in pairwise(EDGES):
        mine = _inside(p, low, high)
        if mine.any():
            surplus = [float((a - b)[_inside(a, low, high)].sum())
                       for a, b in zip(said, true, strict=True)]  # fmt: skip
            rows.append({
                "from": low, "to": high, "count": int(mine.sum()), "said": float(p[mine].mean()),
                "true": float(y[mine].mean()), "z": z_score(np.array(surplus)),
            })  # fmt: skip
    return rows


def _inside(p: Floats, low: float, high: float) -> Any:
    return (p >= low) & ((p < high) | (high == 1.0))


def expected_error(rows: Sequence[Row]) -> float:
    """The mean difference between what is said and what is true, over all that is said."""
    count = np.array([row["count"] for row in rows])
    gaps = np.array([abs(row["said"] - row["true"]) for row in rows])
    return float((count * gaps).sum() / count.sum())


def groups_calibration(laws: Sequence[Floats], true: Sequence[int]) -> Row:
    """Distributions of the number of groups (from 0 on) against the true numbers.

    ``covered`` is how often the smallest set of numbers with a probability of at least .9 holds
    the true one; ``size`` is the mean size of that set.
    """
    mean = np.array([law @ np.arange(len(law)) for law in laws])
    K, sets = np.array(true), [_smallest(law, 0.9) for law in laws]
    return {
        "said": float(mean.mean()), "true": float(K.mean()), "z": z_score(mean - K),
        "covered": float(np.mean([k in some for k, some in zip(true, sets, strict=True)])),
        "size": float(np.mean([len(some) for some in sets])),
        "p_true": float(np.mean([law[k] if k < len(law) else 0.0
                                 for law, k in zip(laws, true, strict=True)])),
    }  # fmt: skip


def _smallest(law: Floats, share: float) -> set[int]:
    order = np.argsort(law)[::-1]
    count = int(np.searchsorted(np.cumsum(law[order]), share - 1e-9)) + 1
    return set(order[:count].tolist())
