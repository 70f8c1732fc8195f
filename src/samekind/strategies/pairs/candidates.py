"""Candidates: draw a pool of pairs to score, without comparing all items with all others.

The pool of a small set holds every pair; that of a large set holds random pairs and pairs of
near neighbours. It is made once per snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CHUNK = 8192
"""Pairs whose vectors are loaded at a time."""
_SEGMENT = 256
"""Neighbouring entries of a row whose maximum is looked at first, to find the largest of all."""


class Pool(NamedTuple):
    """Candidate pairs ``a < b`` in random order, with their similarity."""

    a: Ints
    b: Ints
    similarity: Floats


@dataclass(frozen=True)
class Candidates:
    """How candidate pairs are drawn, and how their similarity is measured.

    Parameters
    ----------
    random : number of random pairs in a large set.
    anchors, neighbours, among : each of `anchors` random items brings its nearest `neighbours`,
        found exactly among a random part of the set. Each snapshot draws new ones.
    all_below : in sets of at most this many items every pair is a candidate.
    centred : measure angles from the mean of the set. Deep methods train the angle itself, but
        plain vectors mostly lie to one side of the origin, where all angles are small. None:
        centre unless the snapshot has two views or vectors of unit length.
    """

    random: int = 60_000
    anchors: int = 2_000
    neighbours: int = 8
    among: int = 16_384
    all_below: int = 300
    centred: bool | None = None

    def bank(self, clustering: Clustering) -> Floats:
        """(n, d) rows whose inner products are cosines, averaged over the two views, if any."""
        key = ("bank", self.centred)
        return clustering.memo(key, lambda: _joined(self.views(clustering)))

    def views(self, clustering: Clustering) -> tuple[Floats, ...]:
        """Unit vectors of the two views, or of the space if there are no views."""
        if clustering.views is not None:
            views = [np.asarray(view, dtype=np.float32) for view in clustering.views]
        else:
            views = [clustering.space]
        centred = self.centred
        if centred is None:
            centred = len(views) == 1 and not have_unit_length(views[0])
        return tuple(_unit(x - x.mean(axis=0) if centred else x) for x in views)

    def pool(self, view: View) -> Pool:
        """The pool of a snapshot; it depends on the snapshot and the seed alone."""
        clustering = view.clustering
        return clustering.memo(("pool", self, view.seed), lambda: self._drawn(view))

    def _drawn(self, view: View) -> Pool:
        points = self.bank(view.clustering)
        n = len(points)
        rng = np.random.default_rng((view.seed, view.clustering.snapshot))
        if n <= self.all_below:
            a, b = np.triu_indices(n, 1)
        else:
            near = self._near(points, rng)
            far = np.stack(distinct_pairs(rng, n, self.random))
            a, b = np.sort(np.concatenate([near, far], axis=1), axis=0)
        order = rng.permutation(len(a))  # ties are broken at random
        a, b = a[order].astype(np.intp), b[order].astype(np.intp)
        return Pool(a, b, inner(points, a, points, b))

    def _near(self, points: Floats, rng: np.random.Generator) -> Ints:
        """(2, m) random items with their nearest neighbours in a random part of the set."""
        n = len(points)
        anchors = rng.choice(n, min(n, self.anchors), replace=False)
        others = rng.choice(n, min(n, self.among), replace=False)
        k = min(self.neighbours + 1, len(others))  # an item may find itself
        reference = np.ascontiguousarray(points[others].T)  # quicker to multiply by
        found = []
        for start in range(0, len(anchors), 256):
            some = anchors[start : start + 256]
            row, nearest = largest(points[some] @ reference, k)
            found.append(np.stack([some[row], others[nearest]]))
        pairs = np.concatenate(found, axis=1)
        return np.asarray(pairs[:, pairs[0] != pairs[1]], dtype=np.intp)


def scaled(values: Floats, over: NDArray[np.bool_] | None = None) -> Floats:
    """Min-max scaling to [0, 1], by the range of those in `over`; one half if all are equal.

    >>> scaled(np.array([1.0, 2.0, 5.0])).tolist()
    [0.0, 0.25, 1.0]
    """
    values = np.asarray(values, dtype=np.float64)
    ranged = values if over is None else values[over]
    if not ranged.size or ranged.min() == ranged.max():
        return np.full(values.shape, 0.5)
    return np.asarray((values - ranged.min()) / (ranged.max() - ranged.min()))


def largest(values: Floats, k: int) -> tuple[Ints, Ints]:
    """Rows and columns of the `k` largest values of each row of a matrix.

    Long rows are not partitioned as a whole: at least `k` values reach the k-th largest maximum of
    a segment, and usually hardly more do.
    """
    rows, width = values.shape
    if width % _SEGMENT == 0 and width // _SEGMENT >= 2 * k:
        segments = values.reshape(rows, -1, _SEGMENT)
        tops = segments.max(axis=2)
        bar = np.partition(tops, -k, axis=1)[:, -k]
        row, segment = np.nonzero(tops >= bar[:, None])
        if len(row) < 2 * k * rows:  # else too many are equal
            some = segments[row, segment]
            place, within = np.nonzero(some >= bar[row, None])
            order = np.lexsort((-some[place, within], row[place]))
            place, within = place[order], within[order]
            row, column = row[place], segment[place] * _SEGMENT + within
            wanted = np.arange(len(row)) - np.searchsorted(row, row) < k
            return row[wanted], column[wanted]
    nearest = np.argpartition(-values, k - 1, axis=1)[:, :k]
    return np.repeat(np.arange(rows), k), nearest.ravel()


def inner(X: Floats, a: Ints, Y: Floats, b: Ints) -> Floats:
    """(m,) inner products of rows ``X[a]`` and ``Y[b]``, in chunks."""
    found = np.empty(len(a), dtype=np.float32)
    for start in range(0, len(a), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = np.einsum("ij,ij->i", X[a[part]], Y[b[part]])
    return found


def distinct_pairs(rng: np.random.Generator, n: int, count: int) -> tuple[Ints, Ints]:
    """Random pairs of two different items of `n`; a pair may come twice."""
    a = rng.integers(0, n, size=count)
    b = (a + rng.integers(1, n, size=count)) % n
    return a.astype(np.intp), b.astype(np.intp)


def _joined(views: tuple[Floats, ...]) -> Floats:
    if len(views) == 1:
        return views[0]
    return np.concatenate(views, axis=1) / np.float32(np.sqrt(len(views)))


def _unit(x: Floats) -> Floats:
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x / np.maximum(length, 1e-12), dtype=np.float32)


def have_unit_length(x: Floats) -> bool:
    """Whether rows have unit length, judged by a thousand of them."""
    length = np.linalg.norm(x[:: max(1, len(x) // 1000)], axis=1)
    return bool(np.abs(length - 1).max(initial=0.0) < 1e-2)
