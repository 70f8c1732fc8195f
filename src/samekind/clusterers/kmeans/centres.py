"""Blocks of items that move as one, and operations on centres that every k-means here uses.

Distances are computed chunk by chunk, so memory stays near that of the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from samekind.constraints import Constraints, Links

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CHUNK_NUMBERS = 1 << 18
"""Numbers per chunk of vectors: large enough for fast products, small beside the vectors."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Items with answers, gathered into blocks so that "same" holds by construction.

    Parameters
    ----------
    of : (n,) block of each item; -1 for a free item, about which there is no answer.
    size, mean, spread : (t,), (t, d), (t,) items, mean, and squared distances to the mean.
    apart : (t, t) symmetric; how many links say that two blocks are different.
    """

    of: Ints
    size: Floats
    mean: Floats
    spread: Floats
    apart: csr_array

    @classmethod
    def from_constraints(cls, X: Floats, constraints: Constraints | None) -> Self:
        """Blocks of the answers in force, with everything implied by them."""
        if constraints is None:
            return cls._gathered(X, np.arange(len(X)), np.empty((0, 2), np.intp), np.empty(0))
        pairs, components = constraints.component_links(), constraints.components
        # Knowledge through items that are gone is no link, but it counts as one.
        told = constraints.links()
        told_pairs = np.stack([components[told.a], components[told.b]], axis=1)[~told.same]
        known = dict.fromkeys(map(tuple, pairs.tolist()), 1.0)
        counts: dict[tuple[int, int], float] = {}
        for a, b in np.sort(told_pairs, axis=1).tolist():
            counts[a, b] = counts.get((a, b), 0.0) + 1.0
        weights = np.array(list((known | counts).values()))
        table = np.array(list(known | counts), dtype=np.intp).reshape(-1, 2)
        return cls._gathered(X, components, table, weights)

    @classmethod
    def from_links(cls, X: Floats, links: Links) -> Self:
        """Blocks of bare links, which may contradict each other (see :attr:`contradictions`)."""
        n = len(X)
        together = csr_array(
            (np.ones(int(links.same.sum())), (links.a[links.same], links.b[links.same])), (n, n)
        )
        components = connected_components(together, directed=False)[1].astype(np.intp)
        pairs = np.stack([components[links.a], components[links.b]], axis=1)[~links.same]
        return cls._gathered(X, components, pairs, np.ones(len(pairs)))

    @classmethod
    def _gathered(cls, X: Floats, components: Ints, pairs: Ints, weights: Floats) -> Self:
        sizes = np.bincount(components)
        tied = sizes > 1
        tied[pairs.ravel()] = True
        t = int(tied.sum())
        number = np.full(len(sizes), -1, dtype=np.intp)
        number[tied] = np.arange(t)
        of = number[components]
        members = np.flatnonzero(of >= 0)
        size = sizes[tied].astype(np.float64)
        mean = sums_by(of[members], X[members].astype(np.float64), t) / size[:, None]
        apart_of = ((X[members] - mean[of[members]]) ** 2).sum(axis=1)
        spread = np.bincount(of[members], weights=apart_of, minlength=t)
        a, b = number[pairs[:, 0]], number[pairs[:, 1]]
        half = csr_array((weights, (a, b)), (t, t))
        return cls(of, size, mean, spread, csr_array(half + half.T))

    @property
    def members(self) -> Ints:
        """Items that belong to some block, ascending."""
        return np.flatnonzero(self.of >= 0)

    @property
    def n_movable(self) -> int:
        """Free items and blocks together, the largest possible number of groups."""
        return int((self.of < 0).sum()) + len(self.size)

    @property
    def contradictions(self) -> int:
        """Links that say "different" about two items of one block."""
        return int(self.apart.diagonal().sum() / 2)

    def cost(self, centres: Floats) -> Floats:
        """(t, k) what each block adds to the inertia at each centre."""
        return self.size[:, None] * squared_distances(self.mean, centres) + self.spread[:, None]

    def violations(self, assigned: Ints) -> int:
        """Links that say "different" about blocks at the same centre."""
        edges = self.apart.tocoo()
        return int(edges.data[assigned[edges.row] == assigned[edges.col]].sum() / 2)

    def distinct(self, rng: np.random.Generator | None = None) -> Ints:
        """Blocks that all differ from each other: a clique, grown greedily by degree, then size."""
        degree = np.diff(self.apart.indptr).astype(np.float64)
        chance = rng.random(len(degree)) if rng is not None else np.zeros(len(degree))
        open_, chosen = np.flatnonzero(degree > 0), []
        while len(open_):
            inside = self.apart[open_][:, open_]
            order = np.lexsort((chance[open_], self.size[open_], np.diff(inside.indptr)))
            best = int(open_[order[-1]])
            chosen.append(best)
            start, stop = self.apart.indptr[best], self.apart.indptr[best + 1]
            open_ = np.intersect1d(open_, self.apart.indices[start:stop])
            open_ = open_[open_ != best]
        return np.array(chosen, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FreeItems:
    """Nearest centre of each item, and per centre the sum and number of its free items."""

    labels: Ints
    distance: Floats
    sums: Floats
    counts: Floats


def chunks(X: Floats) -> Iterator[slice]:
    """Slices of rows that fit a small working memory."""
    rows = max(1, CHUNK_NUMBERS // max(1, X.shape[1]))
    return (slice(at, min(at + rows, len(X))) for at in range(0, len(X), rows))


def squared_distances(X: Floats, centres: Floats) -> Floats:
    """(n, k) squared distances of a few rows to all centres."""
    # Moving the origin among the centres keeps digits when the data lie far from zero.
    origin = centres.mean(axis=0)
    rows, to = X - origin, centres - origin
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", to, to)
    squares -= 2 * (rows @ to.T)
    return np.asarray(np.maximum(squares, 0, out=squares))


def sums_by(labels: Ints, rows: Floats, k: int, weight: Floats | None = None) -> Floats:
    """(k, d) sum of the rows of each label."""
    weight = np.ones(len(labels), rows.dtype) if weight is None else weight
    at = csc_array((weight, labels, np.arange(len(labels) + 1)), shape=(k, len(labels)))
    return np.asarray(at @ rows)


def nearest(X: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Nearest centre of every row and the squared distance to it."""
    labels, distance = np.empty(len(X), dtype=np.intp), np.empty(len(X), dtype=X.dtype)
    to = centres.astype(X.dtype)
    for rows in chunks(X):
        squares = squared_distances(X[rows], to)
        labels[rows] = squares.argmin(axis=1)
        distance[rows] = np.take_along_axis(squares, labels[rows, None], axis=1)[:, 0]
    return labels, distance


def assign_free(X: Floats, centres: Floats, free: NDArray[np.bool_]) -> FreeItems:
    """Assign items to their nearest centres; those that are not `free` do not count in sums."""
    k = len(centres)
    labels, distance = nearest(X, centres)
    sums, counts = np.zeros(centres.shape), np.bincount(labels[free], minlength=k).astype(float)
    for rows in chunks(X):
        sums += sums_by(labels[rows], X[rows], k, free[rows].astype(X.dtype))
    return FreeItems(labels, distance, sums, counts)


def seed_centres(
    X: Floats, blocks: Blocks, k: int, rng: np.random.Generator, first: Ints
) -> Floats:
    """k centres: the means of the blocks `first`, then greedy k-means++ over items and blocks."""
    centres = np.empty((k, X.shape[1]))
    n_first = min(k, len(first))
    centres[:n_first] = blocks.mean[first[:n_first]]
    closest = np.full(len(X), np.inf)
    for known in centres[:n_first]:
        closest = np.minimum(closest, _to_points(X, blocks, known[None])[:, 0])
    for at in range(n_first, k):
        if at == 0:
            candidates = rng.integers(len(X), size=1)
        else:
            candidates = _drawn(closest, 2 + int(np.log(k)), rng)
        points = X[candidates].astype(np.float64)
        inside = blocks.of[candidates] >= 0
        points[inside] = blocks.mean[blocks.of[candidates[inside]]]
        left = np.minimum(closest[:, None], _to_points(X, blocks, points))
        best = int(left.sum(axis=0).argmin())
        centres[at], closest = points[best], left[:, best]
    return centres


def _to_points(X: Floats, blocks: Blocks, points: Floats) -> Floats:
    squares = np.empty((len(X), len(points)))
    for rows in chunks(X):
        squares[rows] = squared_distances(X[rows], points.astype(X.dtype))
    if len(blocks.size):
        members = blocks.members
        squares[members] = squared_distances(blocks.mean, points)[blocks.of[members]]
    return squares


def _drawn(closest: Floats, n: int, rng: np.random.Generator) -> Ints:
    mass = np.cumsum(closest)
    if mass[-1] <= 0:
        return rng.integers(len(closest), size=1)
    drawn = np.searchsorted(mass, rng.random(n) * mass[-1], side="right")
    return np.asarray(np.minimum(drawn, len(closest) - 1), dtype=np.intp)


def scaled_tolerance(X: Floats, tol: float) -> float:
    """`tol` as a share of the mean variance of the columns."""
    mean = X.mean(axis=0, dtype=np.float64)
    total = sum(float(((X[rows] - mean) ** 2).sum()) for rows in chunks(X))
    return tol * total / X.size
