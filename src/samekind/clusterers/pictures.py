"""Pictures as arrays: whatever layout they come in, uint8 (n, 3, height, width) comes out."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import VectorError

Bytes = NDArray[np.uint8]
_CHANNELS = (1, 3, 4)


def pictures_of(X: Any, image_shape: tuple[int, ...] | None = None) -> Bytes | None:
    """The pictures in X, or None when X holds plain vectors.

    Parameters
    ----------
    X : (n, channels, height, width) or (n, height, width, channels) of one byte per colour, with 1
        (gray), 3 or 4 (alpha, laid on white) channels; or the same laid out in rows (n, d).
    image_shape : (channels, height, width) or (height, width, channels) of pictures in rows. Rows
        of bytes whose length is that of a square colour picture need none.

    >>> pictures_of(np.zeros((2, 12), dtype=np.uint8)).shape
    (2, 3, 2, 2)
    >>> pictures_of(np.zeros((5, 8, 9, 1), dtype=np.uint8)).shape
    (5, 3, 8, 9)
    """
    if not hasattr(X, "ndim") or not hasattr(X, "dtype") or not hasattr(X, "__array__"):
        return None
    array = np.asarray(X)
    if array.ndim == 2 and image_shape is not None:
        return _coloured(_bytes(_unrolled(array, tuple(image_shape))))
    if array.ndim == 2 and array.dtype == np.uint8:
        side = isqrt(array.shape[1] // 3)
        if side and 3 * side * side == array.shape[1]:
            return _coloured(array.reshape(-1, 3, side, side))
        return None
    return _coloured(_bytes(array)) if array.ndim == 4 else None


def _unrolled(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    shape = (1, *shape) if len(shape) == 2 else shape
    if len(shape) != 3 or int(np.prod(shape)) != array.shape[1]:
        raise VectorError(
            f"Rows of {array.shape[1]} numbers are not pictures of shape {shape}. "
            "Give image_shape as (channels, height, width)."
        )
    return array.reshape(-1, *shape)


def _bytes(array: NDArray[Any]) -> Bytes:
    if array.dtype == np.uint8:
        return array
    whole = array.dtype.kind in "fiu" and array.size and np.array_equal(array, np.rint(array))
    if whole and array.min() >= 0 and array.max() <= 255:
        return array.astype(np.uint8)
    raise VectorError(
        f"Pictures must hold whole numbers from 0 to 255; these are {array.dtype}. "
        "Give uint8 (for colours from 0 to 1: multiply by 255 and round)."
    )


def _coloured(array: Bytes) -> Bytes:
    """Three channels, in front."""
    if array.shape[1] not in _CHANNELS and array.shape[3] in _CHANNELS:
        array = np.moveaxis(array, 3, 1)
    channels = array.shape[1]
    if channels not in _CHANNELS or 0 in array.shape:
        raise VectorError(
            f"Pictures have 1 (gray), 3 or 4 (alpha) channels; the shape {array.shape} has none of "
            "these in the second or the last place."
        )
    if channels == 1:
        array = np.repeat(array, 3, axis=1)
    elif channels == 4:
        alpha = array[:, 3:].astype(np.float32) / 255
        array = np.rint(array[:, :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(array)
