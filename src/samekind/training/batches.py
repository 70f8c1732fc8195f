"""Batches: every epoch shuffled afresh, with answered items brought together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.training.answered import Answered

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class LinkedBatches:
    """Which items stand together in each step. A function of seed and step, so nothing is kept.

    Under full shuffling two answered items hardly ever meet in a batch. So a part of each batch
    gives way to partners: items that an answer (or what follows from it) links to one that stays.
    What gives way is drawn in other epochs.

    Parameters
    ----------
    n : items.
    batch_size : items per step over all processes; fewer items than that make one batch.
    seed : of all shuffling.
    share : at most this part of a batch are partners.
    ranks : processes that share each batch evenly; the batch is cut to a multiple of it.

    >>> batches = LinkedBatches(10, 4, seed=0)
    >>> batches.steps, sorted(batches.items(0).tolist() + batches.items(1).tolist())
    (2, [0, 2, 3, 4, 5, 6, 7, 9])
    """

    n: int
    batch_size: int
    seed: int = 0
    share: float = 0.25
    ranks: int = 1

    def __post_init__(self) -> None:
        if self.batch_size < 1 or not 0 <= self.share < 1:
            raise InputError(
                "Expected at least one item per batch and a share of partners from 0 to below 1, "
                f"got {self.batch_size} and {self.share}."
            )
        if self.n < self.ranks:
            raise InputError(
                f"{self.n} items cannot be shared out among {self.ranks} processes. Start fewer."
            )

    @property
    def size(self) -> int:
        """Items per step."""
        size = min(self.batch_size, self.n)
        return max(1, size // self.ranks) * self.ranks

    @property
    def steps(self) -> int:
        """Steps per epoch."""
        return max(1, self.n // self.size)

    def items(self, step: int, known: Answered | None = None) -> Ints:
        """The items of a step (counted from the beginning of training), each once."""
        epoch, place = divmod(step, self.steps)
        drawn = _shuffled(self.n, self.seed, epoch)[place * self.size : (place + 1) * self.size]
        if known is None or not known.any or self.size == self.n or self.share == 0:
            return drawn
        rng = np.random.default_rng((self.seed, epoch, place))
        return with_partners(drawn, known, int(self.share * self.size), rng)

    def part(self, items: Ints, rank: int) -> Ints:
        """The part of a batch for one process; the parts in order of rank make up the batch."""
        width = len(items) // self.ranks
        return items[rank * width : (rank + 1) * width]


@dataclass(frozen=True, eq=False)
class BalancedBatches(LinkedBatches):
    """Items drawn with replacement, so that each group has the same chance, however small it is.

    Parameters
    ----------
    labels : (n,) the group of each item; groups without items do not count.

    >>> batches = BalancedBatches(6, 4, seed=0, labels=np.array([0, 0, 0, 0, 0, 1]))
    >>> drawn = [item for step in range(50) for item in batches.items(step)]
    >>> 80 < drawn.count(5) < 120  # half of 200
    True
    """

    labels: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def items(self, step: int, known: Answered | None = None) -> Ints:
        """The items of a step; some may come twice. Answers bring no partners."""
        rng = np.random.default_rng((self.seed, step, 3))
        order, starts, counts = self._groups
        group = rng.integers(len(counts), size=self.size)
        return order[starts[group] + (rng.random(self.size) * counts[group]).astype(np.intp)]

    @cached_property
    def _groups(self) -> tuple[Ints, Ints, Ints]:
        """Items in the order of their groups, and where each group begins and its size."""
        order = np.argsort(self.labels, kind="stable")
        _, starts, counts = np.unique(self.labels[order], return_index=True, return_counts=True)
        return order, starts, counts


def with_partners(drawn: Ints, known: Answered, count: int, rng: np.random.Generator) -> Ints:
    """A batch in which at most `count` of the items drawn give way to partners of the others.

    Partners are looked for among those linked to items that stay, so that none comes in vain.
    """
    kept = drawn[: len(drawn) - count]
    partners = known.partners(kept, count, rng)
    spare = drawn[len(kept) :]
    spare = spare[~np.isin(spare, partners)][: count - len(partners)]
    return np.concatenate([kept, spare, partners])


@lru_cache(maxsize=4)
def _shuffled(n: int, seed: int, epoch: int) -> Ints:
    return np.random.default_rng((seed, epoch)).permutation(n)
