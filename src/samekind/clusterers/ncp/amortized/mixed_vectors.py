"""Training data of the shipped weights: groups of vectors of many sizes, widths and shapes.

Each data set has a law of its own: how its grouping was drawn, how many dimensions it has, how far
apart groups are, how unequal their widths, and whether noise is round, stretched along the axes,
stretched anywhere, or has heavy tails. A network trained on all of them infers which one it sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.generators import (
    Episode,
    checked_points,
    draw_grouping,
    of_group,
    reflected,
)
from samekind.clusterers.ncp.amortized.priors import CRP, EvenKinds, MixedPrior, between

MOST_FREEDOM = 10
"""Largest number of degrees of freedom of heavy tails; more can hardly be told from a Gaussian."""


@dataclass(frozen=True)
class MixedVectors:
    """Data sets that differ in their grouping, dimension, distances, widths and shape of noise.

    How far groups are apart is measured in their own width, whatever the dimension: ten dimensions
    in each of which groups hardly differ tell as much as one in which they differ clearly.

    Parameters
    ----------
    dim : largest number of dimensions; each data set has one to so many, or two.
    kinds : largest number of groups.
    points : smallest and largest number of points.
    apart : typical distance of two centres, in standard deviations along an axis; drawn between.
    fade : centres differ so much less on each further axis; drawn between.
    uneven : largest ratio of the widths of groups; each data set has one between 1 and this.
    stretched : the same for the axes of a group, where noise is not round.
    plane : share of data sets in two dimensions.
    round : share of data sets with round groups; the others are stretched along the axes (one
        third) or anywhere.
    heavy : share of data sets with heavy tails (Student's t, 3 to 10 degrees of freedom).
    growing : share of data sets whose number of groups grows with their points (CRP); the others
        are finite mixtures.
    """

    dim: int = 16
    kinds: int = 20
    points: tuple[int, int] = (4, 500)
    apart: tuple[float, float] = (3.0, 40.0)
    fade: tuple[float, float] = (0.6, 1.0)
    uneven: float = 6.0
    stretched: float = 6.0
    plane: float = 0.4
    round: float = 0.5
    heavy: float = 0.15
    growing: float = 0.6

    @property
    def max_groups(self) -> int:
        """Data sets with more groups are blanked."""
        return self.kinds

    @property
    def prior(self) -> MixedPrior:
        """Of the grouping: CRP, or finite mixtures with uneven to equal sizes."""
        finite = EvenKinds(most=min(16, self.kinds), gamma=(0.5, 30.0))
        return MixedPrior(CRP((0.3, 2.0)), finite, share=self.growing)

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch; nothing waits for the device, so it can be recorded."""
        low, high = checked_points(points, self.points)
        labels, mask = draw_grouping(self.prior, batch, (low, high), self.kinds, generator)
        there = self._axes(batch, generator)
        x = of_group(self._centres(there, generator), labels)
        x = x + self._noise(there, labels, generator)
        return Episode(torch.where(mask[..., None], x, 0.0), labels, mask)

    def _axes(self, batch: int, generator: torch.Generator) -> Tensor:
        """(B, 1, d) one for the axes in which points differ."""
        count = 1 + (self._uniform(generator, batch, 1, 1) * self.dim).floor()
        count = torch.where(self._uniform(generator, batch, 1, 1) < self.plane, 2.0, count)
        return (torch.arange(self.dim, device=generator.device) < count).float()

    def _centres(self, there: Tensor, generator: torch.Generator) -> Tensor:
        """(B, K, d)"""
        B, _, d = there.shape
        axis = torch.arange(d, device=generator.device)
        fade = between(self.fade, (B, 1, 1), generator) ** axis * there
        apart = between(self.apart, (B, 1, 1), generator)
        centres = self._normal(generator, B, self.kinds, d) * fade * apart
        return centres / (2 * fade.square().sum(2, keepdim=True)).sqrt()

    def _noise(self, there: Tensor, labels: Tensor, generator: torch.Generator) -> Tensor:
        """(B, N, d)"""
        (B, N), K, d = labels.shape, self.kinds, self.dim
        shape = self._uniform(generator, B, 1, 1)
        stretch = between((1.0, self.stretched), (B, 1, 1), generator)
        stretch = torch.where(shape < self.round, 1.0, stretch)
        ratio = between((1.0, self.uneven), (B, 1, 1), generator)
        # A width between ratio ** -1/2 and ratio ** 1/2 for each group, and so for its axes.
        width = ratio ** (self._uniform(generator, B, K, 1) - 0.5)
        width = width * stretch ** (self._uniform(generator, B, K, d) - 0.5)
        noise = self._normal(generator, B, N, d) * of_group(width * there, labels)
        turned = noise
        for _ in range(3):  # mirrors, one after the other, turn each group another way
            turned = reflected(turned, of_group(self._normal(generator, B, K, d) * there, labels))
        anywhere = shape > self.round + (1 - self.round) / 3
        return torch.where(anywhere, turned, noise) * self._tails(B, N, generator)

    def _tails(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """(B, N, 1) by which noise is stretched: Student's t is a Gaussian of random width."""
        freedom = 3 + (self._uniform(generator, batch, 1, 1) * (MOST_FREEDOM - 2)).floor()
        counted = torch.arange(MOST_FREEDOM, device=generator.device) < freedom
        squares = self._normal(generator, batch, n, MOST_FREEDOM).square() * counted
        stretch = (freedom / squares.sum(2, keepdim=True).clamp_min(1e-6)).sqrt()
        return torch.where(self._uniform(generator, batch, 1, 1) < self.heavy, stretch, 1.0)

    @staticmethod
    def _uniform(generator: torch.Generator, *shape: int) -> Tensor:
        return torch.rand(shape, generator=generator, device=generator.device)

    @staticmethod
    def _normal(generator: torch.Generator, *shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=generator.device)


def general_vectors(
    points: tuple[int, int] = (4, 500), kinds: int = 20, dim: int = 16
) -> Calibrated:
    """Training data of the shipped weights: :class:`MixedVectors` on their principal axes."""
    return Calibrated(MixedVectors(points=points, kinds=kinds), dim)


def plane_vectors(points: tuple[int, int] = (4, 500), kinds: int = 20, dim: int = 16) -> Calibrated:
    """Training data of the weights for the plane: two dimensions, most groups round.

    Of points in the plane far more is plausible beforehand than of vectors in general, above all
    that groups are round and their number grows with the points.
    """
    law = MixedVectors(
        points=points, kinds=kinds, plane=1.0, uneven=4.0, round=0.8, heavy=0.05, growing=0.8
    )
    return Calibrated(law, dim)
