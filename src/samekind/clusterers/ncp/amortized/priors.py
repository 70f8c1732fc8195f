"""Priors over groupings, drawn for a whole batch at once: CRP and mixtures of finite mixtures.

Both are urns: a point copies an earlier point, chosen at random, or draws something new. So all
points choose whom to copy at once, and the chains of copies are followed by doubling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.errors import InputError


class Prior(Protocol):
    """A distribution of groupings."""

    def draw(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """(batch, n) labels in order of first appearance, on the generator's device."""
        ...


@dataclass(frozen=True)
class CRP:
    """Chinese restaurant process: point n opens a new group with probability alpha / (n + alpha).

    Parameters
    ----------
    alpha : larger means more groups. Two values: drawn between them for each data set, evenly on
        a logarithmic scale.

    >>> labels = CRP(0.7).draw(2, 5, torch.Generator().manual_seed(0))
    >>> labels.shape, int(labels[:, 0].max())
    (torch.Size([2, 5]), 0)
    """

    alpha: float | tuple[float, float] = 0.7

    def draw(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """Labels of `batch` data sets; n points of one are also a draw of fewer points."""
        alpha = between(self.alpha, (batch, 1), generator)
        root = _roots(alpha, n, generator)
        is_first = root == torch.arange(n, device=root.device)
        return (is_first.cumsum(1) - 1).gather(1, root)

    def moments(self, n: int) -> tuple[float, float]:
        """Mean and variance of the number of groups among n points, for one alpha."""
        opens = self._opening(n)
        return sum(opens), sum(p * (1 - p) for p in opens)

    def n_groups_distribution(self, n: int) -> list[float]:
        """Probability of 0, 1, ..., n groups among n points, for one alpha."""
        chances = [1.0]
        for new in self._opening(n):
            chances = [
                (chances[k] * (1 - new) if k < len(chances) else 0.0)
                + (chances[k - 1] * new if k else 0.0)
                for k in range(len(chances) + 1)
            ]
        return chances

    def _opening(self, n: int) -> list[float]:
        """(n,) probability that each point opens a group."""
        if isinstance(self.alpha, tuple):
            raise InputError(f"Expected one alpha, got the range {self.alpha}.")
        return [self.alpha / (self.alpha + i) for i in range(n)]


@dataclass(frozen=True)
class MFM:
    """Mixture of finite mixtures: the number of kinds does not grow with the number of points.

    Parameters
    ----------
    rate : kinds are 1 + Poisson(rate).
    gamma : of the symmetric Dirichlet distribution of their weights; small means uneven groups.
        Two values: drawn between them for each data set.
    most : largest number of kinds; the distribution is cut off there.
    """

    rate: float = 2.0
    gamma: float | tuple[float, float] = 1.0
    most: int = 12

    def draw(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """Labels; kinds without a point are dropped."""
        device = generator.device
        kinds = torch.ones(batch, 1, device=device)
        uniform = torch.rand(batch, 1, generator=generator, device=device)
        for level in self._levels():
            kinds = kinds + (uniform > level)
        # Dirichlet weights and independent labels, weights integrated out: an urn.
        root = _roots(kinds * between(self.gamma, (batch, 1), generator), n, generator)
        fresh = torch.rand(batch, n, generator=generator, device=device) * kinds
        kind = fresh.floor().long().clamp_max(self.most - 1).gather(1, root)
        if n < self.most:  # names must be below n to be renamed
            kind = (kind[:, :, None] == kind[:, None]).int().argmax(2)
        return relabel(kind)

    def _levels(self) -> list[float]:
        chances = [math.exp(k * math.log(self.rate) - math.lgamma(k + 1)) for k in range(self.most)]
        return [sum(chances[: k + 1]) / sum(chances) for k in range(self.most - 1)]


@dataclass(frozen=True)
class EvenKinds(MFM):
    """All numbers of kinds up to `most` are equally likely."""

    gamma: float | tuple[float, float] = 3.0

    def _levels(self) -> list[float]:
        return [(k + 1) / self.most for k in range(self.most - 1)]


@dataclass(frozen=True)
class MixedPrior:
    """Each data set from one of two priors, with probability `share` from the first."""

    first: Prior
    second: Prior
    share: float = 0.5

    def draw(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """Labels of `batch` data sets."""
        of_first = torch.rand(batch, 1, generator=generator, device=generator.device) < self.share
        first, second = (prior.draw(batch, n, generator) for prior in (self.first, self.second))
        return torch.where(of_first, first, second)


def between(
    value: float | tuple[float, float], shape: tuple[int, ...], generator: torch.Generator
) -> Tensor:
    """One value for all, or one drawn evenly on a logarithmic scale between two for each."""
    if not isinstance(value, tuple):
        return torch.full(shape, float(value), device=generator.device)
    low, high = (math.log(v) for v in value)
    uniform = torch.rand(shape, generator=generator, device=generator.device)
    return (low + (high - low) * uniform).exp()


def _roots(alpha: Tensor, n: int, generator: torch.Generator) -> Tensor:
    """(B, n) the point that each copies in the end; itself if it draws something new."""
    shape, device = (len(alpha), n), generator.device
    place = torch.arange(n, device=device).expand(shape)
    new = torch.rand(shape, generator=generator, device=device) * (place + alpha) < alpha
    uniform = torch.rand(shape, generator=generator, device=device)
    copied = torch.minimum((uniform * place).long(), (place - 1).clamp_min(0))
    parent = torch.where(new | (place == 0), place, copied)
    for _ in range(max(1, n - 1).bit_length()):
        parent = parent.gather(1, parent)
    return parent
