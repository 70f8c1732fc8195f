"""Collapsed Gibbs sampling for Dirichlet-process Gaussians: the long run that others are held to.

The model is the one that the data come from, and it is known here in full: CRP(alpha), centres
N(0, spread^2 I), points N(centre, scale^2 I). Centres are integrated out. Where each group has a
scale of its own, it is integrated over a list of equally probable values. Data sets and chains
are rows of one table, so that one step of numpy moves one point in all of them.
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
"""Room for groups at the beginning; it doubles when it is full."""


@dataclass(frozen=True)
class Model:
    """What the sampler knows: `scales` are the equally probable scales of a group."""

    alpha: float = 0.7
    spread: float = 10.0
    scales: tuple[float, ...] = (1.0,)

    @classmethod
    def log_uniform(
        cls, alpha: float, spread: float, low: float, high: float, n: int = 12
    ) -> Model:
        """Scales of groups are log-uniform between two values, seen as the middles of n parts."""
        ends = np.linspace(np.log(low), np.log(high), n + 1)
        return cls(alpha, spread, tuple(np.exp((ends[1:] + ends[:-1]) / 2).tolist()))


class Run(NamedTuple):
    """What a run found, by data set (B) and point (N)."""

    best: Ints
    """(B, N) the most probable grouping that any chain visited."""
    log_joint: Floats
    """(B,) log of its joint probability with the data."""
    together: Floats | None
    """(B, N, N) how often two points were in one group, in the second half of all chains."""
    spread: Floats
    """(B,) difference between the best log-probabilities of the chains: 0 where they agree."""
    draws: Ints
    """(B, S, N) states of all chains, spread evenly over the second half of the run."""
    n_groups: Ints
    """(B, chains, sweeps) number of groups after each sweep."""


def sample(
    x: Floats,
    model: Model,
    rng: np.random.Generator,
    *,
    sweeps: int = 200,
    chains: int = 4,
    pairs: bool = False,
    keep: int = 0,
) -> Run:
    """Run chains on each of the data sets (B, N, d); `pairs` also counts who is with whom.

    Even chains begin by placing points one after the other, odd ones with one group of all. Of
    each chain `keep` states are kept.
    """
    B, N, _ = x.shape
    table = _Table(np.repeat(np.asarray(x, np.float64), chains, axis=0), model, rng)
    table.begin(np.tile(np.arange(chains) % 2 == 1, B))
    best, score = table.labels.copy(), table.log_joint()
    together = np.zeros((B, N, N)) if pairs else None
    kept_sweeps = set(np.linspace(sweeps // 2, sweeps - 1, keep).astype(int).tolist())
    kept, counts = [], []
    for sweep in range(sweeps):
        table.sweep()
        counts.append((table.size > 0).sum(axis=1))
        if sweep in kept_sweeps:
            kept.append(table.labels.copy())
        found = table.log_joint()
        better = found > score
        best[better], score = table.labels[better], np.maximum(found, score)
        if together is not None and sweep >= sweeps // 2:
            same = table.labels[:, :, None] == table.labels[:, None]
            together += same.reshape(B, chains, N, N).mean(axis=1) / (sweeps - sweeps // 2)
    by_set = score.reshape(B, chains)
    first = by_set.argmax(axis=1)
    winners = best.reshape(B, chains, N)[np.arange(B), first]
    draws = np.array(kept, dtype=np.intp).reshape(len(kept), B, chains, N).transpose(1, 0, 2, 3)
    n_groups = np.array(counts, dtype=np.intp).reshape(sweeps, B, chains).transpose(1, 2, 0)
    return Run(
        winners, by_set.max(axis=1), together, np.ptp(by_set, axis=1),
        draws.reshape(B, len(kept) * chains, N), n_groups,
    )  # fmt: skip


def log_joint(x: Floats, labels: Ints, model: Model) -> Floats:
    """(P,) log p(grouping, points) of groupings (P, N) of the points (N, d)."""
    table = _Table(np.repeat(np.asarray(x, np.float64)[None], len(labels), axis=0), model,
                   np.random.default_rng(0))  # fmt: skip
    for i in range(labels.shape[1]):
        table._place(i, labels[:, i])
    return table.log_joint()


@dataclass
class _Table:
    """The state of R chains: labels, and of each group its size, sum and squares."""

    x: Floats
    model: Model
    rng: np.random.Generator
    labels: Ints = field(init=False)

    def __post_init__(self) -> None:
        R, N, d = self.x.shape
        self.rows = np.arange(R)
        self.labels = np.full((R, N), -1)
        self.size = np.zeros((R, FIRST_SLOTS), dtype=np.intp)
        self.sums = np.zeros((R, FIRST_SLOTS, d))
        self.squares = np.zeros((R, FIRST_SLOTS))
        self.fit = np.zeros((R, FIRST_SLOTS))  # log-likelihood of each group
        self.x2 = (self.x**2).sum(axis=2)
        m, s2 = np.arange(N + 2)[:, None], np.array(self.model.scales) ** 2
        l2 = self.model.spread**2
        # By size m and scale: what does not depend on the points, and the weight of |sum|^2.
        self.constant = -0.5 * d * (m * np.log(2 * np.pi * s2) + np.log1p(m * l2 / s2))
        self.pull = l2 / (s2 * (s2 + m * l2))
        self.inverse = 1 / s2
        self.log_size = np.log(np.maximum(np.arange(N + 2), 1))

    def begin(self, as_one: NDArray[np.bool_]) -> None:
        """Place the points one after the other, or all in one group."""
        for i in self.rng.permutation(self.x.shape[1]):
            self._place(i, np.where(as_one, 0, -1))

    def sweep(self) -> None:
        """Take each point out and place it again, in a random order."""
        for i in self.rng.permutation(self.x.shape[1]):
            self._change(i, self.labels[:, i], -1)
            self._place(i, np.full(len(self.rows), -1))

    def log_joint(self) -> Floats:
        """(R,) log p(grouping, data)."""
        used = self.size > 0
        arrange = np.where(used, gammaln(np.maximum(self.size, 1)) + np.log(self.model.alpha), 0.0)
        total = np.log(self.model.alpha + np.arange(self.x.shape[1])).sum()
        return np.asarray((arrange + self.fit).sum(axis=1) - total)

    def _place(self, i: int, forced: Ints) -> None:
        size = self.size
        open_slots = size > 0
        first = open_slots.argmin(axis=1)
        open_slots[self.rows, first] = True  # one of the empty slots is the new group
        at = r, _ = np.nonzero(open_slots)  # most slots are empty: only the others are computed
        m = size[at]
        new = self._fit(m + 1, self.sums[at] + self.x[r, i], self.squares[at] + self.x2[r, i])
        log_prior = np.where(m > 0, self.log_size[m], np.log(self.model.alpha))
        scores = np.full(size.shape, -np.inf)
        scores[at] = new - self.fit[at] + log_prior
        choice = (scores + self.rng.gumbel(size=scores.shape)).argmax(axis=1)
        choice = np.where(forced >= 0, forced, choice)
        self.labels[:, i] = choice
        self._change(i, choice, 1)
        if (self.size > 0).all(axis=1).any():
            self._grow()

    def _change(self, i: int, slot: Ints, by: int) -> None:
        at = (self.rows, slot)
        self.size[at] += by
        self.sums[at] += by * self.x[:, i]
        self.squares[at] += by * self.x2[:, i]
        gone = self.size[at] == 0  # rounding must not be left behind
        self.sums[self.rows[gone], slot[gone]] = 0.0
        self.squares[self.rows[gone], slot[gone]] = 0.0
        self.fit[at] = self._fit(self.size[at], self.sums[at], self.squares[at])

    def _fit(self, size: Ints, sums: Floats, squares: Floats) -> Floats:
        """Log-likelihood of groups by their sums, centres and scales integrated out."""
        pulled = self.pull[size] * (sums**2).sum(axis=-1)[..., None]
        values = self.constant[size] - 0.5 * (squares[..., None] * self.inverse - pulled)
        if values.shape[-1] == 1:
            return np.asarray(values[..., 0])
        top = values.max(axis=-1)
        return np.asarray(top + np.log(np.exp(values - top[..., None]).mean(axis=-1)))

    def _grow(self) -> None:
        for name in ("size", "sums", "squares", "fit"):
            table = getattr(self, name)
            setattr(self, name, np.concatenate([table, np.zeros_like(table)], axis=1))
