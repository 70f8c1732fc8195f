"""COP-KMeans: items take the nearest centre that breaks no answer, or the method gives up."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from samekind.clusterers.group_count import Known, Pairs, checked_constraints, resolved_count
from samekind.clusterers.kmeans.base import CentreEstimator, Solution, lloyd
from samekind.clusterers.kmeans.centres import Blocks, scaled_tolerance, seed_centres
from samekind.errors import Infeasible, InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class COPKMeans(CentreEstimator):
    """COP-KMeans of Wagstaff et al. (2001), with "same" answers expanded to blocks first.

    Block by block, in one order per sweep, each takes the nearest centre that holds no block known
    to be different. Where none is left the sweep is tried again in another order; after `max_tries`
    failures :class:`~samekind.errors.Infeasible` is raised. It may be raised although a grouping
    exists: the method never takes back a choice within a sweep.

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
        super().__init__(
            n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state
        )
        self.start = start
        self.max_tries = max_tries

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = self._checked(X)
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        blocks = Blocks.from_constraints(X, constraints)
        rng = self._generator()
        start = None if self.start is None else _checked_start(self.start, X, self.n_clusters)
        k = resolved_count(self.n_clusters, X, blocks, rng) if start is None else len(start)
        tolerance = scaled_tolerance(X, self.tol)
        solutions: list[Solution] = []
        failure: Infeasible | None = None
        for _ in range(self.n_init if start is None else 1):
            centres = start
            if centres is None:
                centres = seed_centres(X, blocks, k, rng, np.empty(0, dtype=np.intp))
            try:
                solutions.append(
                    cop_kmeans(X, blocks, centres, rng, self.max_tries, self.max_iter, tolerance)
                )
            except Infeasible as error:
                failure = error
        if not solutions:
            assert failure is not None
            raise failure
        self.n_violations_ = self._keep_best(solutions).violations
        return self


def cop_kmeans(
    X: Floats,
    blocks: Blocks,
    centres: Floats,
    rng: np.random.Generator,
    max_tries: int,
    max_iter: int,
    tolerance: float,
) -> Solution:
    """Run it once from given centres; the first order is that of the items."""
    if blocks.contradictions:
        raise Infeasible(
            f"{blocks.contradictions} links say 'different' about items that others say are the "
            "same, so no grouping fits. Take one of the answers back, or use 'pckmeans', which "
            "weighs them."
        )
    assign = _InOrder(blocks.apart, rng, max_tries)
    return lloyd(X, blocks, centres, assign, max_iter, tolerance, assign_last=False)


class _InOrder:
    """Assigns blocks one after the other, in an order that changes after each failure."""

    def __init__(self, apart: csr_array, rng: np.random.Generator, max_tries: int) -> None:
        self.apart, self.rng, self.tries_left = apart, rng, max_tries
        self.order = np.arange(apart.shape[0])

    def __call__(self, cost: Floats, before: Ints | None) -> Ints:
        while (assigned := self._try(cost)) is None:
            self.tries_left -= 1
            if self.tries_left <= 0:
                raise Infeasible(
                    f"COP-KMeans found no group for some item, in any order that it tried: "
                    f"{cost.shape[1]} groups are too few for the answers, or its greedy search "
                    "failed. Raise n_clusters, or use 'kmeans' or 'pckmeans', which always give a "
                    "result."
                )
            self.order = self.rng.permutation(len(self.order))
        return assigned

    def _try(self, cost: Floats) -> Ints | None:
        """Nearest allowed centre, block by block; None when some block finds none."""
        apart = self.apart
        assigned = np.asarray(cost.argmin(axis=1), dtype=np.intp)
        degree = np.diff(apart.indptr)
        done = degree == 0
        for b in self.order[degree[self.order] > 0].tolist():
            others = apart.indices[apart.indptr[b] : apart.indptr[b + 1]]
            allowed = cost[b].copy()
            allowed[assigned[others[done[others]]]] = np.inf
            assigned[b] = allowed.argmin()
            if not np.isfinite(allowed[assigned[b]]):
                return None
            done[b] = True
        return assigned


def _checked_start(start: Any, X: Floats, n_clusters: int | None) -> Floats:
    centres = np.asarray(start, dtype=np.float64)
    k = len(centres) if n_clusters is None and centres.ndim else n_clusters
    if centres.shape != (k, X.shape[1]) or not 1 <= len(centres) <= len(X):
        raise InputError(
            f"Expected start to hold one centre per group, of shape {(k, X.shape[1])}, and at most "
            f"{len(X)} of them, got shape {centres.shape}."
        )
    return centres
