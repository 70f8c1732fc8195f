"""Images: the pictures themselves, small and square, for methods that learn their own features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.reduction import chunks
from samekind.items import Item


class Images:
    """The pictures as bytes, brought to one size: for methods that train on pixels (pcl, occ, cc).

    Parameters
    ----------
    size : height and width that pictures are brought to.
    """

    name: str = "images"
    kinds: tuple[str, ...] = ("image",)

    def __init__(self, *, size: int = 64) -> None:
        self.size = size
        self.width: int | None = 3 * size * size

    @property
    def fingerprint(self) -> str:
        """Changes with the size."""
        return f"images/{self.size}px-v1"

    def prepare(self, image: Any) -> Any:
        """The picture at its size. Safe to call ahead, in a thread, and twice."""
        from PIL import Image

        image = image.convert("RGB")
        size = (self.size, self.size)
        return image if image.size == size else image.resize(size, Image.Resampling.BILINEAR)

    def read(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        """Colours (n, 3 * size * size), one byte each: all red, then all green, then all blue."""
        raw = np.empty((len(items), 3 * self.size * self.size), dtype=np.uint8)
        for row, item in zip(raw, items, strict=True):
            row[:] = np.asarray(self.prepare(item.load())).transpose(2, 0, 1).reshape(-1)
        return raw

    def fit(self, raw: Any) -> Self:
        """There is nothing to learn."""
        return self

    def transform(self, raw: Any) -> NDArray[Any]:
        """The same bytes, in memory."""
        parts = [np.asarray(part, dtype=np.uint8) for part in chunks(raw)]
        return np.concatenate(parts) if parts else np.empty((0, self.width or 0), dtype=np.uint8)
