"""PCK-means: every broken answer has a price, so contradictory answers are weighed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from samekind.clusterers.group_count import Known, Pairs, checked_constraints, resolved_count
from samekind.clusterers.kmeans.base import CentreEstimator, updated_centres
from samekind.clusterers.kmeans.centres import (
    Blocks,
    assign_free,
    chunks,
    nearest,
    scaled_tolerance,
    seed_centres,
    squared_distances,
    sums_by,
)
from samekind.constraints import Links, as_links
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class PCKMeans(CentreEstimator):
    """Penalised k-means of Basu, Banerjee and Mooney (2004).

    Minimises the squared distances to the centres plus `w` for each link that is not honoured.
    All links that were ever asked count, those of contradictory answers included, each on its own:
    nothing is implied. Items with links choose in random order, each the cheapest group given all
    the others (iterated conditional modes); no sweep raises the objective. The first centres are
    those neighbourhoods (items known to be the same) that are known to differ from each other; the
    rest is drawn by k-means++ over neighbourhoods and items. (The paper takes the largest
    neighbourhoods; with few answers several of those are of one kind.)

    Parameters
    ----------
    n_clusters : how many groups; None chooses, but never fewer than were proven to be different.
    w : price of a broken link. None takes the mean squared distance of the items from their common
        mean, so that a link weighs about as much as putting one item into a wrong group. Zero is
        plain k-means; a very large `w` honours the answers wherever single moves can.
    n_init : restarts, of which the one with the lowest objective is kept.
    max_iter, tol, random_state : as in :class:`~samekind.clusterers.kmeans.constrained.KMeans`.

    Attributes
    ----------
    objective_ : squared distances and prices at the end.
    objectives_ : the same after each sweep of the restart that was kept; never rises.
    n_violations_ : asked links that are not honoured.

    References
    ----------
    Basu, Banerjee, Mooney: Active semi-supervision for pairwise constrained clustering. SDM 2004.
    """

    strategy: ClassVar[str] = "minmax"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        w: float | None = None,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state
        )
        self.w = w

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
        if self.w is not None and not self.w >= 0:
            raise InputError(f"Expected the price w to be at least 0, got {self.w!r}.")
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        blocks = Blocks.from_constraints(X, constraints)
        links = as_links([]) if constraints is None else constraints.asked_links()
        w = scaled_tolerance(X, 1.0) * X.shape[1] if self.w is None else float(self.w)
        rng = self._generator()
        k = resolved_count(self.n_clusters, X, blocks, rng)
        penalties = LinkPenalties(X, links, w)
        fits = [
            penalties.fit(blocks, k, rng, self.max_iter, scaled_tolerance(X, self.tol))
            for _ in range(self.n_init)
        ]
        best = min(fits, key=lambda found: found.objectives[-1])
        self.inertia_ = best.objectives[-1] - w * penalties.broken(best.labels)
        self.objectives_ = np.array(best.objectives)
        self.objective_, self.n_iter_ = best.objectives[-1], best.n_iter
        together = best.labels[links.a] == best.labels[links.b]
        self.n_violations_ = int((together != links.same).sum())
        self._keep(best.labels, best.centres)
        return self


@dataclass(frozen=True, eq=False)
class PenalisedSolution:
    """Result of one restart."""

    labels: Ints
    centres: Floats
    objectives: list[float]
    n_iter: int


class LinkPenalties:
    """The vectors, and the price of each broken link between them."""

    def __init__(self, X: Floats, links: Links, w: float) -> None:
        self.X, self.w, self.links = X, w, links
        self.linked = np.unique(np.concatenate([links.a, links.b]))
        self.free = np.ones(len(X), dtype=bool)
        self.free[self.linked] = False
        # Empty centres may take over free items only: moving another could break its links.
        self.fixed = Blocks(
            np.where(self.free, -1, 0).astype(np.intp),
            np.empty(0),
            np.empty((0, X.shape[1])),
            np.empty(0),
            csr_array((0, 0)),
        )
        # A "same" link rewards being together; up to a constant that is a price for being apart.
        price = w * np.where(links.same, -links.weight, links.weight)
        at = (np.searchsorted(self.linked, links.a), np.searchsorted(self.linked, links.b))
        half = csr_array((price, at), shape=(len(self.linked), len(self.linked)))
        self.price = csr_array(half + half.T)

    def broken(self, labels: Ints) -> float:
        """Weight of the links that are not honoured."""
        together = labels[self.links.a] == labels[self.links.b]
        return float(self.links.weight[together != self.links.same].sum())

    def fit(
        self, blocks: Blocks, k: int, rng: np.random.Generator, max_iter: int, tolerance: float
    ) -> PenalisedSolution:
        """Sweep until the centres rest; the labels returned belong to the centres returned."""
        X = self.X
        centres = seed_centres(X, blocks, k, rng, blocks.distinct(rng))
        labels = nearest(X, centres)[0]
        members = blocks.members
        labels[members] = blocks.cost(centres).argmin(axis=1)[blocks.of[members]]
        objectives: list[float] = []
        n_iter = 0
        for n_iter in range(1, max_iter + 1):  # noqa: B007
            step = assign_free(X, centres, self.free)
            self.choose(labels, centres, rng)
            chosen, sums, counts = labels[self.linked], step.sums, step.counts
            sums += sums_by(chosen, X[self.linked].astype(np.float64), k)
            counts += np.bincount(chosen, minlength=k)
            moved = updated_centres(X, self.fixed, step, np.empty(0, np.intp), centres)
            labels[self.free] = step.labels[self.free]
            shift = float(((moved - centres) ** 2).sum())
            centres = moved
            objectives.append(self._objective(labels, centres))
            if shift <= tolerance:
                break
        centres = centres.astype(X.dtype)
        labels[self.free] = nearest(X, centres)[0][self.free]
        self.choose(labels, centres, rng)
        objectives.append(self._objective(labels, centres))
        return PenalisedSolution(labels, centres, objectives, n_iter)

    def choose(self, labels: Ints, centres: Floats, rng: np.random.Generator) -> None:
        """Move items with links, in random order, each to its cheapest group given the others."""
        chosen = labels[self.linked]
        every = np.arange(len(chosen) + 1)
        at = csr_array((np.ones(len(chosen)), chosen, every), shape=(len(chosen), len(centres)))
        total = squared_distances(self.X[self.linked].astype(np.float64), centres)
        total += (self.price @ at).toarray()
        indptr, indices, data = self.price.indptr, self.price.indices, self.price.data
        for i in rng.permutation(len(chosen)).tolist():
            best, here = int(total[i].argmin()), int(chosen[i])
            if total[i, best] < total[i, here]:
                others, price = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
                total[others, here] -= price
                total[others, best] += price
                chosen[i] = best
        labels[self.linked] = chosen

    def _objective(self, labels: Ints, centres: Floats) -> float:
        squares = (
            ((self.X[rows] - centres[labels[rows]]) ** 2).sum(dtype=np.float64)
            for rows in chunks(self.X)
        )
        return float(sum(squares)) + self.w * self.broken(labels)
