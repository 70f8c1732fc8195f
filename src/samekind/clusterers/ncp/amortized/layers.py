"""Layers that the networks of the process are made of, and encoders for points and images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from samekind.errors import InputError

IMAGE_NUMBERS = 16
"""Numbers by which :class:`ImagePoints` describes an image: as many as the shipped weights read."""


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
        raise InputError(f"Expected an activation among {known}, got {activation!r}.")
    layers: list[nn.Module] = []
    for k, (before, after) in enumerate(pairwise(sizes)):
        is_last = k == len(sizes) - 2
        layers.append(nn.Linear(before, after, bias=last_bias or not is_last))
        if not is_last:
            layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)


class PointEncoder(nn.Module):
    """Points or frozen vectors (B, N, d) to features (B, N, width), each on its own."""

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
        return self.each(x.flatten(0, 1)).view(*x.shape[:2], -1)

    def each(self, images: Tensor) -> Tensor:
        """(M, channels, height, width) to (M, width)."""
        with reduced_precision(images.device.type):
            seen = self.net(images.contiguous(memory_format=torch.channels_last))
        features: Tensor = self.last(seen.to(images.dtype))
        return features


class ImagePoints(nn.Module):
    """Small images to a few numbers each, and those to features (B, N, width) as of points.

    So a process that was trained on general vectors can go on learning with images: all but the
    first part is what it knows already.
    """

    def __init__(self, channels: int, width: int, layers: int, activation: str) -> None:
        super().__init__()
        self.look = ImageEncoder(channels, width)
        self.numbers = nn.Sequential(
            nn.Linear(width, IMAGE_NUMBERS), nn.LayerNorm(IMAGE_NUMBERS, elementwise_affine=False)
        )
        self.points = PointEncoder(IMAGE_NUMBERS, width, layers, activation)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Features of each image."""
        return self.each(x.flatten(0, 1)).view(*x.shape[:2], -1)

    def each(self, images: Tensor) -> Tensor:
        """(M, channels, height, width) to (M, width)."""
        features: Tensor = self.points(self.numbers(self.look.each(images)))
        return features


def reduced_precision(device: str) -> AbstractContextManager[Any]:
    """Convolutions run in bfloat16 within this context: on a GPU, and in quick CPU training."""
    if device == "cpu" and torch.get_float32_matmul_precision() != "medium":
        return nullcontext()
    return torch.autocast(device, torch.bfloat16, cache_enabled=False)


def encoder_of(kind: str, inputs: int, width: int, layers: int, activation: str) -> Any:
    """The encoder of that kind; ``none`` passes points on as they are."""
    if kind == "points":
        return PointEncoder(inputs, width, layers, activation)
    if kind == "images":
        return ImageEncoder(inputs, width)
    if kind == "image-points":
        return ImagePoints(inputs, width, layers, activation)
    if kind == "residual":
        from samekind.clusterers.ncp.amortized.residual_encoder import ResidualEncoder

        return ResidualEncoder(inputs, width, layers)
    if kind == "none":
        return None
    raise InputError(
        "Expected an encoder among points, images, image-points, residual, none and given (a "
        f"module of your own), got {kind!r}."
    )


def masked_softmax(scores: Tensor, kept: Tensor | None) -> Tensor:
    """Shares over the last dimension among what is kept; all zero where nothing is."""
    if kept is None:
        return scores.softmax(-1)
    least = torch.finfo(scores.dtype).min
    return torch.where(kept, scores.masked_fill(~kept, least).softmax(-1), 0.0)


class MAB(nn.Module):
    """Each point of one set looks at another set: O = Q + softmax(Q K' / sqrt(d)) V, O + relu(O W).

    Parameters
    ----------
    norm : layer norms before the looking and before a wider last layer, and the point itself
        instead of Q is passed on; several blocks in a row learn faster so. False: as published.

    >>> looked = MAB(8, heads=2)(torch.randn(3, 5, 8), torch.randn(3, 7, 8))
    >>> looked.shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, width: int, heads: int = 4, *, norm: bool = False) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise InputError(f"Expected a width that is a multiple of {heads} heads, got {width}.")
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3)) if norm else None
        self.last: nn.Module = mlp([width, 2 * width, width], "gelu") if norm else nn.Linear(
            width, width
        )  # fmt: skip

    def forward(self, X: Tensor, Y: Tensor, mask: Tensor | None = None) -> Tensor:
        """X (..., n, d) looks at the points of Y (..., m, d) that `mask` (..., m) keeps."""
        if self.norms is None:
            Q = kept = self.query(X)
        else:
            Q, kept, Y = self.query(self.norms[0](X)), X, self.norms[1](Y)
        q, k, v = (self._split(part) for part in (Q, self.key(Y), self.value(Y)))
        scores = q @ k.transpose(-1, -2) / math.sqrt(Q.shape[-1])  # (..., heads, n, m)
        share = masked_softmax(scores, None if mask is None else mask[..., None, None, :])
        seen = (share @ v).transpose(-2, -3).flatten(-2)  # (..., n, d)
        return self.ending(kept + seen)

    def ending(self, O: Tensor) -> Tensor:  # noqa: E741 - the letter of the paper
        """O + relu(O W)."""
        if self.norms is None:
            return O + torch.relu(self.last(O))
        told: Tensor = O + self.last(self.norms[2](O))
        return told

    def _split(self, values: Tensor) -> Tensor:
        return values.view(*values.shape[:-1], self.heads, -1).transpose(-2, -3)


class PMA(nn.Module):
    """A set in one vector: a learnt query looks at it.

    >>> PMA(8, heads=2)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 8])
    """

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.seed = nn.Parameter(torch.randn(1, width) / math.sqrt(width))
        self.block = MAB(width, heads)

    def forward(self, Y: Tensor, mask: Tensor | None = None) -> Tensor:
        """(..., N, d) to (..., d)."""
        pooled: Tensor = self.block(self.seed, Y, mask)
        return pooled[..., 0, :]

    def of_subsets(self, Y: Tensor, kept: Tensor) -> Tensor:
        """(B, R, d) of R subsets (B, R, N) of each set (B, N, d), which is never copied."""
        block = self.block
        q = block.query(self.seed).unflatten(-1, (block.heads, -1))[0]  # (heads, d / heads)
        k, v = (part(Y).unflatten(-1, (block.heads, -1)) for part in (block.key, block.value))
        scores = torch.einsum("hd,bnhd->bhn", q, k) / math.sqrt(Y.shape[-1])
        share = masked_softmax(scores[:, None], kept[:, :, None])  # (B, R, heads, N)
        seen = torch.einsum("brhn,bnhd->brhd", share, v).flatten(-2)
        return block.ending(block.query(self.seed) + seen)


class ISAB(nn.Module):
    """Every point looks at the whole set through a few inducing points: linear in N.

    >>> ISAB(8, heads=2, inducing=4)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self, width: int, heads: int = 4, inducing: int = 32, *, norm: bool = False
    ) -> None:
        super().__init__()
        self.inducing = nn.Parameter(torch.randn(inducing, width) / math.sqrt(width))
        # Two blocks: a shared one would tie queries to values.
        self.gather, self.tell = MAB(width, heads, norm=norm), MAB(width, heads, norm=norm)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """(..., N, d) to the same shape; masked points are ignored."""
        told: Tensor = self.tell(X, self.summary(X, mask))
        return told

    def summary(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """(..., m, d) what the inducing points see of a set (..., N, d).

        Further points see the set through `tell(points, summary)`, without being seen by it.
        """
        points: Tensor = self.gather(self.inducing, X, mask)
        return points
