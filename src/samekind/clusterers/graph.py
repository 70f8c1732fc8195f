"""A neighbour graph over which groups spread from their seeds, and a vote of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.orientation import Orientation
from samekind.clusterers.seeds import Seeds

Floats = NDArray[Any]
Ints = NDArray[np.intp]

KEEP = 0.99
"""Share of its strength that each step takes from the neighbours rather than from the seeds."""
STEPS = 60
BALANCE = 0.5
"""0 lets large groups win, 1 gives all groups the same mass."""


def spread(space: Floats, seeds: Seeds, n_neighbors: int) -> Floats:
    """(m, k) how strongly each group reaches each row over the neighbour graph."""
    import scipy.sparse as sp

    m = len(space)
    near, apart = neighbours(space, min(n_neighbors, m - 1))
    reach = apart[:, -1] + 1e-12
    weight = np.exp(-(apart**2) / (reach[:, None] * reach[near])) + 1e-6
    rows = np.repeat(np.arange(m), near.shape[1])
    graph = sp.csr_matrix((weight.ravel(), (rows, near.ravel())), shape=(m, m))
    graph = graph.maximum(graph.T)
    scale = sp.diags(1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    step = scale @ graph @ scale
    source = np.zeros((m, seeds.n_kinds))
    source[seeds.rows, seeds.labels] = 1.0
    strength = source.copy()
    for _ in range(STEPS):
        strength = KEEP * (step @ strength) + (1 - KEEP) * source
    strength = strength / np.maximum(strength.sum(axis=1, keepdims=True), 1e-12) + 1e-9
    strength /= strength.sum(axis=0, keepdims=True) ** BALANCE
    return np.asarray(strength / strength.sum(axis=1, keepdims=True))


def neighbours(space: Floats, k: int) -> tuple[Ints, Floats]:
    """(m, k) nearest other rows and their distances, nearest first."""
    m = len(space)
    near = np.empty((m, k), dtype=np.intp)
    apart = np.empty((m, k))
    for start in range(0, m, 1024):
        part = slice(start, min(start + 1024, m))
        square = squared_distances(space[part], space)
        square[np.arange(part.stop - start), np.arange(start, part.stop)] = np.inf
        near[part], apart[part] = _smallest(square, k)
    return near, apart


def squared_distances(A: Floats, B: Floats) -> Floats:
    """(a, b) squared Euclidean distances, never negative."""
    square = (A**2).sum(axis=1)[:, None] - 2 * (A @ B.T) + (B**2).sum(axis=1)[None]
    return np.asarray(np.maximum(square, 0.0))


def _smallest(square: Floats, k: int) -> tuple[Ints, Floats]:
    some = np.argpartition(square, k - 1, axis=1)[:, :k] if k < square.shape[1] else None
    some = np.tile(np.arange(square.shape[1]), (len(square), 1)) if some is None else some
    values = np.take_along_axis(square, some, axis=1)
    order = np.lexsort((some, values), axis=1)
    return np.take_along_axis(some, order, axis=1), np.sqrt(np.take_along_axis(values, order, axis=1))


@dataclass(frozen=True, eq=False)
class Reference:
    """Items whose groups are settled; all others ask the nearest of them."""

    orientation: Orientation
    space: Floats
    strength: Floats

    def vote(self, space: Floats, k: int) -> Floats:
        """(n, groups) strengths of the `k` nearest reference items, nearer ones counting more."""
        near, apart = _smallest(squared_distances(space, self.space), min(k, len(self.space)))
        weight = np.exp(-((apart / (apart[:, -1:] + 1e-12)) ** 2))
        weight[apart <= 1e-9] = 1e9  # the very same item decides alone
        strength = (self.strength[near] * weight[:, :, None]).sum(axis=1)
        return np.asarray(strength / strength.sum(axis=1, keepdims=True))

    def only(self, groups: Ints) -> Reference:
        """The same items without the groups that nobody is in."""
        return Reference(self.orientation, self.space, self.strength[:, groups])
