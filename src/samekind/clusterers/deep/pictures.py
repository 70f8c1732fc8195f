"""Pictures as arrays: whatever layout they come in, uint8 (n, 3, height, width) comes out."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import VectorError

Bytes = NDArray[np.uint8]
SIDE = 128
"""Pixels a side that pictures of different sizes are brought to: the published size of PCL."""
_CHANNELS = (1, 3, 4)


def pictures_of(
    X: Any, image_shape: tuple[int, ...] | None = None, *, side: int = SIDE
) -> Bytes | None:
    """The pictures in X, or None when X holds plain vectors.

    Parameters
    ----------
    X : (n, channels, height, width) or (n, height, width, channels) of one byte per colour, with 1
        (gray), 3 or 4 (alpha, laid on white) channels; gray ones also as (n, height, width); or
        the same laid out in rows (n, d). Or a list of pictures, each an array or one of Pillow's,
        of any sizes.
    image_shape : (channels, height, width) or (height, width, channels) of pictures in rows. Rows
        of bytes whose length is that of a square colour picture need none.
    side : pictures of a list that are not all of one size become squares of so many pixels.

    >>> pictures_of(np.zeros((2, 12), dtype=np.uint8)).shape
    (2, 3, 2, 2)
    >>> pictures_of(np.zeros((5, 8, 9, 1), dtype=np.uint8)).shape
    (5, 3, 8, 9)
    >>> pictures_of([np.zeros((8, 9), np.uint8), np.zeros((20, 10, 3), np.uint8)]).shape
    (2, 3, 128, 128)
    """
    if _is_list_of_pictures(X):
        return _from_list(X, side)
    if not hasattr(X, "ndim") or not hasattr(X, "dtype") or not hasattr(X, "__array__"):
        return None
    array = np.asarray(X)
    if array.ndim == 2 and image_shape is not None:
        return _coloured(_bytes(_unrolled(array, tuple(image_shape))))
    if array.ndim == 2 and array.dtype == np.uint8:
        length = isqrt(array.shape[1] // 3)
        if length and 3 * length * length == array.shape[1]:
            return _coloured(array.reshape(-1, 3, length, length))
        return None
    if array.ndim == 3 and array.dtype == np.uint8:
        return _gray(array)
    return _coloured(_bytes(array)) if array.ndim == 4 else None


def coarse(images: Bytes) -> NDArray[np.float32]:
    """Sample colours on a grid of at most 4 x 4, to estimate the number of groups."""
    step = [max(1, side // 4) for side in images.shape[2:]]
    small = images[:, :, :: step[0], :: step[1]].reshape(len(images), -1)
    return np.asarray(small, dtype=np.float32)


def _unrolled(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    shape = (1, *shape) if len(shape) == 2 else shape
    if len(shape) != 3 or int(np.prod(shape)) != array.shape[1]:
        raise VectorError(
            f"Rows of {array.shape[1]} numbers are not pictures of shape {shape}. "
            "Give image_shape as (channels, height, width)."
        )
    return array.reshape(-1, *shape)


def _gray(array: Bytes) -> Bytes:
    """A pile of gray pictures without a place for the channel."""
    if array.shape[0] in (3, 4) or array.shape[2] in _CHANNELS:
        raise VectorError(
            f"The shape {array.shape} may be that of one picture alone. Give a pile of pictures, "
            "(n, channels, height, width), or a list; one alone as picture[None]."
        )
    return _coloured(array[:, None])


def _bytes(array: NDArray[Any]) -> Bytes:
    if array.dtype == np.uint8:
        return array
    whole = array.dtype.kind in "fiu" and array.size and np.array_equal(array, np.rint(array))
    if whole and array.min() >= 0 and array.max() <= 255:
        return array.astype(np.uint8)
    found = f"{array.dtype}"
    if whole:
        found += f" from {array.min():g} to {array.max():g}"
    raise VectorError(
        f"Pictures must hold whole numbers from 0 to 255; these are {found}. Give uint8 (for "
        "colours from 0 to 1: multiply by 255 and round; for 16 bits: divide by 257)."
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


def _is_list_of_pictures(X: Any) -> bool:
    """Whether X is a list whose members look like pictures; lists of numbers are vectors."""
    objects = getattr(getattr(X, "dtype", None), "kind", "") == "O" and getattr(X, "ndim", 0) == 1
    if not (isinstance(X, list | tuple) or objects) or not len(X):
        return False
    return any(_is_pillow(one) or getattr(one, "ndim", 0) in (2, 3) for one in X)


def _from_list(X: Any, side: int) -> Bytes:
    pictures = [_one(one, place) for place, one in enumerate(X)]
    if len({picture.shape for picture in pictures}) > 1:
        pictures = [_resized(picture, side) for picture in pictures]
    return np.stack(pictures)


def _one(picture: Any, place: int) -> Bytes:
    """One picture of a list, (3, height, width)."""
    try:
        array = _of_pillow(picture) if _is_pillow(picture) else np.asarray(picture)
        if array.ndim == 2:
            array = array[None]
        if array.ndim != 3:
            raise VectorError(f"The shape {array.shape} is not that of a picture.")
        pictures = _coloured(_bytes(array[None]))
    except VectorError as error:
        raise VectorError(f"Picture {place} of the list cannot be used. {error}") from None
    return np.asarray(pictures[0], dtype=np.uint8)


def _resized(picture: Bytes, side: int) -> Bytes:
    from PIL import Image

    if picture.shape[1:] == (side, side):
        return picture
    image = Image.fromarray(np.ascontiguousarray(picture.transpose(1, 2, 0)))
    small = image.resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.uint8).transpose(2, 0, 1)


def _is_pillow(one: Any) -> bool:
    return hasattr(one, "mode") and hasattr(one, "convert") and hasattr(one, "getbands")


def _of_pillow(image: Any) -> NDArray[Any]:
    """Colours of one of Pillow's pictures: palettes looked up, 16 bits scaled to 8."""
    if image.mode.startswith(("I", "F")):
        deep = np.clip(np.asarray(image, dtype=np.float64), 0, 65535)
        return (deep / 257).astype(np.uint8)
    return np.asarray(image.convert("RGBA" if image.has_transparency_data else "RGB"))
