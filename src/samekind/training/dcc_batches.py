"""Batches of answered items, for a method that learns from answers in steps of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.training.answered import Answered
from samekind.training.batches import LinkedBatches

Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class AnsweredBatches(LinkedBatches):
    """Both ends of links drawn at random, each item once; others fill a batch up.

    Parameters
    ----------
    n, batch_size, seed, share, ranks : as in
        :class:`~samekind.training.batches.LinkedBatches`, so that both have batches of one size.
    links : (P, 2) items that an answer links.

    >>> batches = AnsweredBatches(9, 3, links=np.array([[2, 7]]))
    >>> batches.items(0)[:2].tolist(), batches.rounds
    ([2, 7], 1)
    """

    links: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    @property
    def rounds(self) -> int:
        """Batches in which each link has its turn about once."""
        return -(-2 * len(self.links) // self.size)

    def items(self, step: int, known: Answered | None = None) -> Ints:
        """The items of a step, each once."""
        rng = np.random.default_rng((self.seed, step, 17))
        ends = self.links[rng.permutation(len(self.links))[: self.size]].ravel()
        _, first = np.unique(ends, return_index=True)
        chosen = ends[np.sort(first)][: self.size]
        if len(chosen) < self.size:
            others = rng.permutation(self.n)
            others = others[~np.isin(others, chosen)]
            chosen = np.concatenate([chosen, others[: self.size - len(chosen)]])
        return chosen.astype(np.intp)
