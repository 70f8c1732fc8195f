"""Distortions: other images of the same kind, made on the device as training goes.

Each image of a batch is distorted by itself. All randomness comes from the generator that is
passed in, and nothing waits for the device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, interpolate, max_pool2d


class Distortion(Protocol):
    """Makes other images of the same kinds."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """(M, channels, height, width) from 0 to 1, to the same shape and range."""
        ...


@dataclass(frozen=True)
class Strokes:
    """For drawn signs: bent, slanted, stretched and moved, with thicker or thinner strokes.

    Parameters
    ----------
    turn : largest angle in degrees.
    slant : largest shear.
    stretch : each side is scaled by up to this factor, or its inverse.
    shift : largest move, as a part of the side.
    bend : standard deviation of a smooth displacement, as a part of the side.
    stroke : how far strokes grow (1: by a pixel on each side) or, half as far, shrink.
    noise : largest standard deviation of noise.
    """

    turn: float = 15.0
    slant: float = 0.3
    stretch: float = 1.3
    shift: float = 0.08
    bend: float = 0.04
    stroke: float = 1.0
    noise: float = 0.1

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """(M, channels, height, width) distorted."""
        count = len(images)

        def even(largest: float, *shape: int) -> Tensor:
            values = torch.rand(count, *shape, generator=generator, device=images.device)
            return (2 * values - 1) * largest

        factor = math.log(self.stretch)
        found = _moved(
            images, even(math.radians(self.turn)), even(self.slant),
            even(factor, 2).exp(), 2 * even(self.shift, 2),
            _bends(images, self.bend, generator),
        )  # fmt: skip
        amount = even(self.stroke, 1, 1, 1)
        thick = max_pool2d(found, 3, stride=1, padding=1)
        thin = -max_pool2d(-found, 3, stride=1, padding=1)
        found = torch.where(
            amount > 0, torch.lerp(found, thick, amount.clamp(0, 1)),
            torch.lerp(found, thin, (-amount / 2).clamp(0, 1)),
        )  # fmt: skip
        # Small drawings lose their brightest pixels when they are scaled.
        found = found / found.amax((1, 2, 3), keepdim=True).clamp_min(0.2)
        return _noisy(found, even(self.noise, 1, 1, 1).abs(), generator)


@dataclass(frozen=True)
class Photos:
    """For photographs: mirrored, cut to a part, and in other light.

    Parameters
    ----------
    turn : largest angle in degrees.
    part : smallest part of each side that is kept.
    light : largest change of brightness, contrast (as a factor) and of each colour.
    """

    turn: float = 8.0
    part: float = 0.7
    light: float = 0.2

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """(M, channels, height, width) distorted."""
        count, channels = images.shape[:2]

        def even(largest: float, *shape: int) -> Tensor:
            values = torch.rand(count, *shape, generator=generator, device=images.device)
            return (2 * values - 1) * largest

        kept = 1 - even(1 - self.part, 1).abs()
        side = torch.where(even(1.0, 1) > 0, 1.0, -1.0)
        stretch = torch.cat([kept * side, kept], 1)
        zero = torch.zeros(count, device=images.device)
        found = _moved(
            images, even(math.radians(self.turn)), zero, stretch, even(1.0, 2) * (1 - kept), None
        )
        light = even(self.light, 1, 1, 1) + even(self.light / 2, channels, 1, 1)
        middle = found.mean((1, 2, 3), keepdim=True)
        contrast = (2 * even(self.light, 1, 1, 1)).exp()
        return ((found - middle) * contrast + middle + light).clamp(0, 1)


def _moved(
    images: Tensor, angle: Tensor, slant: Tensor, scale: Tensor, shift: Tensor, bend: Tensor | None
) -> Tensor:
    """Images looked up at turned, slanted, scaled, shifted and bent places."""
    cos, sin = angle.cos(), angle.sin()
    turned = torch.stack([torch.stack([cos, -sin], 1), torch.stack([sin, cos], 1)], 1)
    slanted = torch.zeros_like(turned)
    slanted[:, 0, 0] = slanted[:, 1, 1] = 1.0
    slanted[:, 0, 1] = slant
    matrix = turned @ slanted * scale[:, None]
    grid = affine_grid(torch.cat([matrix, shift[..., None]], 2), list(images.shape), False)
    if bend is not None:
        grid = grid + bend
    how: Any = {"mode": "bilinear", "padding_mode": "zeros" if bend is not None else "reflection"}
    return grid_sample(images, grid, align_corners=False, **how)


def _bends(images: Tensor, size: float, generator: torch.Generator) -> Tensor:
    """(M, height, width, 2) smooth displacements, coarse and finer ones."""
    count, height, width = len(images), *images.shape[2:]
    total = torch.zeros(count, 2, height, width, device=images.device)
    for knots, share in ((4, 1.0), (7, 0.5)):
        rough = torch.randn(count, 2, knots, knots, generator=generator, device=images.device)
        total = total + share * interpolate(
            rough, size=(height, width), mode="bicubic", align_corners=True
        )
    return 2 * size * total.permute(0, 2, 3, 1)


def _noisy(images: Tensor, size: Tensor, generator: torch.Generator) -> Tensor:
    noise = torch.randn(images.shape, generator=generator, device=images.device)
    return (images + size * noise).clamp(0, 1)
