"""A neighbour graph over which groups spread from their seeds, and a vote of neighbours."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.orientation import Orientation
from samekind.clusterers.live.seeds import Seeds
from samekind.neighbours import exact_neighbours, neighbour_graph

Floats = NDArray[Any]
Ints = NDArray[np.intp]

KEEP = 0.99
"""Share of its strength that each step takes from the neighbours rather than from the seeds."""
STEPS = 60
BALANCE = 0.5
"""0 lets large groups win, 1 gives all groups the same mass."""
MAX_SINGLE_THREAD_ITEMS = 20_000
"""Up to this many items one thread is used: on busy cores, threads wait for each other for much
longer than such small products take (2 cores under load: 10 times slower with two threads)."""


def single_threaded(n_items: int) -> AbstractContextManager[Any]:
    """Within this context numerical libraries use one thread, unless there are many items."""
    from threadpoolctl import threadpool_limits

    limit = 1 if n_items <= MAX_SINGLE_THREAD_ITEMS else None
    limits: AbstractContextManager[Any] = threadpool_limits(limit)
    return limits


def spread(
    space: Floats,
    seeds: Seeds,
    n_neighbors: int,
    weight: Floats | None = None,
    *,
    width: int | None = None,
    prior: Floats | None = None,
    balance: float = BALANCE,
) -> Floats:
    """(m, k) how strongly each group reaches each row over the neighbour graph.

    Parameters
    ----------
    weight : (s,) strength of each seed; None: all the same.
    prior : (m, k) strength of each row that is no seed; None: nothing.
    balance : 0 lets large groups win, 1 gives all groups the same mass.
    width : coordinates by which neighbours are found, in single precision; None: all, in full.
    """
    import scipy.sparse as sp

    points = space if width is None else np.asarray(space[:, :width], dtype=np.float32)
    graph = neighbour_graph(points, n_neighbors)
    scale = sp.diags(1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    step = scale @ graph @ scale
    source = np.zeros((len(space), seeds.n_kinds)) if prior is None else prior.copy()
    source[seeds.rows] = 0.0
    source[seeds.rows, seeds.labels] = 1.0 if weight is None else weight
    strength = source.copy()
    for _ in range(STEPS):
        strength = KEEP * (step @ strength) + (1 - KEEP) * source
    strength = strength / np.maximum(strength.sum(axis=1, keepdims=True), 1e-12) + 1e-9
    strength /= strength.sum(axis=0, keepdims=True) ** balance
    return np.asarray(strength / strength.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Reference:
    """Items whose groups are known; all others ask the nearest of them."""

    orientation: Orientation
    space: Floats
    strength: Floats

    def vote(self, space: Floats, k: int) -> Floats:
        """(n, groups) strengths of the `k` nearest reference items, nearer ones counting more."""
        near, distances = exact_neighbours(self.space, k, space)
        weight = np.exp(-((distances / (distances[:, -1:] + 1e-12)) ** 2))
        # The same item decides alone. Distances come from squares: half their digits are lost.
        weight[distances <= 1e-7 * (1 + np.linalg.norm(space, axis=1, keepdims=True))] = 1e9
        strength = np.zeros((len(space), self.strength.shape[1]))
        for rank in range(near.shape[1]):  # one at a time: (n, k, groups) would not fit
            strength += self.strength[near[:, rank]] * weight[:, rank, None]
        return np.asarray(strength / strength.sum(axis=1, keepdims=True))

    def only(self, groups: Ints) -> Reference:
        """The same items with some of the groups."""
        return Reference(self.orientation, self.space, self.strength[:, groups])
