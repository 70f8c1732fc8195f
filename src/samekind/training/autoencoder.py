"""Autoencoders: a short code of each item, from which the item can be reconstructed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision
from samekind.training.augment import Family, Views
from samekind.training.network import Backbone, Network, Output
from samekind.training.rows import NoisyRows


class Coded(NamedTuple):
    """Output of an autoencoder in training, for each item of a batch."""

    h: Tensor  # (B, width) features of the backbone
    z: Tensor  # (B, latent) codes
    p: Tensor  # (B, k) shares in each group
    error: Tensor  # (B,) mean squared error of the reconstruction


class Autoencoder(Network):
    """Backbone, a layer that makes short codes, memberships by codes, and a decoder.

    In training it takes what a :class:`CorruptedRows` or :class:`CorruptedPictures` makes: items to
    read, then the same items as they should be reconstructed. In use it takes plain items.

    Parameters
    ----------
    backbone : from items to features. decoder : from codes to items; its first layer, linear, is
        called ``first``.
    groups : from codes to shares.
    latent : numbers of a code.

    >>> from samekind.objectives.dec import StudentShares
    >>> encoder, decoder = RowEncoder(4, (8,)), RowDecoder(2, (8,), 4)
    >>> network = Autoencoder(encoder, decoder, StudentShares(2, 3), latent=2)
    >>> [tuple(part.shape) for part in network(torch.zeros(10, 4))]
    [(5, 8), (5, 2), (5, 3), (5,)]
    """

    def __init__(
        self, backbone: Backbone, decoder: nn.Module, groups: nn.Module, *, latent: int
    ) -> None:
        super().__init__(backbone, k=1, out=1, attention=False)
        self.instance = nn.Linear(self.width, latent)  # type: ignore[assignment]
        self.cluster = groups  # type: ignore[assignment]
        self.decoder = decoder

    def forward(  # type: ignore[override]
        self,
        images: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
        gather: Callable[[Tensor], Tensor] | None = None,
    ) -> Output | Coded:
        """Return the output for plain items (`views` is 1), or for a batch in training."""
        if views == 1:
            return self.of_features(self.backbone(images))
        given, wanted = images.chunk(2)
        h = self.backbone(given)
        z = self.code(h)
        error = squared_error(self.decoder(z), wanted)
        if gather is not None:
            h, z = from_all(gather, h), from_all(gather, z)
            error = from_all(gather, error[:, None])[:, 0]
        return Coded(h, z, self.cluster(z), error)

    def of_features(
        self,
        h: Tensor,
        reference: Tensor | None = None,
        views: int = 1,
        *,
        peers: int | None = None,
    ) -> Output:
        """The same from features (B, width) of plain items."""
        z = self.code(h)
        return Output(h, z, self.cluster(z))

    def code(self, h: Tensor) -> Tensor:
        """Codes (B, latent) of features, in float32 or better: distances are taken of them."""
        with torch.autocast(h.device.type, enabled=False):
            z: Tensor = self.instance(full_precision(h))
        return z

    @torch.no_grad()
    def rescale(self, factor: float) -> None:
        """Multiply all codes by a number; their reconstructions stay the same."""
        layer: nn.Linear = self.instance  # type: ignore[assignment]
        layer.weight.mul_(factor)
        layer.bias.mul_(factor)
        self.decoder.first.weight.div_(factor)  # type: ignore[operator, union-attr]

    @torch.no_grad()
    def code_directions(self, h: Tensor) -> None:
        """Set codes to the principal directions of given features h (n, width)."""
        layer: nn.Linear = self.instance  # type: ignore[assignment]
        mean = h.mean(dim=0)
        centred = h - mean
        _, vectors = torch.linalg.eigh((centred.T @ centred / len(h)).double().cpu())
        many = min(layer.out_features, vectors.shape[1])
        best = vectors.flip(1)[:, :many].T  # (many, width), the widest first
        sign = best.gather(1, best.abs().argmax(dim=1, keepdim=True)).sign()
        layer.weight.zero_()
        layer.bias.zero_()
        layer.weight[:many] = (best * sign).to(layer.weight)
        layer.bias[:many] = -(layer.weight[:many] @ mean.to(layer.weight.dtype))


def squared_error(made: Tensor, wanted: Tensor) -> Tensor:
    """Mean squared error of each item (B,)."""
    gap = full_precision(made) - full_precision(wanted)
    return gap.square().flatten(1).mean(dim=1)


def from_all(gather: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Gather rows (B, D) of all processes; `gather` expects two views of each."""
    both = gather(rows.repeat(2, 1))
    return both[: len(both) // 2]


class RowEncoder(nn.Module):
    """From rows (B, n_in) to features: linear layers, each with a ReLU behind it."""

    def __init__(self, n_in: int, hidden: Sequence[int] = (500, 500, 2000)) -> None:
        super().__init__()
        checked_hidden(hidden)
        self.width = hidden[-1]
        sizes = [n_in, *hidden]
        layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(sizes)]
        self.layers = nn.Sequential(*layers)

    def forward(self, rows: Tensor) -> Tensor:
        """Features (B, width)."""
        features: Tensor = self.layers(rows)
        return features


class RowDecoder(nn.Module):
    """From codes (B, latent) to rows (B, n_out): the encoder mirrored."""

    def __init__(self, latent: int, hidden: Sequence[int], n_out: int) -> None:
        super().__init__()
        checked_hidden(hidden)
        sizes = [*reversed(hidden), n_out]
        self.first = nn.Linear(latent, sizes[0])
        layers = [nn.Sequential(nn.ReLU(), nn.Linear(a, b)) for a, b in pairwise(sizes)]
        self.layers = nn.Sequential(*layers)

    def forward(self, codes: Tensor) -> Tensor:
        """Rows (B, n_out)."""
        rows: Tensor = self.layers(self.first(codes))
        return rows


class PictureDecoder(nn.Module):
    """From codes (B, latent) to pictures (B, 3, size, size), by transposed convolutions.

    A picture of about 4 x 4 is made by a linear layer; each convolution doubles its side and halves
    its channels.

    Parameters
    ----------
    base : channels of the last but one picture; as many as the ResNet has in its first stage.

    >>> PictureDecoder(10, 20, base=4)(torch.zeros(2, 10)).shape
    torch.Size([2, 3, 20, 20])
    """

    def __init__(self, latent: int, size: int, *, base: int = 64) -> None:
        super().__init__()
        doublings = max(1, int(math.log2(max(size, 8) / 4)))
        self.size = size
        self.side = -(-size // 2**doublings)
        wide = [base * 2 ** min(3, doublings - 1 - i) for i in range(doublings)]
        self.channels = wide[0]
        self.first = nn.Linear(latent, self.channels * self.side**2)
        self.start = nn.Sequential(nn.BatchNorm2d(wide[0]), nn.ReLU())
        steps: list[nn.Module] = [
            nn.Sequential(
                nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU()
            )
            for a, b in pairwise(wide)
        ]
        self.layers = nn.Sequential(*steps, nn.ConvTranspose2d(wide[-1], 3, 4, 2, 1))

    def forward(self, codes: Tensor) -> Tensor:
        """Pictures (B, 3, size, size)."""
        x = self.first(codes).unflatten(1, (self.channels, self.side, self.side))
        pictures: Tensor = self.layers(self.start(x))
        return pictures[:, :, : self.size, : self.size]


class CorruptedRows(NoisyRows):
    """Rows with some numbers masked, then the same rows whole (denoising).

    >>> rows = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    >>> CorruptedRows(rows, left_out=0.0)(rows).tolist()[:2] == rows.tolist()
    True
    """

    def __init__(self, rows: Tensor, *, left_out: float = 0.2) -> None:
        super().__init__(rows, noise=0.0, left_out=left_out)

    @torch.no_grad()
    def forward(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Rows (2B, d) of rows (B, d): those to read before those to reconstruct."""
        plain = self.plain(rows)
        if not self.left_out:
            return plain.repeat(2, 1)
        return torch.cat([plain * _kept(plain, self.left_out, generator), plain])


class CorruptedPictures(nn.Module):
    """Pictures with some pixels masked, then the same pictures whole (denoising).

    Parameters
    ----------
    family : for size, mean and spread; nothing else happens to them.
    left_out : chance of each pixel to be black.
    """

    def __init__(
        self, family: Family, *, left_out: float = 0.2, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        still = replace(family, jitter_p=0.0, gray_p=0.0, blur_p=0.0)
        self.whole = Views(still, dtype=dtype)
        self.left_out = left_out

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Pictures (2B, 3, S, S) of uint8 pictures (B, 3, H, W): those to read come first."""
        plain = self.plain(images)
        given = plain
        if self.left_out:
            given = plain * _kept(plain[:, :1], self.left_out, generator)
        return torch.cat([given, plain])

    def plain(self, images: Tensor) -> Tensor:
        """The pictures (B, 3, S, S) as they are, resized to the square."""
        return self.whole.plain(images)


def _kept(like: Tensor, left_out: float, generator: torch.Generator | None) -> Tensor:
    """Draw a mask: 1 where a number stays, 0 where it is masked."""
    chance = torch.rand(like.shape, generator=generator, device=like.device)
    return (chance >= left_out).to(like.dtype)


def checked_hidden(hidden: Sequence[int]) -> Sequence[int]:
    """Return the widths of layers, or raise if they are not positive."""
    if not len(hidden) or any(width < 1 for width in hidden):
        raise InputError(
            f"Expected layers of at least one unit each, got hidden={tuple(hidden)}. "
            "Try (128, 128), or (500, 500, 2000) as published."
        )
    return hidden
