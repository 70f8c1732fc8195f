"""Collapsed Gibbs sampling for stochastic block models: the long run that graphs are held to.

The model is the one that graphs come from, and it is known here in full: CRP(alpha) for the blocks,
a probability of edges from Beta(within) for each block and from Beta(between) for each pair of
blocks. These probabilities are integrated out. Graphs and chains are rows of one table, so that one
step of numpy moves one node in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
FIRST_SLOTS = 8
"""Room for blocks at the beginning; it doubles when it is full."""


@dataclass(frozen=True)
class BlockModel:
    """What the sampler knows; `within` and `between` are whole numbers (a, b) of Beta laws."""

    alpha: float = 0.7
    within: tuple[int, int] = (6, 3)
    between: tuple[int, int] = (1, 5)


class Run(NamedTuple):
    """What a run found, by graph (B) and node (N)."""

    draws: Ints
    """(B, S, N) states of all chains, spread evenly over the second half of the run."""
    best: Ints
    """(B, N) the most probable grouping that any chain visited after a sweep."""
    log_joint: Floats
    """(B,) log of its joint probability with the graph."""


def sample(
    adjacency: NDArray[np.generic],
    model: BlockModel,
    rng: np.random.Generator,
    *,
    sweeps: int = 200,
    chains: int = 4,
    keep: int = 32,
) -> Run:
    """Run chains on graphs of one size (B, N, N), of zeros and ones.

    Even chains begin by placing nodes one after the other, odd ones with one block of all. Of each
    chain `keep` states are kept.
    """
    B, N, _ = adjacency.shape
    table = _Table(np.repeat(np.asarray(adjacency, np.float32), chains, axis=0), model, rng)
    table.begin(np.tile(np.arange(chains) % 2 == 1, B))
    best, score = table.labels.copy(), table.log_joint()
    kept_sweeps = set(np.linspace(sweeps // 2, sweeps - 1, keep).astype(int).tolist())
    kept = []
    for sweep in range(sweeps):
        table.sweep()
        if sweep in kept_sweeps:
            kept.append(table.labels.copy())
        found = table.log_joint()
        better = found > score
        best[better], score = table.labels[better], np.maximum(found, score)
    by_graph = score.reshape(B, chains)
    winners = best.reshape(B, chains, N)[np.arange(B), by_graph.argmax(axis=1)]
    draws = np.array(kept, dtype=np.intp).reshape(len(kept), B, chains, N).transpose(1, 0, 2, 3)
    return Run(draws.reshape(B, len(kept) * chains, N), winners, by_graph.max(axis=1))


@dataclass
class _Table:
    """The state of R chains: labels, sizes of blocks, and edges between them."""

    adjacency: NDArray[np.float32]
    model: BlockModel
    rng: np.random.Generator
    labels: Ints = field(init=False)

    def __post_init__(self) -> None:
        R, N, _ = self.adjacency.shape
        self.rows = np.arange(R)
        self.labels = np.full((R, N), -1)
        self.member = np.zeros((R, N, FIRST_SLOTS), dtype=np.float32)
        self.size = np.zeros((R, FIRST_SLOTS), dtype=np.intp)
        self.edges = np.zeros((R, FIRST_SLOTS, FIRST_SLOTS), dtype=np.intp)
        most = sum(self.model.within) + sum(self.model.between) + N * N
        self.log_gamma = np.concatenate([[0.0], gammaln(np.arange(1, most))])
        self.log_size = np.log(np.maximum(np.arange(N + 2), 1))

    def begin(self, as_one: NDArray[np.bool_]) -> None:
        """Place the nodes one after the other, or all in one block."""
        for i in self.rng.permutation(self.labels.shape[1]):
            self._place(i, np.where(as_one, 0, -1))

    def sweep(self) -> None:
        """Take each node out and place it again, in a random order."""
        for i in self.rng.permutation(self.labels.shape[1]):
            self._change(i, self.labels[:, i], -1)
            self._place(i, np.full(len(self.rows), -1))

    def log_joint(self) -> Floats:
        """(R,) log p(grouping, graph)."""
        used = self.size > 0
        arrange = np.where(
            used, self.log_gamma[np.maximum(self.size, 1)] + np.log(self.model.alpha), 0.0
        ).sum(axis=1)
        total = np.log(self.model.alpha + np.arange(self.labels.shape[1])).sum()
        fit = self._log_beta(self.edges, self._pairs()) - self._log_beta(
            np.zeros_like(self.edges), np.zeros_like(self.edges)
        )
        both = fit.sum(axis=(1, 2)) + np.trace(fit, axis1=1, axis2=2)
        return np.asarray(arrange - total + both / 2)

    def _place(self, i: int, forced: Ints) -> None:
        S = self.size.shape[1]
        links = np.matmul(self.adjacency[:, i, None], self.member)[:, 0].astype(np.intp)  # (R, S)
        pairs, edges = self._pairs(), self.edges
        gain = self._log_beta(edges + links[:, None], pairs + self.size[:, None])
        scores = (gain - self._log_beta(edges, pairs)).sum(axis=2)  # (R, S)
        scores = scores + np.where(
            self.size > 0, self.log_size[self.size], np.log(self.model.alpha)
        )
        open_slots = self.size > 0
        open_slots[self.rows, open_slots.argmin(axis=1)] = True  # an empty one is the new block
        scores = np.where(open_slots, scores, -np.inf)
        choice = (scores + self.rng.gumbel(size=scores.shape)).argmax(axis=1)
        self.labels[:, i] = np.where(forced >= 0, forced, choice)
        self._change(i, self.labels[:, i], 1)
        if (self.size > 0).all(axis=1).any():
            self._grow(S)

    def _change(self, i: int, slot: Ints, by: int) -> None:
        if by < 0:
            self.member[self.rows, i, slot] = 0.0
        links = np.matmul(self.adjacency[:, i, None], self.member)[:, 0].astype(np.intp)
        own = links[self.rows, slot]
        self.edges[self.rows, slot] += by * links
        self.edges[self.rows, :, slot] += by * links
        self.edges[self.rows, slot, slot] -= by * own  # edges within count once
        self.size[self.rows, slot] += by
        if by > 0:
            self.member[self.rows, i, slot] = 1.0

    def _pairs(self) -> Ints:
        """(R, S, S) pairs of nodes between and within blocks."""
        pairs = self.size[:, :, None] * self.size[:, None]
        slots = np.arange(self.size.shape[1])
        pairs[:, slots, slots] = self.size * (self.size - 1) // 2
        return pairs

    def _log_beta(self, edges: Ints, pairs: Ints) -> Floats:
        """Log of Beta functions, with the law of blocks on the diagonal."""
        own = np.eye(self.size.shape[1], dtype=bool)
        (a1, b1), (a2, b2) = self.model.within, self.model.between
        a, b = np.where(own, a1, a2) + edges, np.where(own, b1, b2) + pairs - edges
        return np.asarray(self.log_gamma[a] + self.log_gamma[b] - self.log_gamma[a + b])

    def _grow(self, by: int) -> None:
        self.member = np.pad(self.member, ((0, 0), (0, 0), (0, by)))
        self.size = np.pad(self.size, ((0, 0), (0, by)))
        self.edges = np.pad(self.edges, ((0, 0), (0, by), (0, by)))
