"""Candidates: draw a pool of pairs to score, without comparing all items with all others.

The pool of a small set holds every pair; that of a large set holds random pairs and pairs of
near neighbours. It is made once per snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import Question, SamePair

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CHUNK = 8192
"""Pairs whose vectors are loaded at a time."""
AT_RANDOM = "Two items picked at random."


class Pool(NamedTuple):
    """Candidate pairs ``a < b`` in random order, with their similarity."""

    a: Ints
    b: Ints
    similarity: Floats

    def extended(self, a: Ints, b: Ints, similarity: Floats) -> Pool:
        """The pool with more pairs at its end."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        return Pool(
            np.concatenate([self.a, low]),
            np.concatenate([self.b, high]),
            np.concatenate([self.similarity, similarity]),
        )


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
            far = np.stack(_distinct(rng, n, self.random))
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
        found = []
        for start in range(0, len(anchors), 256):
            some = anchors[start : start + 256]
            nearest = np.argpartition(-(points[some] @ points[others].T), k - 1, axis=1)[:, :k]
            found.append(np.stack([np.repeat(some, k), others[nearest].ravel()]))
        pairs = np.concatenate(found, axis=1)
        return np.asarray(pairs[:, pairs[0] != pairs[1]], dtype=np.intp)


def random_pairs(view: View, count: int, *, all_below: int = 300) -> tuple[Ints, Ints]:
    """Pairs in random order: all of a small set, else up to `count` draws."""
    n = view.constraints.n_items
    if n > all_below:
        return _distinct(view.rng, n, count)
    a, b = np.triu_indices(n, 1)
    order = view.rng.permutation(len(a))
    return a[order].astype(np.intp), b[order].astype(np.intp)


def best_pairs(
    view: View, a: Ints, b: Ints, score: Floats, n: int, why: Callable[[int], str]
) -> tuple[Question, ...]:
    """The `n` highest pairs that can be asked: not implied, not passed on, no item twice.

    `why` is called with the index of a pair. If too few candidates are left, random pairs are
    added.
    """
    chosen = _askable(view, a, b, _falling(score, 64 + 16 * n), n, why, [])
    n_items = view.constraints.n_items
    if len(chosen) < n and len(a) < n_items * (n_items - 1) // 2:
        a, b = random_pairs(view, 200 * n)
        drawn = iter(range(len(a)))
        chosen = _askable(view, a, b, drawn, n, lambda k: AT_RANDOM, chosen)
    return tuple(chosen)


def _askable(
    view: View,
    a: Ints,
    b: Ints,
    order: Iterator[int],
    n: int,
    why: Callable[[int], str],
    chosen: list[Question],
) -> list[Question]:
    passed = {frozenset(question.items()) for question in view.passed}
    used = {item for question in chosen for item in question.items()}
    for k in order:
        if len(chosen) >= n:
            break
        i, j = int(a[k]), int(b[k])
        if i in used or j in used or frozenset((i, j)) in passed:
            continue
        if view.constraints.same(i, j) is None:
            chosen.append(SamePair(i, j, why=why(k)))
            used |= {i, j}
    return chosen


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


def inner(X: Floats, a: Ints, Y: Floats, b: Ints) -> Floats:
    """(m,) inner products of rows ``X[a]`` and ``Y[b]``, in chunks."""
    found = np.empty(len(a), dtype=np.float32)
    for start in range(0, len(a), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = np.einsum("ij,ij->i", X[a[part]], Y[b[part]])
    return found


def remaining(view: View) -> float:
    """The share r of the budget that is left (Eq. 8); one half without a budget."""
    if not view.budget:
        return 0.5
    return min(1.0, max(0.0, 1 - view.spent / view.budget))


def _falling(score: Floats, first: int) -> Iterator[int]:
    """Indices by falling score, ties in order; all but the first are sorted only if needed."""
    score = np.round(score, 6)  # for the same ranking on every machine
    if len(score) <= first:
        yield from np.argsort(-score, kind="stable").tolist()
        return
    bar = np.partition(score, -first)[-first]
    for part in (np.flatnonzero(score >= bar), np.flatnonzero(score < bar)):
        yield from part[np.argsort(-score[part], kind="stable")].tolist()


def _distinct(rng: np.random.Generator, n: int, count: int) -> tuple[Ints, Ints]:
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
