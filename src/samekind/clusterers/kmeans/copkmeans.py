"""COP-KMeans: items take the nearest centre that breaks no answer, or the method gives up."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from samekind.clusterers.group_count import checked_constraints, resolved_count
from samekind.clusterers.kmeans.centres import (
    Blocks,
    nearest,
    scaled_tolerance,
    seed_centres,
    sweep,
)
from samekind.clusterers.kmeans.constrained import Fit, updated_centres
from samekind.clusterers.kmeans.nearest_centre import NearestCentre
from samekind.constraints import Constraints
from samekind.errors import Infeasible, InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class COPKMeans(NearestCentre):
    """COP-KMeans of Wagstaff et al. (2001), with "same" answers expanded to blocks first.

    Block by block, in one order per sweep, the nearest centre is taken at which no block stands
    that is known to be different. Where none is left the sweep is tried again in another order;
    after `max_tries` failures :class:`~samekind.errors.Infeasible` is raised. It may be raised
    although a grouping exists: the method never takes back a placement within a sweep.

    Parameters
    ----------
    n_clusters : how many groups; None chooses, but never fewer than were proven to be different.
    start : (k, d) first centres; None draws them by k-means++.
    n_init : restarts, of which the best is kept; one when `start` is given.
    max_tries : failed sweeps, per restart, before giving up.
    max_iter, tol, random_state : as in :class:`~samekind.clusterers.kmeans.constrained.KMeans`.

    References
    ----------
    Wagstaff, Cardie, Rogers, Schroedl: Constrained K-means clustering with background knowledge.
    ICML 2001.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        start: Any = None,
        n_init: int = 4,
        max_tries: int = 20,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.start = start
        self.n_init = n_init
        self.max_tries = max_tries
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = self._checked(X)
        blocks = Blocks.from_constraints(X, checked_constraints(constraints, len(X)))
        rng = self._generator()
        start = None if self.start is None else _checked_start(self.start, X, self.n_clusters)
        k = resolved_count(self.n_clusters, X, blocks, rng) if start is None else len(start)
        tolerance = scaled_tolerance(X, self.tol)
        fits: list[Fit] = []
        failure: Infeasible | None = None
        for _ in range(self.n_init if start is None else 1):
            if start is None:
                centres = seed_centres(X, blocks, k, rng, np.empty(0, dtype=np.intp))
            else:
                centres = start
            try:
                fits.append(
                    cop_kmeans(X, blocks, centres, rng, self.max_tries, self.max_iter, tolerance)
                )
            except Infeasible as error:
                failure = error
        if not fits:
            assert failure is not None
            raise failure
        best = min(fits, key=lambda found: found.inertia)
        self._keep(best.labels, best.centres)
        self.inertia_, self.n_iter_, self.n_violations_ = best.inertia, best.n_iter, 0
        return self


def cop_kmeans(
    X: Floats,
    blocks: Blocks,
    centres: Floats,
    rng: np.random.Generator,
    max_tries: int,
    max_iter: int,
    tolerance: float,
) -> Fit:
    """One run from given centres; the first order is that of the items."""
    if blocks.torn:
        raise Infeasible(
            f"{blocks.torn} links say 'different' about items that others say are the same, so no "
            "grouping fits. Take one of the answers back, or use 'pckmeans', which weighs them."
        )
    free, n_iter, tries = blocks.of < 0, 0, max_tries
    order = np.arange(len(blocks.size))
    placed = order
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        step = sweep(X, centres, free)
        placed, order, tries = _placed(blocks.cost(centres), blocks.apart, order, tries, rng)
        moved = updated_centres(X, blocks, step, placed, centres)
        shift = float(((moved - centres) ** 2).sum())
        centres = moved
        if shift <= tolerance:
            break
    centres = centres.astype(X.dtype)
    labels, distance = nearest(X, centres)
    members, cost = blocks.members, blocks.cost(centres)
    labels[members] = placed[blocks.of[members]]
    inertia = float(distance[free].sum(dtype=np.float64))
    inertia += float(cost[np.arange(len(cost)), placed].sum())
    return Fit(labels, centres, inertia, 0, n_iter)


def _placed(
    cost: Floats, apart: csr_array, order: Ints, tries: int, rng: np.random.Generator
) -> tuple[Ints, Ints, int]:
    """A placement, the order that led to it, and how many failures are left."""
    while (placed := _placed_in_order(cost, apart, order)) is None:
        tries -= 1
        if tries <= 0:
            raise Infeasible(
                f"COP-KMeans found no place for some item, in any order that it tried: "
                f"{cost.shape[1]} groups are too few for the answers, or the method is too hasty. "
                "Raise n_clusters, or use 'kmeans' or 'pckmeans', which always give a result."
            )
        order = rng.permutation(len(order))
    return placed, order, tries


def _placed_in_order(cost: Floats, apart: csr_array, order: Ints) -> Ints | None:
    """Nearest centre without a foe, block by block; None when some block finds none."""
    placed = np.asarray(cost.argmin(axis=1), dtype=np.intp)
    degree = np.diff(apart.indptr)
    done = degree == 0
    for b in order[degree[order] > 0].tolist():
        foes = apart.indices[apart.indptr[b] : apart.indptr[b + 1]]
        allowed = cost[b].copy()
        allowed[placed[foes[done[foes]]]] = np.inf
        placed[b] = allowed.argmin()
        if not np.isfinite(allowed[placed[b]]):
            return None
        done[b] = True
    return placed


def _checked_start(start: Any, X: Floats, n_clusters: int | None) -> Floats:
    centres = np.asarray(start, dtype=np.float64)
    k = len(centres) if n_clusters is None and centres.ndim else n_clusters
    if centres.shape != (k, X.shape[1]) or not 1 <= len(centres) <= len(X):
        raise InputError(
            f"start must hold one centre per group, {(k, X.shape[1])}, and at most {len(X)} of "
            f"them; shape {centres.shape} came."
        )
    return centres
