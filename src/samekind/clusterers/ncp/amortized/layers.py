"""Layers that the networks of the process are made of, and encoders for points and images."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from samekind.errors import InputError


class PReLU(nn.PReLU):
    """PReLU with one slope, whose gradient on a CPU is several times quicker than torch's own."""

    def forward(self, input: Tensor) -> Tensor:
        """The same values; the same gradients, once."""
        if input.device.type != "cpu":
            return super().forward(input)
        found: Tensor = _OneSlope.apply(input, self.weight)  # type: ignore[no-untyped-call]
        return found


class _OneSlope(torch.autograd.Function):
    """Leaky ReLU whose slope is learnt; the slope is read on the host, so only for CPUs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.slope = float(slope)
        return leaky_relu(x, ctx.slope)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        (x,) = ctx.saved_tensors
        below = torch.dot(x.clamp(max=0).flatten(), gradient.flatten())
        back = torch.ops.aten.leaky_relu_backward(gradient, x, ctx.slope, False)
        return back, below.view(1)


ACTIVATIONS: dict[str, type[nn.Module]] = {"prelu": PReLU, "gelu": nn.GELU, "relu": nn.ReLU}


def mlp(sizes: Sequence[int], activation: str, *, last_bias: bool = True) -> nn.Sequential:
    """Linear layers from sizes[0] to sizes[-1] with activations between them."""
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise InputError(f"{activation!r} is not an activation here. Choose one of: {known}.")
    layers: list[nn.Module] = []
    for k, (before, after) in enumerate(pairwise(sizes)):
        is_last = k == len(sizes) - 2
        layers.append(nn.Linear(before, after, bias=last_bias or not is_last))
        if not is_last:
            layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)


class PointEncoder(nn.Module):
    """Points or frozen vectors (B, N, d) to features (B, N, width), each by itself."""

    def __init__(self, inputs: int, width: int, layers: int, activation: str) -> None:
        super().__init__()
        self.net = mlp([inputs, *[width] * layers], activation)
        self.last = ACTIVATIONS[activation]()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Features of each point."""
        features: Tensor = self.last(self.net(x))
        return features


class ImageEncoder(nn.Module):
    """Small images (B, N, channels, height, width) to features (B, N, width).

    No batch norm and no dropout: the features of an image depend on nothing but the image.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        steps: list[nn.Module] = []
        before = channels
        for after, stride in ((32, 1), (64, 2), (96, 2), (128, 2)):
            steps += [
                nn.Conv2d(before, after, 3, stride, padding=1, bias=False),
                nn.GroupNorm(8, after),
                nn.GELU(),
            ]
            before = after
        self.net = nn.Sequential(*steps, nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.last = nn.Sequential(nn.Linear(4 * before, width), nn.GELU())

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Features of each image."""
        features: Tensor = self.last(self.net(x.flatten(0, 1)))
        return features.view(*x.shape[:2], -1)


def encoder_of(kind: str, inputs: int, width: int, layers: int, activation: str) -> Any:
    """The encoder of that kind; ``none`` passes points on as they are."""
    if kind == "points":
        return PointEncoder(inputs, width, layers, activation)
    if kind == "images":
        return ImageEncoder(inputs, width)
    if kind == "none":
        return None
    raise InputError(
        f"{kind!r} is not a kind of encoder here. Choose points, images or none, or hand over a "
        "module of your own with encoder='given'."
    )
