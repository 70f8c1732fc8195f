"""k-means that honours answers: "same" always, "different" whenever the groups allow it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from samekind.clusterers.group_count import checked_constraints, resolved_count
from samekind.clusterers.kmeans.centres import (
    Blocks,
    Sweep,
    nearest,
    scaled_tolerance,
    seed_centres,
    sums_by,
    sweep,
)
from samekind.clusterers.kmeans.nearest_centre import NearestCentre
from samekind.clusterers.kmeans.placing import Placer
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class KMeans(NearestCentre):
    """k-means that honours answers.

    Items known to be the same kind form a block that moves as one. Blocks known to be different
    get different centres: exactly where they are all mutually different, otherwise by regret with
    an exact repair, so that a "different" is broken only where no placement without it was found.
    Items without answers take the nearest centre. Restarts begin from the blocks that were proven
    to be different; the other centres come from k-means++.

    When the answers cannot all be honoured with `n_clusters` groups, nothing is raised: the result
    breaks as few links as the search could, ``n_violations_`` counts them, and a
    ``ConvergenceWarning`` says so.

    Parameters
    ----------
    n_clusters : how many groups; None chooses, but never fewer than were proven to be different.
    n_init : restarts, of which the best is kept; more are slower and seldom much better.
    max_iter : most sweeps per restart.
    tol : stop when the centres move less than this share of the mean variance.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_, cluster_centers_, inertia_, n_iter_ : as in scikit-learn. Groups that no item is left
        for are dropped, so there may be fewer than `n_clusters`.
    n_violations_ : links that say "different" and are not honoured.

    >>> X = np.array([[0.0], [1.0], [4.0], [5.0], [9.0]])
    >>> links = Constraints.from_links(5, [(0, 3, True), (1, 2, False)])
    >>> KMeans(n_clusters=2, random_state=0).fit(X, constraints=links).n_violations_
    0
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = self._checked(X)
        blocks = Blocks.from_constraints(X, checked_constraints(constraints, len(X)))
        rng = self._generator()
        k = resolved_count(self.n_clusters, X, blocks, rng)
        placer, tolerance = Placer(blocks.apart, k), scaled_tolerance(X, self.tol)
        best: Fit | None = None
        for _ in range(self.n_init):
            start = seed_centres(X, blocks, k, rng, blocks.distinct(rng))
            found = lloyd(X, blocks, placer, start, self.max_iter, tolerance)
            if best is None or (found.violations, found.inertia) < (best.violations, best.inertia):
                best = found
        assert best is not None
        self.n_violations_ = best.violations
        self._keep(best.labels, best.centres)
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter
        if best.violations:
            warnings.warn(
                f"{best.violations} links that say 'different' are not honoured by {k} groups; the "
                f"answers prove at least {len(blocks.distinct())}. Raise n_clusters, or look at "
                "the answers again.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self


@dataclass(frozen=True, eq=False)
class Fit:
    """What one run of Lloyd's sweeps ended with."""

    labels: Ints
    centres: Floats
    inertia: float
    violations: int
    n_iter: int


def lloyd(
    X: Floats, blocks: Blocks, placer: Placer, centres: Floats, max_iter: int, tolerance: float
) -> Fit:
    """Sweep until the centres rest; the labels returned belong to the centres returned."""
    free = blocks.of < 0
    placed: Ints | None = None
    n_iter = 0
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        step = sweep(X, centres, free)
        placed = placer.place(blocks.cost(centres), placed)
        moved = updated_centres(X, blocks, step, placed, centres)
        shift = float(((moved - centres) ** 2).sum())
        centres = moved
        if shift <= tolerance:
            break
    centres = centres.astype(X.dtype)
    labels, distance = nearest(X, centres)
    cost = blocks.cost(centres)
    placed = placer.place(cost, placed)
    members = blocks.members
    labels[members] = placed[blocks.of[members]]
    inertia = float(distance[free].sum(dtype=np.float64))
    inertia += float(cost[np.arange(len(cost)), placed].sum())
    return Fit(labels, centres, inertia, blocks.violations(placed), n_iter)


def updated_centres(
    X: Floats, blocks: Blocks, step: Sweep, placed: Ints, centres: Floats
) -> Floats:
    """Means of what each centre holds; an empty one takes over what lies farthest from its own.

    `placed` is changed where a block is taken over. Taking over can only lower the inertia, and a
    centre that stands alone breaks no link.
    """
    sums, counts = step.sums, step.counts
    sums += sums_by(placed, blocks.mean, len(centres), blocks.size)
    counts += np.bincount(placed, weights=blocks.size, minlength=len(centres))
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        _refill(X, blocks, step, placed, centres, empty)
    filled = counts > 0
    moved = centres.astype(np.float64)
    moved[filled] = sums[filled] / counts[filled, None]
    return moved


def _refill(
    X: Floats, blocks: Blocks, step: Sweep, placed: Ints, centres: Floats, empty: Ints
) -> None:
    sums, counts = step.sums, step.counts
    far = np.where(blocks.of < 0, step.distance, 0.0)
    cost = blocks.cost(centres) - blocks.spread[:, None]
    loss = cost[np.arange(len(cost)), placed]
    for k in empty.tolist():
        item = int(far.argmax())
        block = int(loss.argmax()) if len(loss) else -1
        if far[item] > 0 and counts[step.labels[item]] > 1:
            sums[step.labels[item]] -= X[item]
            counts[step.labels[item]] -= 1
            sums[k], counts[k], step.labels[item], far[item] = X[item], 1, k, 0
        elif block >= 0 and loss[block] > 0 and counts[placed[block]] > blocks.size[block]:
            total = blocks.size[block] * blocks.mean[block]
            sums[placed[block]] -= total
            counts[placed[block]] -= blocks.size[block]
            sums[k], counts[k], placed[block], loss[block] = total, blocks.size[block], k, 0
