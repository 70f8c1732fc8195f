"""Generators: data sets whose grouping is known, drawn on the device as training goes.

All randomness comes from the generator that is passed in, nothing waits for the device, and shapes
depend on the arguments only: a training step that contains a draw can be recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, Self

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.priors import CRP, Prior, between
from samekind.errors import InputError


class Episode(NamedTuple):
    """A batch of data sets: `x` (B, N, ...) or whatever the encoder reads, labels, and a mask.

    Labels (B, N) are in order of first appearance; points come in random order; `mask` (B, N) is
    False in the padding, and in all of a data set that has too many groups to be used.
    """

    x: Any
    labels: Tensor
    mask: Tensor


class Generator(Protocol):
    """Draws batches of data sets."""

    @property
    def points(self) -> tuple[int, int]:
        """Smallest and largest number of points of a data set, both included."""
        ...

    @property
    def max_groups(self) -> int:
        """Data sets with more groups are blanked."""
        ...

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch, on the generator's device, padded to the largest size.

        `points` narrows the sizes: training draws small and large data sets in different batches,
        so that little is padding.
        """
        ...


class Grouping(NamedTuple):
    """Labels (B, N) and mask (B, N) of a batch whose points are still to be drawn."""

    labels: Tensor
    mask: Tensor


def draw_grouping(
    prior: Prior,
    batch: int,
    points: tuple[int, int],
    max_groups: int,
    generator: torch.Generator,
) -> Grouping:
    """Groupings of a random number of points each; those with too many groups are blanked."""
    low, high = points
    labels = prior.draw(batch, high, generator)
    size = torch.rand(batch, 1, generator=generator, device=labels.device) * (high - low + 1) + low
    mask = torch.arange(high, device=labels.device) < size.long()
    labels = relabel(labels, mask)
    usable = labels.amax(1, keepdim=True) < max_groups
    return Grouping(torch.where(usable, labels, 0), mask & usable)


def checked_points(points: tuple[int, int] | None, all_points: tuple[int, int]) -> tuple[int, int]:
    """Check that data sets of these sizes can be drawn."""
    low, high = points or all_points
    if not 1 <= low <= high:
        raise InputError(
            f"Expected a smallest and a largest number of points, both at least 1, got {low} and "
            f"{high}."
        )
    return low, high


@dataclass(frozen=True)
class GaussianMixtures:
    """Mixtures of Gaussians in d dimensions.

    Parameters
    ----------
    dim : numbers per point (2 to 64).
    prior : of the grouping.
    points : smallest and largest number of points.
    spread : standard deviation of the centres; a pair is drawn from for each data set.
    fade : each axis has centres so much less spread than the one before, as after PCA; a pair is
        drawn from for each data set.
    scale : standard deviation of the points around them; a pair is drawn from for each data set,
        group, or group and axis, by `scales`.
    active : smallest and largest number of dimensions in which points differ; the rest is zero,
        as after padding a small data set. None: all.
    rotate : turn each group at random, so that unequal axes point anywhere.
    centre : ``none``; ``median`` or ``mean`` moves it to zero; ``standard`` also divides by the
        standard deviation, of each axis; ``whole`` by that of all axes together.

    >>> episode = GaussianMixtures().draw(3, torch.Generator().manual_seed(0))
    >>> episode.x.shape, episode.labels.shape
    (torch.Size([3, 99, 2]), torch.Size([3, 99]))
    """

    dim: int = 2
    prior: Prior = CRP(0.7)  # noqa: RUF009 - a frozen value
    points: tuple[int, int] = (5, 99)
    max_groups: int = 16
    spread: float | tuple[float, float] = 10.0
    fade: float | tuple[float, float] = 1.0
    scale: float | tuple[float, float] = 1.0
    scales: Literal["set", "group", "axis"] = "set"
    active: tuple[int, int] | None = None
    rotate: bool = False
    centre: Literal["none", "median", "mean", "standard", "whole"] = "none"

    @classmethod
    def pytorch_like(cls) -> Self:
        """The published PyTorch program's: unit scale, 5 to 99 points, centred by the median."""
        return cls(centre="median")

    @classmethod
    def tf2_like(cls) -> Self:
        """The TF2 demo's: 50 to 199 points, own scale on each axis, standardised."""
        return cls(
            prior=CRP(0.8), points=(50, 199), max_groups=20, scale=(0.5, 2.0), scales="axis",
            centre="standard",
        )  # fmt: skip

    def of_size(self, low: int, high: int) -> Self:
        """The same with other numbers of points."""
        return replace(self, points=(low, high))

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch; see :class:`Generator`."""
        sizes = checked_points(points, self.points)
        labels, mask = draw_grouping(self.prior, batch, sizes, self.max_groups, generator)
        K, d, device = self.max_groups, self.dim, generator.device

        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, device=device)

        fade = between(self.fade, (batch, 1, 1), generator) ** torch.arange(d, device=device)
        centres = normal(batch, K, d) * between(self.spread, (batch, 1, 1), generator) * fade
        by = {"set": (batch, 1, 1), "group": (batch, K, 1), "axis": (batch, K, d)}[self.scales]
        scale = between(self.scale, by, generator).expand(batch, K, d)
        noise = normal(batch, sizes[1], d) * of_group(scale, labels)
        if self.rotate:
            for _ in range(3):
                noise = reflected(noise, of_group(normal(batch, K, d), labels))
        x = of_group(centres, labels) + noise
        if self.active is not None:
            x = x * self._active_axes(batch, generator)
        return Episode(centred(x, mask, self.centre), labels, mask)

    def _active_axes(self, batch: int, generator: torch.Generator) -> Tensor:
        """(batch, 1, d) one for the first few axes, zero for the others."""
        low, high = self.active or (self.dim, self.dim)
        uniform = torch.rand(batch, 1, 1, generator=generator, device=generator.device)
        count = low + (uniform * (high - low + 1)).floor()
        return (torch.arange(self.dim, device=generator.device) < count).float()


def centred(x: Tensor, mask: Tensor, how: str) -> Tensor:
    """Points (B, N, d) moved, and perhaps scaled, by what they are together; padding is zero."""
    there = mask[..., None]
    n = mask.sum(1)[:, None, None].clamp_min(1)
    if how == "median":
        in_order = torch.where(there, x, torch.inf).sort(dim=1).values
        middle = (n - 1).div(2, rounding_mode="floor").expand(-1, 1, x.shape[2])
        x = x - torch.where(mask.any(1)[:, None, None], in_order.gather(1, middle), 0.0)
    elif how in ("mean", "standard", "whole"):
        x = x - torch.where(there, x, 0.0).sum(1, keepdim=True) / n
        variance = torch.where(there, x, 0.0).square().sum(1, keepdim=True) / n
        if how == "whole":
            variance = variance.mean(2, keepdim=True)
        if how != "mean":
            x = x / torch.where(variance > 1e-12, variance, 1.0).sqrt()
    elif how != "none":
        raise InputError(
            f"Expected centre to be none, median, mean, standard or whole, got {how!r}."
        )
    return torch.where(there, x, 0.0)


def of_group(values: Tensor, labels: Tensor) -> Tensor:
    """(B, K, d) values of groups as (B, N, d) values of their members."""
    return torch.take_along_dim(values, labels[..., None], dim=1)


def reflected(x: Tensor, across: Tensor) -> Tensor:
    """Mirrored at the plane orthogonal to `across`; some mirrors one after the other turn."""
    unit = torch.nn.functional.normalize(across, dim=-1)
    return x - 2 * (x * unit).sum(-1, keepdim=True) * unit
