"""Encoders that use the pixels of small pictures: Pixels for grouping, Images for training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.reduction import Reduced, Reduction
from samekind.items import Item


class Images:
    """The pictures as bytes, scaled to one size: for methods that train on pixels (pcl, occ, cc).

    Parameters
    ----------
    size : height and width of the pictures.
    """

    name: str = "images"
    kinds: tuple[str, ...] = ("image",)
    axes: tuple[int, ...] = (2, 0, 1)
    """Order of the pixels: all red, then all green, then all blue."""

    def __init__(self, *, size: int = 64) -> None:
        self.size = size
        self.width: int | None = 3 * size * size

    @property
    def fingerprint(self) -> str:
        """Changes with the size."""
        return f"{self.name}/{self.size}px-v1"

    def prepare(self, image: Any) -> Any:
        """Scale a picture. Safe to call in advance, in a thread, and twice."""
        from PIL import Image

        image = image.convert("RGB")
        size = (self.size, self.size)
        return image if image.size == size else image.resize(size, Image.Resampling.BILINEAR)

    def read(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        """Colours (n, 3 * size * size), one byte each."""
        raw = np.empty((len(items), 3 * self.size * self.size), dtype=np.uint8)
        for row, item in zip(raw, items, strict=True):
            row[:] = np.asarray(self.prepare(item.load())).transpose(self.axes).reshape(-1)
        return raw

    def fit(self, raw: Any) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, raw: Any) -> NDArray[Any]:
        """The same bytes; if they are in a file that is mapped into memory, they stay there."""
        return np.asarray(raw, dtype=np.uint8)


class Pixels(Reduced, Images):
    """Small copies of the pictures, reduced by PCA: quick, sees colour and layout only.

    Parameters
    ----------
    size : height and width of the small copies.
    components : maximum number of dimensions that are kept.
    """

    name = "pixels"
    block_name = "layout"
    axes = (0, 1, 2)

    def __init__(self, *, size: int = 32, components: int = 128) -> None:
        super().__init__(size=size)
        self.components = components

    def fit(self, raw: Any) -> Self:
        """Learn the principal axes of the collection."""
        self._reduction = Reduction(components=self.components, normalise=False).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Principal components (n, at most `components`), colours scaled to 0..1."""
        return self._reduction.transform(raw, divisor=255)
