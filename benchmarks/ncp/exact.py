"""The exact posterior of a Dirichlet-process Gaussian mixture, for a handful of points.

All groupings are listed, so this is the truth that a trained network is measured against. Centres
are N(0, spread^2) and integrated out; points are N(centre, scale^2); the grouping is a CRP(alpha).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from samekind.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class DirichletGaussians:
    """The model: CRP(alpha), centres N(0, spread^2 I), points N(centre, scale^2 I)."""

    alpha: float = 0.7
    scale: float = 1.0
    spread: float = 10.0

    def posterior(self, x: Floats) -> ExactPosterior:
        """The posterior over all groupings of points (n, d), n <= 8; or of many sets (B, n, d)."""
        x = np.asarray(x, dtype=np.float64)
        many = x[None] if x.ndim == 2 else x
        if many.ndim != 3 or not 1 <= many.shape[1] <= 8:
            raise InputError(
                f"Expected 1 to 8 points (n, d), or sets of them (B, n, d), got shape {x.shape}."
            )
        rows = all_partitions(many.shape[1])
        blocks = self._log_blocks(many)[:, _block_codes(rows)].sum(2)  # (B, P)
        log_joint = self.log_prior(rows) + blocks
        evidence = logsumexp(log_joint, axis=1)
        found = log_joint - evidence[:, None]
        if x.ndim == 2:
            return ExactPosterior(rows, found[0], evidence[0])
        return ExactPosterior(rows, found, evidence)

    def log_prior(self, labels: Ints) -> Floats:
        """(P,) log-probability of groupings (P, n) under the CRP."""
        n = labels.shape[1]
        counts = (labels[:, :, None] == np.arange(n)).sum(axis=1)  # (P, n)
        used = counts > 0
        arrange = np.where(used, gammaln(np.maximum(counts, 1)), 0.0).sum(axis=1)
        total = np.log(self.alpha + np.arange(n)).sum()
        return np.asarray(used.sum(axis=1) * np.log(self.alpha) + arrange - total)

    def draw(
        self, batch: int, n: int, rng: np.random.Generator, dim: int = 2
    ) -> tuple[Floats, Ints]:
        """Data sets (batch, n, dim) from the model, and their true groupings (batch, n)."""
        labels = np.zeros((batch, n), dtype=np.intp)
        for i in range(1, n):
            new = rng.random(batch) * (i + self.alpha) < self.alpha
            copied = labels[np.arange(batch), rng.integers(0, i, batch)]
            labels[:, i] = np.where(new, labels[:, :i].max(axis=1) + 1, copied)
        centres = rng.normal(0, self.spread, (batch, n, dim))
        mine = np.take_along_axis(centres, labels[:, :, None], axis=1)
        return mine + rng.normal(0, self.scale, mine.shape), labels

    def _log_blocks(self, x: Floats) -> Floats:
        """(B, 2^n) log-likelihood of every set of points as one group, by its bits; 0 if empty."""
        n, d = x.shape[1:]
        bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1  # (2^n, n)
        m = bits.sum(axis=1)
        s2, l2 = self.scale**2, self.spread**2
        sums = np.einsum("cn,bnd->bcd", bits, x)
        squares = np.einsum("cn,bnd->bc", bits, x**2)
        fit = squares / s2 - l2 * (sums**2).sum(axis=2) / (s2 * (s2 + m * l2))
        size = -0.5 * m * np.log(2 * np.pi * s2) - 0.5 * np.log1p(m * l2 / s2)
        return np.asarray(d * size - 0.5 * fit)


@dataclass(frozen=True)
class ExactPosterior:
    """Every grouping with its probability, for one data set or (leading axis) many."""

    partitions: Ints
    """(P, n)"""
    log_prob: Floats
    """(P,) or (B, P)"""
    log_evidence: Floats

    @property
    def prob(self) -> Floats:
        """Probabilities of the groupings."""
        return np.asarray(np.exp(self.log_prob))

    def co_membership(self) -> Floats:
        """(..., n, n) probability that two points are in one group."""
        same = self.partitions[:, :, None] == self.partitions[:, None]
        return np.asarray(np.tensordot(self.prob, same.astype(np.float64), axes=(-1, 0)))

    def n_groups_distribution(self) -> Floats:
        """(..., n + 1) distribution of the number of groups."""
        n = self.partitions.shape[1]
        table = (self.partitions.max(axis=1) + 1)[:, None] == np.arange(n + 1)
        return np.asarray(self.prob @ table)

    def conditional(self, prefix: Ints) -> Floats:
        """(..., K + 1) distribution of the next label after the first few."""
        prefix = np.asarray(prefix, dtype=np.intp)
        n = len(prefix)
        fits = (self.partitions[:, :n] == prefix).all(axis=1)
        table = self.partitions[:, n][:, None] == np.arange(prefix.max() + 2)
        mass = self.prob @ (table & fits[:, None])
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))

    def log_prob_of(self, labels: Ints) -> Floats:
        """Log-probability of one grouping per data set: (n,) or (B, n)."""
        rows = np.atleast_2d(labels)
        n = rows.shape[1]
        codes = self.partitions @ (n ** np.arange(n)[::-1])  # ascending: listed in that order
        place = np.searchsorted(codes, rows @ (n ** np.arange(n)[::-1]))
        found = np.atleast_2d(self.log_prob)[np.arange(len(rows)), place]
        return np.asarray(found[0] if np.ndim(labels) == 1 else found)


def loss_floor(
    n: int, draws: int, seed: int, model: DirichletGaussians | None = None, dim: int = 2
) -> tuple[float, float]:
    """Mean and standard error of -log p(truth | x): the least loss that any network can reach."""
    model = model or DirichletGaussians()
    rng = np.random.default_rng(seed)
    values = []
    for begin in range(0, draws, 250):
        x, labels = model.draw(min(250, draws - begin), n, rng, dim)
        values.append(-model.posterior(x).log_prob_of(labels))
    all_values = np.concatenate(values)
    return float(all_values.mean()), float(all_values.std(ddof=1) / np.sqrt(draws))


def _block_codes(partitions: Ints) -> Ints:
    """(P, n) the members of each group as bits; 0 for groups that are not there."""
    n = partitions.shape[1]
    inside = partitions[:, None] == np.arange(n)[:, None]  # (P, group, n)
    return np.asarray(inside @ (1 << np.arange(n)))


MAX_LISTED_ITEMS = 10
"""Largest number of items whose groupings are listed: 115,975 of them."""


@cache
def all_partitions(n: int) -> NDArray[np.intp]:
    """(P, n) every grouping of n items once.

    >>> all_partitions(3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    if not 1 <= n <= MAX_LISTED_ITEMS:
        raise InputError(
            f"Expected 1 to {MAX_LISTED_ITEMS} items, got {n}. Sample groupings instead."
        )
    rows = np.zeros((1, 1), dtype=np.intp)
    for _ in range(n - 1):
        choices = rows.max(axis=1) + 2
        parent = np.repeat(np.arange(len(rows)), choices)
        begin = np.repeat(np.cumsum(choices) - choices, choices)
        rows = np.column_stack([rows[parent], np.arange(len(parent)) - begin])
    rows.setflags(write=False)
    return rows
