"""Reduction: the quick second step that several encoders share, from raw features to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.errors import VectorError

CHUNK = 4096
"""Rows worked on at a time, so that a large pile is never copied as a whole."""


class Reduction:
    """Centres raw features by the pile's mean and projects them on its principal axes.

    Exact and deterministic: axes come from the covariance (or, with fewer items than numbers per
    item, from the Gram matrix), and their signs are fixed.

    Parameters
    ----------
    components : most numbers per item that are kept.
    normalise : make centred vectors unit length before the projection, so that likeness is the
        angle as seen from the middle of the pile.
    blocks : (columns, weight) of features that come side by side, such as objects and colours: each
        block is made unit length by itself and then counts by its weight. Empty: one block.

    >>> Reduction(components=2).fit(np.eye(3)).transform(np.eye(3)).shape
    (3, 2)
    """

    def __init__(
        self,
        *,
        components: int = 256,
        normalise: bool = True,
        blocks: Sequence[tuple[int, float]] = (),
    ) -> None:
        self.components = components
        self.normalise = normalise
        self.blocks = tuple(blocks)

    def fit(self, raw: Any) -> Self:
        """Learn the mean and the principal axes of a pile."""
        if len(raw) == 0:
            raise VectorError("No items came to learn vectors from. At least one is needed.")
        n, width = raw.shape
        total = np.zeros(width)
        for part in chunks(raw):
            total += part.sum(axis=0, dtype=np.float64)
        if not np.isfinite(total).all():
            raise VectorError("The raw features hold NaN or infinite numbers. Check the items.")
        self.mean_: NDArray[np.float32] = (total / n).astype(np.float32)
        if width <= self.components:
            self.axes_: NDArray[np.float32] | None = None  # nothing to gain: keep all numbers
        elif n <= width:
            self.axes_ = self._from_gram(raw, min(self.components, n))
        else:
            self.axes_ = self._from_covariance(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Vectors (n, d) of the same or other items, d at most `components`."""
        if raw.ndim != 2 or raw.shape[1] != len(self.mean_):
            raise VectorError(
                f"Raw features of shape {raw.shape} came, but this encoder was fitted on "
                f"{len(self.mean_)} numbers per item. Read the items with the same encoder."
            )
        width = len(self.mean_) if self.axes_ is None else self.axes_.shape[1]
        out = np.empty((len(raw), width), dtype=np.float32)
        start = 0
        for part in chunks(raw):
            centred = self._centred(part)
            out[start : start + len(part)] = centred if self.axes_ is None else centred @ self.axes_
            start += len(part)
        if not np.isfinite(out).all():
            raise VectorError("The raw features hold NaN or infinite numbers. Check the items.")
        return out

    def _centred(self, part: NDArray[Any]) -> NDArray[np.float32]:
        centred: NDArray[np.float32] = part.astype(np.float32) - self.mean_
        start = 0
        for width, weight in (self.blocks or ((len(self.mean_), 1.0),)) if self.normalise else ():
            block = centred[:, start : start + width]
            norms = np.linalg.norm(block, axis=1, keepdims=True)
            block *= np.float32(weight) / np.maximum(norms, 1e-12)
            start += width
        return centred

    def _from_covariance(self, raw: Any) -> NDArray[np.float32]:
        from scipy.linalg import eigh

        width = raw.shape[1]
        square = np.zeros((width, width))
        for part in chunks(raw):
            centred = self._centred(part)
            square += centred.T @ centred
        _, axes = eigh(square, subset_by_index=[width - self.components, width - 1])
        return signed(axes[:, ::-1])

    def _from_gram(self, raw: Any, components: int) -> NDArray[np.float32]:
        from scipy.linalg import eigh

        centred = self._centred(raw).astype(np.float64)
        n = len(centred)
        strength, left = eigh(centred @ centred.T, subset_by_index=[n - components, n - 1])
        # Directions without any spread (n centred items span n - 1) would be noise over zero.
        kept = strength > 1e-10 * max(float(strength.max()), 1e-300)
        kept[-1] = True
        axes = centred.T @ left[:, kept]
        axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-12)
        return signed(axes[:, ::-1])


def chunks(raw: Any) -> Iterator[NDArray[Any]]:
    """The rows of an array or memory map, a few thousand at a time."""
    for start in range(0, len(raw), CHUNK):
        yield np.asarray(raw[start : start + CHUNK])


def signed(axes: NDArray[np.float64]) -> NDArray[np.float32]:
    """Axes whose largest entry is positive: the sign of an eigenvector is otherwise arbitrary."""
    largest = np.abs(axes).argmax(axis=0)
    signs = np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes * signs, dtype=np.float32)
