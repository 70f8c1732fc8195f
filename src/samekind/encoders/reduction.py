"""Reduction: centring and PCA, the second step that several encoders share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.feature_cache import default_cache
from samekind.encoders.row_file import RowFile
from samekind.errors import VectorError

CHUNK = 4096
"""Rows processed at a time, so that large data are never copied as a whole."""


NOT_FINITE = "Expected finite raw features, got NaN or infinity. Check the items."


class Reduction:
    """Centre raw features and project them on their principal axes.

    Exact and deterministic: axes come from the covariance matrix (or from the Gram matrix, if there
    are fewer items than features), and their signs are fixed.

    Parameters
    ----------
    components : maximum number of dimensions that are kept.
    normalise : scale centred vectors to unit length before the projection, so that similarity is
        the angle as seen from the mean.
    blocks : (columns, weight) of features side by side, such as objects and colours: each block is
        scaled to unit length by itself and then weighted. Empty: one block.

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
        """Learn the mean and the principal axes."""
        if len(raw) == 0:
            raise VectorError("Expected at least 1 item to learn from, got none.")
        n, width = raw.shape
        total = np.zeros(width)
        for part in chunks(raw):
            total += part.sum(axis=0, dtype=np.float64)
        if not np.isfinite(total).all():
            raise VectorError(NOT_FINITE)
        self.mean_: NDArray[np.float32] = (total / n).astype(np.float32)
        if width <= self.components:
            self.axes_: NDArray[np.float32] | None = None  # few features: keep all of them
        elif n <= width:
            self.axes_ = self._from_gram(raw, min(self.components, n))
        else:
            self.axes_ = self._from_covariance(raw)
        return self

    def transform(self, raw: Any, *, divisor: float | None = None) -> NDArray[np.float32]:
        """Vectors (n, at most `components`) of the same or other items.

        If they are many, they are in a temporary file that is mapped into memory.

        Parameters
        ----------
        divisor : all numbers are divided by it.
        """
        if raw.ndim != 2 or raw.shape[1] != len(self.mean_):
            raise VectorError(
                f"Expected {len(self.mean_)} numbers per item, as this encoder was fitted on, got "
                f"shape {raw.shape}. Read the items with the same encoder."
            )
        out = RowFile(self.n_out, np.dtype(np.float32), folder=default_cache() / "scratch")
        for part in chunks(raw):
            centred = self._centred(part)
            vectors = centred if self.axes_ is None else centred @ self.axes_
            if not np.isfinite(vectors).all():
                raise VectorError(NOT_FINITE)
            out.append(vectors if divisor is None else vectors / np.float32(divisor))
        return out.array()

    @property
    def n_out(self) -> int:
        """Numbers per vector."""
        return len(self.mean_) if self.axes_ is None else int(self.axes_.shape[1])

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) distance of each item to the space of the axes: what its vector misses."""
        lost = np.zeros(len(raw))
        if self.axes_ is None:
            return lost
        start = 0
        for part in chunks(raw):
            centred = self._centred(part).astype(np.float64)
            along = ((centred @ self.axes_) ** 2).sum(axis=1)
            lost[start : start + len(part)] = (centred**2).sum(axis=1) - along
            start += len(part)
        return np.asarray(np.sqrt(np.maximum(lost, 0.0)))

    def state(self) -> dict[str, Any]:
        """The learnt parameters as plain arrays and numbers, for :meth:`from_state`."""
        known = {"mean": self.mean_, "normalise": self.normalise}
        if self.axes_ is not None:
            known["axes"] = self.axes_
        return {**known, "blocks": [[width, weight] for width, weight in self.blocks]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Restore a reduction; ValueError or KeyError if the state is not valid."""
        mean, axes = np.asarray(state["mean"]), state.get("axes")
        blocks = [(int(width), float(weight)) for width, weight in state["blocks"]]
        wide = len(mean) if axes is None else axes.shape[1]
        if mean.ndim != 1 or (axes is not None and axes.shape != (len(mean), wide)):
            raise ValueError("the axes do not fit the mean")
        if blocks and sum(width for width, _ in blocks) != len(mean):
            raise ValueError("the blocks do not fit the mean")
        reduction = cls(components=wide, normalise=bool(state["normalise"]), blocks=blocks)
        reduction.mean_ = mean.astype(np.float32)
        reduction.axes_ = None if axes is None else np.ascontiguousarray(axes, dtype=np.float32)
        return reduction

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
        width = raw.shape[1]
        square = np.zeros((width, width))
        for part in chunks(raw):
            centred = self._centred(part)
            square += centred.T @ centred
        _, axes = _strongest(square, self.components)
        return signed(axes[:, ::-1])

    def _from_gram(self, raw: Any, components: int) -> NDArray[np.float32]:
        centred = self._centred(raw).astype(np.float64)
        strength, left = _strongest(centred @ centred.T, components)
        # Directions without variance (n centred items span n - 1) would be noise over zero.
        kept = strength > 1e-10 * max(float(strength.max()), 1e-300)
        kept[-1] = True
        axes = centred.T @ left[:, kept]
        axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-12)
        return signed(axes[:, ::-1])


class Reduced:
    """Mixin for encoders whose second step is a :class:`Reduction`: save and restore it."""

    width: int | None
    _reduction: Reduction

    def state(self) -> dict[str, Any]:
        """The learnt parameters as plain arrays and numbers."""
        return self._reduction.state()

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
        reduction = Reduction.from_state(state)
        if self.width is not None and len(reduction.mean_) != self.width:
            raise ValueError(f"{len(reduction.mean_)} numbers per item, not {self.width}")
        self._reduction = reduction
        return self

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) how much of each item its vector misses: much for items of another kind."""
        return self._reduction.outside(raw)


def _strongest(square: NDArray[Any], components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest eigenvalues of a symmetric matrix and their vectors, in ascending order."""
    from scipy.linalg import eigh
    from threadpoolctl import threadpool_limits

    n = len(square)
    with threadpool_limits(1):  # on busy cores threads would wait many times longer than they work
        strength, vectors = eigh(square, subset_by_index=[n - components, n - 1])
    return strength, vectors


def chunks(raw: Any) -> Iterator[NDArray[Any]]:
    """The rows of an array or memory map, a few thousand at a time."""
    for start in range(0, len(raw), CHUNK):
        yield np.asarray(raw[start : start + CHUNK])


def signed(axes: NDArray[np.float64]) -> NDArray[np.float32]:
    """Flip axes so that their largest entry is positive: the sign is otherwise arbitrary."""
    largest = np.abs(axes).argmax(axis=0)
    signs = np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes * signs, dtype=np.float32)
