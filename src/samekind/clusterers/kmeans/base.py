"""Base of the estimators that end with one centre per group, and the sweeps that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.kmeans.centres import Blocks, FreeItems, assign_free, nearest, sums_by
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]

Assign = Callable[[Floats, Ints | None], Ints]
"""From costs (t, k) and the assignment of the last sweep to a centre for each block (t,)."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of one run of Lloyd's sweeps."""

    labels: Ints
    centres: Floats
    inertia: float
    violations: int
    n_iter: int


class CentreEstimator(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Estimator whose groups have centres; other items go to the nearest one."""

    cluster_centers_: Floats
    labels_: Ints

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

    def predict(self, X: Any) -> Ints:
        """Group of each row: that of the nearest centre."""
        return nearest(self._checked_again(X), self.cluster_centers_)[0]

    def transform(self, X: Any) -> Floats:
        """(n, groups) the distance of each row to each centre."""
        from sklearn.metrics import pairwise_distances

        return np.asarray(pairwise_distances(self._checked_again(X), self._centres()))

    def _centres(self) -> Floats:
        """To which :meth:`transform` measures distances."""
        return self.cluster_centers_

    @property
    def _n_features_out(self) -> int:
        return len(self._centres())

    def _checked(self, X: Any) -> Floats:
        """The vectors to fit, float32 and float64 as they are given."""
        for name in ("n_init", "max_iter", "max_tries"):
            value = getattr(self, name, 1)
            if value < 1:
                raise InputError(f"Expected {name} to be at least 1, got {value!r}.")
        return np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], order="C"))

    def _checked_again(self, X: Any) -> Floats:
        """The vectors to predict."""
        check_is_fitted(self)
        return np.asarray(
            validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        )

    def _generator(self) -> np.random.Generator:
        state = self.random_state
        if isinstance(state, np.random.RandomState):
            return np.random.default_rng(state.randint(np.iinfo(np.int32).max))
        return np.random.default_rng(state)

    def _keep(self, labels: Ints, centres: Floats) -> None:
        """Set labels and centres, numbered so that every group has an item."""
        used = np.unique(labels)
        self.labels_ = np.searchsorted(used, labels).astype(np.intp)
        self.cluster_centers_ = centres[used]

    def _keep_best(self, solutions: Iterable[Solution]) -> Solution:
        """Set what one run found: the fewest violations, then the lowest inertia."""
        best = min(solutions, key=lambda found: (found.violations, found.inertia))
        self._keep(best.labels, best.centres)
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter
        return best


def lloyd(
    X: Floats,
    blocks: Blocks,
    centres: Floats,
    assign: Assign,
    max_iter: int,
    tolerance: float,
    *,
    assign_last: bool = True,
) -> Solution:
    """Sweep until the centres rest; the labels returned belong to the centres returned.

    Parameters
    ----------
    assign : chooses a centre for each block.
    assign_last : choose once more for the centres returned.
    """
    free = blocks.of < 0
    assigned: Ints | None = None
    n_iter = 0
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        step = assign_free(X, centres, free)
        assigned = assign(blocks.cost(centres), assigned)
        moved = updated_centres(X, blocks, step, assigned, centres)
        shift = float(((moved - centres) ** 2).sum())
        centres = moved
        if shift <= tolerance:
            break
    centres = centres.astype(X.dtype)
    labels, distance = nearest(X, centres)
    cost = blocks.cost(centres)
    if assign_last or assigned is None:
        assigned = assign(cost, assigned)
    members = blocks.members
    labels[members] = assigned[blocks.of[members]]
    inertia = float(distance[free].sum(dtype=np.float64))
    inertia += float(cost[np.arange(len(cost)), assigned].sum())
    return Solution(labels, centres, inertia, blocks.violations(assigned), n_iter)


def updated_centres(
    X: Floats, blocks: Blocks, step: FreeItems, assigned: Ints, centres: Floats
) -> Floats:
    """Means of what each centre holds; an empty one takes over what lies farthest from its own.

    `assigned` is changed where a block is taken over. Taking over can only lower the inertia, and a
    centre that stands alone breaks no link.
    """
    sums, counts = step.sums, step.counts
    sums += sums_by(assigned, blocks.mean, len(centres), blocks.size)
    counts += np.bincount(assigned, weights=blocks.size, minlength=len(centres))
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        _refill(X, blocks, step, assigned, centres, empty)
    filled = counts > 0
    moved = centres.astype(np.float64)
    moved[filled] = sums[filled] / counts[filled, None]
    return moved


def _refill(
    X: Floats, blocks: Blocks, step: FreeItems, assigned: Ints, centres: Floats, empty: Ints
) -> None:
    sums, counts = step.sums, step.counts
    far = np.where(blocks.of < 0, step.distance, 0.0)
    cost = blocks.cost(centres) - blocks.spread[:, None]
    loss = cost[np.arange(len(cost)), assigned]
    for k in empty.tolist():
        item = int(far.argmax())
        block = int(loss.argmax()) if len(loss) else -1
        if far[item] > 0 and counts[step.labels[item]] > 1:
            sums[step.labels[item]] -= X[item]
            counts[step.labels[item]] -= 1
            sums[k], counts[k], step.labels[item], far[item] = X[item], 1, k, 0
        elif block >= 0 and loss[block] > 0 and counts[assigned[block]] > blocks.size[block]:
            total = blocks.size[block] * blocks.mean[block]
            sums[assigned[block]] -= total
            counts[assigned[block]] -= blocks.size[block]
            sums[k], counts[k], assigned[block], loss[block] = total, blocks.size[block], k, 0
