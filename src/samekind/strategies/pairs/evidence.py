"""Evidence: what the answers say about each item, as vectors (the sum in PCL's Eq. 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.questions import Answer
from samekind.strategies.pairs.candidates import Floats, Ints, Pool, inner

_ROWS = 2048
"""Items processed at a time, so that their vectors stay in the processor's cache."""


@dataclass(frozen=True)
class Evidence:
    """For each item with answers, the vector whose inner products are the sum in Eq. 7.

    The sum over all items known to be the same kind, minus all known to differ, is linear in the
    vectors: one vector per item, however much the closure implies.
    """

    towards: Floats
    """(t, d) for the items that have answers."""
    row: Ints
    """(n,) the row of an item in `towards`; -1 for those without answers."""
    counts: NDArray[np.int32]
    """(2, n) number of other items known to be the same kind, and known to differ."""

    @classmethod
    def of(cls, points: Floats, known: Constraints, *, summed: bool = False) -> Evidence:
        """From the answers and everything they imply: the mean over them, or the sum."""
        n, width = points.shape
        nothing = cls(
            np.zeros((0, width), dtype=np.float32),
            np.full(n, -1, dtype=np.intp),
            np.zeros((2, n), dtype=np.int32),
        )
        return nothing.grown(points, known, summed=summed)[0]

    def grown(
        self, points: Floats, known: Constraints, *, summed: bool
    ) -> tuple[Evidence, NDArray[np.bool_]]:
        """The evidence after more answers, and a mask of the items for which it has changed.

        More answers never remove knowledge, so an item with unchanged counts has unchanged
        evidence.
        """
        blocks = Blocks.of(known)
        counts = np.zeros_like(self.counts)
        counts[:, blocks.items] = np.stack([blocks.sizes - 1, blocks.foe_items])[:, blocks.block]
        changed = np.asarray((counts != self.counts).any(axis=0))
        items = np.flatnonzero(changed)
        fresh = items[self.row[items] < 0]
        row = self.row.copy()
        row[fresh] = len(self.towards) + np.arange(len(fresh))
        room = np.empty((len(fresh), points.shape[1]), dtype=np.float32)
        towards = np.concatenate([self.towards, room])
        whole, place = blocks.sums(points, changed[blocks.items])
        block_of = np.full(len(points), -1, dtype=np.intp)
        block_of[blocks.items] = place[blocks.block]
        for some in (items[k : k + _ROWS] for k in range(0, len(items), _ROWS)):
            found = whole[block_of[some]] - points[some]
            if not summed:
                found /= counts[:, some].sum(axis=0)[:, None]
            towards[row[some]] = found
        return Evidence(towards, row, counts), changed

    def between(self, points: Floats, a: Ints, b: Ints) -> Floats:
        """(2, m) similarity of a to the evidence of b and the reverse; NaN without evidence."""
        found = np.full((2, len(a)), np.nan, dtype=np.float32)
        self.update(found, points, a, b, self.row >= 0)
        return found

    def update(
        self, found: Floats, points: Floats, a: Ints, b: Ints, changed: NDArray[np.bool_]
    ) -> None:
        """Update the result of `between` for the `changed` items."""
        for k, (seeing, seen) in enumerate(((a, b), (b, a))):
            at = np.flatnonzero(changed[seen])
            found[k, at] = inner(points, seeing[at], self.towards, self.row[seen[at]])


class Blocks(NamedTuple):
    """The components that answers have touched, and which of them are known to differ."""

    items: Ints
    """(t,) touched items."""
    block: Ints
    """(t,) the component of each, numbered without gaps."""
    sizes: Ints
    """(c,) items of each component."""
    pairs: Ints
    """(2, p) components that differ, in both directions, sorted by the first and the second."""
    foe_items: Ints
    """(c,) items known to differ from those of each component."""

    @classmethod
    def of(cls, known: Constraints) -> Blocks:
        items, component = known.touched, known.components
        present = np.zeros(known.n_items, dtype=bool)
        present[component[items]] = True
        number = np.cumsum(present) - 1
        block = number[component[items]]
        sizes = np.bincount(block)
        apart = number[known.component_links()]
        either = np.concatenate([apart, apart[:, ::-1]])
        codes = np.sort(either[:, 0] * (len(sizes) + 1) + either[:, 1])
        pairs = np.stack(np.divmod(codes, len(sizes) + 1))
        foe_items = np.bincount(pairs[0], sizes[pairs[1]], minlength=len(sizes))
        return cls(items, block, sizes, pairs, foe_items.astype(np.intp))

    def sums(self, points: Floats, wanted: NDArray[np.bool_]) -> tuple[Floats, Ints]:
        """Sum of the items of a component minus all that differ, for components of wanted items.

        Returns the sums, and for every component its row among them (-1: not wanted).
        """
        from scipy.sparse import csr_array

        ours = np.zeros(len(self.sizes), dtype=bool)
        ours[self.block[wanted]] = True
        first, second = self.pairs[:, ours[self.pairs[0]]]
        needed = ours.copy()
        needed[second] = True
        place, among = _places(ours), _places(needed)
        inside = np.flatnonzero(needed[self.block])
        shape = (int(needed.sum()), len(inside))
        members = csr_array(
            (np.ones(len(inside)), (among[self.block[inside]], np.arange(len(inside)))), shape
        )
        own = members @ np.asarray(points[self.items[inside]], dtype=np.float64)
        foes = csr_array(
            (np.ones(len(first)), (place[first], among[second])), (int(ours.sum()), len(own))
        )
        return own[among[ours]] - foes @ own, place


class EvidenceCache:
    """The evidence of a snapshot's pool, updated as answers come in.

    Few answers come between two questions, so most of the evidence stays unchanged.
    """

    def __init__(self, points: Floats, pool: Pool, *, summed: bool) -> None:
        self.points, self.pool, self.summed = points, pool, summed
        self._answers: tuple[Answer, ...] = ()
        self._n_gone = 0
        self._evidence = Evidence.of(points, Constraints(len(points)))
        self._found: Floats = np.full((2, len(pool.a)), np.nan, dtype=np.float32)

    def after(self, known: Constraints) -> tuple[Evidence, Floats]:
        """The evidence of these answers, and (2, m) that of each pair in the pool."""
        if known.n_gone != self._n_gone or known.answers[: len(self._answers)] != self._answers:
            # An answer was undone or changed: start again.
            self._evidence = Evidence.of(self.points, Constraints(len(self.points)))
            self._found = np.full_like(self._found, np.nan)
            self._answers, self._n_gone = (), known.n_gone
        if len(known.answers) > len(self._answers):
            a, b, _ = self.pool
            self._evidence, changed = self._evidence.grown(self.points, known, summed=self.summed)
            self._evidence.update(self._found, self.points, a, b, changed)
            self._answers = known.answers
        return self._evidence, self._found


def _places(mask: NDArray[np.bool_]) -> Ints:
    """The index of each entry among those that are set; -1 for the others."""
    return np.where(mask, np.cumsum(mask) - 1, -1)
