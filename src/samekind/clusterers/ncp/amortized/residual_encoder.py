"""A deeper encoder of small images, for kinds that look alike in pixels."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from samekind.clusterers.ncp.amortized.layers import reduced_precision

CHANNELS = 32
"""Channels at full resolution; each halving doubles them."""
STAGES = 3


class Residual(nn.Module):
    """Two convolutions whose result is added to what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(8, channels) for _ in range(2))
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(M, channels, height, width) to the same shape."""
        found = x
        for norm, convolution in zip(self.norms, self.convolutions, strict=True):
            found = convolution(gelu(norm(found)))
        return x + found


class ResidualEncoder(nn.Module):
    """Images (B, N, channels, height, width) to features (B, N, width).

    Nothing is shared between images (no batch norm): the features of an image depend on nothing but
    the image. On a GPU convolutions are computed in 16 bits.

    Parameters
    ----------
    channels : of the images.
    width : number of features.
    blocks : residual blocks at each of three resolutions.
    """

    def __init__(self, channels: int, width: int, blocks: int = 1) -> None:
        super().__init__()
        steps: list[nn.Module] = [nn.Conv2d(channels, CHANNELS, 3, padding=1, bias=False)]
        before = CHANNELS
        for stage in range(STAGES):
            after = CHANNELS << stage
            if stage:
                steps += [nn.GroupNorm(8, before), nn.Conv2d(before, after, 2, 2, bias=False)]
            steps += [Residual(after) for _ in range(blocks)]
            before = after
        self.net = nn.Sequential(*steps, nn.GroupNorm(8, before), nn.GELU())
        self.last = nn.Sequential(nn.Linear(4 * before, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Features of each image."""
        return self.each(x.flatten(0, 1)).view(*x.shape[:2], -1)

    def each(self, images: Tensor) -> Tensor:
        """(M, channels, height, width) to (M, width)."""
        with reduced_precision(images.device.type):
            seen = self.net(images.contiguous(memory_format=torch.channels_last))
        pooled = nn.functional.adaptive_avg_pool2d(seen.float(), 2).flatten(1)
        features: Tensor = self.last(pooled)
        return features
