"""Assignment of blocks to centres: the cheapest one that breaks no "different".

Which blocks may share a centre is a graph colouring; which of the possible colourings is cheapest
is an assignment problem. Mutually different blocks (the usual case when groups have been told
apart) are solved exactly. Others are assigned by regret, repaired by an exact search of limited
length, and improved by moves that never break a link: single blocks, and chains of blocks that swap
two centres. Where no assignment honours every link, the one that breaks the fewest is kept.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from samekind.clusterers.kmeans.colouring import colour, fewest_clashes

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_ROUNDS = 4
"""Rounds of improvement per call; Lloyd's sweeps call again, so few are enough."""
MAX_PAIRS = 200
"""Pairs of centres whose chains are tried per round, the most promising first."""


class Assigner:
    """Assigns blocks to centres, repeatedly while the centres move.

    Parameters
    ----------
    apart : (t, t) symmetric, weight of the links that keep two blocks apart.
    k : number of centres.
    """

    def __init__(self, apart: csr_array, k: int) -> None:
        degree = np.diff(apart.indptr)
        part = connected_components(apart, directed=False)[1]
        size = np.bincount(part, minlength=1)
        whole = np.bincount(part, weights=degree, minlength=1) == size * (size - 1)
        exact = (whole & (size <= k))[part]
        cliques = np.flatnonzero(exact & (degree > 0))
        self._cliques = _split(cliques, part[cliques])
        self._rest = np.flatnonzero(~exact)
        self._searched = _Searched(csr_array(apart[self._rest][:, self._rest]), part[self._rest], k)

    def assign(self, cost: Floats, before: Ints | None = None) -> Ints:
        """(t,) centre of each block; never worse than `before`, the assignment of the last call."""
        assigned = np.asarray(cost.argmin(axis=1), dtype=np.intp)
        for blocks in self._cliques:
            if len(set(assigned[blocks].tolist())) < len(blocks):
                assigned[blocks] = linear_sum_assignment(cost[blocks])[1]
        if len(self._rest):
            last = None if before is None else before[self._rest]
            assigned[self._rest] = self._searched.assign(cost[self._rest], last)
        return assigned


class _Searched:
    """Blocks whose "different" links form no cliques, for which a good assignment is searched."""

    def __init__(self, apart: csr_array, part: Ints, k: int) -> None:
        t = apart.shape[0]
        self.k = k
        self.apart = apart
        self.parts = _split(np.arange(t), part)
        self.near = [apart.indices[apart.indptr[i] : apart.indptr[i + 1]] for i in range(t)]
        self.weight = [apart.data[apart.indptr[i] : apart.indptr[i + 1]] for i in range(t)]
        self._spare: dict[int, Ints] = {}

    def assign(self, cost: Floats, before: Ints | None) -> Ints:
        if before is not None:
            return self._improved(cost, before.copy())
        assigned = self._by_regret(cost)
        clashing = _at(self._taken(assigned), assigned) > 0
        for at, blocks in enumerate(self.parts):
            if clashing[blocks].any():
                assigned[blocks] = self._repaired(at, blocks, cost[blocks], assigned[blocks])
        return self._improved(cost, assigned)

    def _taken(self, assigned: Ints) -> Floats:
        """(t, k) weight of the links that each block would break at each centre."""
        every = np.arange(len(assigned) + 1)
        ones = csr_array((np.ones(len(assigned)), assigned, every), shape=(len(assigned), self.k))
        return np.asarray((self.apart @ ones).toarray())

    def _repaired(self, at: int, blocks: Ints, cost: Floats, assigned: Ints) -> Ints:
        """A part with fewer broken links, each colour at the centre where it costs least."""
        local = csr_array(self.apart[blocks][:, blocks])
        rows = [slice(local.indptr[i], local.indptr[i + 1]) for i in range(len(blocks))]
        near, weight = [local.indices[r] for r in rows], [local.data[r] for r in rows]
        if at not in self._spare:
            # Which colourings exist does not depend on where the centres are: found only once.
            found = colour(near, self.k)
            self._spare[at] = (
                fewest_clashes(near, weight, assigned, self.k) if found is None else found
            )
        spare = self._spare[at]
        if _broken(local, spare) >= _broken(local, assigned):
            return assigned
        totals = np.zeros((self.k, self.k))  # (colour, centre)
        np.add.at(totals, spare, cost)
        return np.asarray(linear_sum_assignment(totals)[1], dtype=np.intp)[spare]

    def _by_regret(self, cost: Floats) -> Ints:
        """The block that would lose most by waiting chooses first among the allowed centres."""
        taken = np.zeros(cost.shape)  # weight of the links that each centre would break
        assigned = np.full(len(cost), -1, dtype=np.intp)
        version = np.zeros(len(cost), dtype=np.intp)
        heap = [(-_regret(cost[b]), 0, b) for b in range(len(cost))]
        heapify(heap)
        while heap:
            _, seen, b = heappop(heap)
            if assigned[b] >= 0 or seen != version[b]:
                continue
            assigned[b] = _cheapest(cost[b], taken[b])
            for other, weight in zip(self.near[b].tolist(), self.weight[b].tolist(), strict=True):
                taken[other, assigned[b]] += weight
                if assigned[other] < 0:
                    version[other] += 1
                    allowed = cost[other][taken[other] == 0]
                    heappush(heap, (-_regret(allowed), int(version[other]), other))
        return assigned

    def _improved(self, cost: Floats, assigned: Ints) -> Ints:
        """A cheaper assignment by single moves and by swaps; no step breaks more links."""
        least = 1e-9 * (1.0 + float(np.abs(cost).max()))
        for _ in range(MAX_ROUNDS):
            moved = self._moved(cost, assigned, least)
            if not self._swapped(cost, assigned, least) and not moved:
                break
        return assigned

    def _moved(self, cost: Floats, assigned: Ints, least: float) -> bool:
        """Move single blocks to cheaper centres, or to those where they break fewer links."""
        taken, every, changed = self._taken(assigned), np.arange(len(assigned)), False
        best = np.where(taken == taken.min(axis=1, keepdims=True), cost, np.inf).argmin(axis=1)
        gain = _at(cost, assigned) - cost[every, best]
        wish = np.flatnonzero((taken[every, best] < _at(taken, assigned)) | (gain > least))
        for b in wish[np.argsort(-gain[wish])].tolist():
            here, there = int(assigned[b]), _cheapest(cost[b], taken[b])
            fewer = taken[b, there] < taken[b, here]
            if fewer or cost[b, there] < cost[b, here] - least:
                assigned[b] = there
                taken[self.near[b], here] -= self.weight[b]
                taken[self.near[b], there] += self.weight[b]
                changed = True
        return changed

    def _swapped(self, cost: Floats, assigned: Ints, least: float) -> bool:
        """Swap two centres within chains of connected blocks, where that is cheaper.

        A chain holds all blocks of the two centres that can be reached from each other, so each
        link inside it stays as it was, and none leads from it to another block of the two.
        """
        wish = np.zeros((self.k, self.k))  # (from, to) what blocks would gain by themselves
        np.add.at(wish, assigned, np.maximum(_at(cost, assigned)[:, None] - cost - least, 0.0))
        wish = np.triu(wish + wish.T, 1)
        changed = False
        for pair in np.argsort(-wish, axis=None)[: min(MAX_PAIRS, np.count_nonzero(wish))].tolist():
            here, there = divmod(pair, self.k)
            blocks = np.flatnonzero((assigned == here) | (assigned == there))
            chain = connected_components(self.apart[blocks][:, blocks], directed=False)[1]
            gain = (cost[blocks, here] - cost[blocks, there]) * np.where(
                assigned[blocks] == here, 1.0, -1.0
            )
            flipped = blocks[(np.bincount(chain, weights=gain) > least)[chain]]
            assigned[flipped] = here + there - assigned[flipped]
            changed |= len(flipped) > 0
        return changed


def _at(cost: Floats, assigned: Ints) -> Floats:
    """Cost of each block at its centre."""
    return np.asarray(cost[np.arange(len(assigned)), assigned])


def _regret(cost: Floats) -> float:
    """Loss when the best of the costs is taken away; infinite when it is the only one."""
    if len(cost) < 2:
        return float("inf")
    best, second = np.partition(cost, 1)[:2]
    return float(second - best)


def _cheapest(cost: Floats, taken: Floats) -> int:
    """The centre with the least weight of broken links, and among those the cheapest."""
    return int(np.where(taken == taken.min(), cost, np.inf).argmin())


def _broken(apart: csr_array, assigned: Ints) -> float:
    edges = apart.tocoo()
    return float(edges.data[assigned[edges.row] == assigned[edges.col]].sum() / 2)


def _split(values: Ints, part: Ints) -> list[Ints]:
    """The values of each part, as one array per part."""
    order = np.argsort(part, kind="stable")
    cuts = np.flatnonzero(np.diff(part[order])) + 1
    return [piece for piece in np.split(values[order], cuts) if len(piece)]
