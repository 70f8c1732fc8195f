"""Calibration: vectors as the network was trained to see them.

A network knows a number of dimensions and one scale. So vectors are turned onto their principal
axes, cut to (or filled with zeros up to) that dimension, and divided by one number. Training draws
go through the same steps (:class:`Calibrated`), so that training and use see the same distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, Generator
from samekind.errors import InputError

Floats = NDArray[Any]

SAMPLE = 20_000
"""Items from which axes and scale are found."""
SWEEPS = 4
"""Rounds over all pairs of axes, after which they are principal to a few digits."""
TRAINING_SWEEPS = 3
"""The same for training draws: each round is many small launches, and two digits are enough."""


@dataclass(frozen=True)
class Calibration:
    """From vectors (n, d) to what a network of `dim` inputs reads.

    Parameters
    ----------
    mean, axes : (d,) and (d, p), p at most `dim`: the principal axes, most variance first.
    scale : what coordinates are divided by.
    dim : inputs of the network; columns beyond p are zero.
    kept : share of the variance that lies along the axes.

    >>> X = np.array([[0.0, 1, 5], [2, 1, 5], [4, 1, 5]])
    >>> np.abs(Calibration.of(X, 2)(X)).astype(float).round(3).tolist()
    [[1.732, 0.0], [0.0, 0.0], [1.732, 0.0]]
    """

    mean: Floats
    axes: Floats
    scale: float
    dim: int
    kept: float

    @classmethod
    def of(cls, X: Floats, dim: int, rng: np.random.Generator | None = None) -> Self:
        """The calibration of these vectors, found from at most 20,000 of them."""
        if len(X) > SAMPLE:
            rng = rng or np.random.default_rng(0)
            X = X[np.sort(rng.choice(len(X), SAMPLE, replace=False))]
        X = np.asarray(X, dtype=np.float64)
        mean = X.mean(axis=0)
        moved = X - mean
        # Vectors near the largest number have squares beyond it.
        size = float(np.abs(moved).max(initial=0.0)) or 1.0
        moved = moved / size
        variances, axes = _principal(moved, dim)
        real = variances > 1e-12 * max(float(variances.sum()), 1e-300)
        variances, axes = variances[real], axes[:, real]
        whole = float(np.square(moved).mean(axis=0).sum())
        total = float(variances.sum())
        scale = size * float(np.sqrt(total / dim)) if total > 0 else 1.0
        return cls(mean, axes, scale, dim, total / whole if whole > 0 else 1.0)

    @classmethod
    def unchanged(cls, dim: int) -> Self:
        """For networks that were trained on vectors as they are."""
        return cls(np.zeros(dim), np.eye(dim), 1.0, dim, 1.0)

    def __call__(self, X: Floats) -> NDArray[np.float32]:
        """(n, dim)"""
        found = np.zeros((len(X), self.dim), dtype=np.float32)
        for start in range(0, len(X), 65_536):
            part = slice(start, start + 65_536)
            moved = (np.asarray(X[part], dtype=np.float64) - self.mean) / self.scale
            found[part, : self.axes.shape[1]] = moved @ self.axes
        return found


def _principal(moved: Floats, dim: int) -> tuple[Floats, Floats]:
    """Variances (p,) and axes (d, p) of centred vectors, most variance first."""
    n, d = moved.shape
    if min(n, d) <= 1024:
        if d <= n:
            values, axes = np.linalg.eigh(moved.T @ moved / n)
        else:  # the same axes by way of the smaller matrix
            values, left = np.linalg.eigh(moved @ moved.T / n)
            axes = moved.T @ left / np.sqrt(np.maximum(values, 1e-300) * n)
        values, axes = values[::-1][:dim], axes[:, ::-1][:, :dim]
        return np.maximum(values, 0.0), axes
    from sklearn.utils.extmath import randomized_svd

    _, s, axes_t = randomized_svd(moved, dim, random_state=0)
    return np.square(s) / n, axes_t.T


@dataclass(frozen=True)
class Calibrated:
    """Draws of another generator, seen as :class:`Calibration` shows real vectors.

    Parameters
    ----------
    generator : draws vectors (B, N, d), of any dimension.
    dim : how many principal axes are kept.
    """

    generator: Generator
    dim: int = 8

    @property
    def points(self) -> tuple[int, int]:
        """Smallest and largest number of points."""
        return self.generator.points

    @property
    def max_groups(self) -> int:
        """Data sets with more groups are blanked."""
        return self.generator.max_groups

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch; nothing waits for the device, so it can be recorded."""
        x, labels, mask = self.generator.draw(batch, generator, points)
        if not isinstance(x, Tensor) or x.ndim != 3:
            raise InputError(
                "Only vectors can be calibrated: the generator's x must be of shape (B, N, d). "
                "Train with calibrate=False on anything else."
            )
        return Episode(calibrated(x, mask, self.dim), labels, mask)


def calibrated(x: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Data sets (B, N, d) on their own principal axes and scale, (B, N, dim); padding is zero."""
    there = mask[..., None]
    n = mask.sum(1)[:, None, None].clamp_min(1)
    x = x - torch.where(there, x, 0.0).sum(1, keepdim=True) / n
    x = torch.where(there, x, 0.0)
    # Training may allow products in reduced precision; rotations would add up its errors.
    exact = x if x.device.type == "mps" else x.double()
    covariance = exact.mT @ exact / n
    if x.device.type == "cpu":  # nothing waits for it, and the library is quicker
        found = tuple(part.flip(-1) for part in torch.linalg.eigh(covariance))
    else:
        found = principal_axes(covariance, TRAINING_SWEEPS)
    values, axes = (part.to(x.dtype) for part in found)
    x = (x @ axes)[..., :dim]
    total = values[:, :dim].sum(1)
    x = x / torch.where(total > 1e-12, total / dim, 1.0).sqrt()[:, None, None]
    if x.shape[2] < dim:
        x = torch.nn.functional.pad(x, (0, dim - x.shape[2]))
    return x


def principal_axes(covariance: Tensor, sweeps: int = SWEEPS) -> tuple[Tensor, Tensor]:
    """(B, d) variances, falling, and (B, d, d) axes as columns, of symmetric (B, d, d).

    Jacobi's rotations, d / 2 disjoint pairs at a time: a fixed number of products, no waiting for
    the device (library routines look at an error code), so that it can be recorded.
    """
    d = covariance.shape[1]
    odd = d % 2
    A = torch.nn.functional.pad(covariance, (0, odd, 0, odd))
    D = d + odd
    eye = torch.eye(D, device=A.device, dtype=A.dtype)
    V = eye.expand(len(A), D, D)
    half, across = D // 2, -eye.flip(1)
    # Next round: all but the first change places, so that every two meet once per sweep.
    places = torch.arange(D, device=A.device)
    places = torch.cat([places[:1], places[1:].roll(1)])
    for _ in range(sweeps * (D - 1) if D > 1 else 0):
        # Axis i meets axis D - 1 - i; a rotation in that plane makes their covariance zero.
        a = A.diagonal(dim1=1, dim2=2)
        p, q = a[:, :half], a.flip(1)[:, :half]
        r = 2 * A.flip(2).diagonal(dim1=1, dim2=2)[:, :half]
        # The smaller of the two angles that do so, at most 45 degrees: the larger one may cycle.
        angle = 0.5 * torch.atan2(torch.where(p < q, -r, r), (p - q).abs())
        angle = torch.cat([angle, -angle.flip(1)], 1)[:, None]  # (B, 1, D)
        J = (eye * angle.cos() - across * angle.sin()).index_select(2, places)
        A, V = J.mT @ A @ J, V @ J
    values = A.diagonal(dim1=1, dim2=2)
    if odd:  # the axis that was added has no variance and no share in the others
        values = values - V[:, -1].square() * 2 * values.abs().amax(1, keepdim=True).clamp_min(1)
    values, order = values.sort(dim=1, descending=True)
    axes = V.gather(2, order[:, None].expand_as(V))
    return values[:, :d], axes[:, :d, :d]
