"""Pictures: robust decoding, and previews that are safe to show."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from samekind.errors import SourceError
from samekind.items import Item, Preview

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 80_000_000
"""Larger pictures are refused before they are decoded (240 MB of memory each)."""
PREVIEW_SIDE = 512
MAX_LOSSLESS_SIDE = 128
"""Previews up to this size are sent without loss, so that small pictures stay sharp."""
FORMATS = {"JPEG": (".jpg", ".jpeg"), "PNG": (".png",), "WEBP": (".webp",)}
"""Formats that are read, by Pillow's name, with their suffixes. A new format is one entry here."""


class Picture(Item):
    """An item that is a picture, wherever its bytes are stored."""

    kind: ClassVar[str] = "image"

    @abstractmethod
    def open(self) -> Image:
        """The picture as stored, opened but not yet decoded."""

    def load(self, size: int | None = None) -> Image:
        """The picture as RGB, upright, on white where it was transparent.

        Parameters
        ----------
        size : decode a large JPEG at reduced resolution, with its shorter side at least this long:
            many times faster, and enough for a network's input.

        Raises
        ------
        SourceError
            If it cannot be decoded. Opening a folder checks only the beginning and the end of a
            file, so other damage is found here. Code that reads many items should catch this,
            report it, and continue without the item.
        """
        try:
            with self.open() as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    raise SourceError(f"{self.id!r} {too_large(width, height)}")
                if size is not None and image.format in ("JPEG", "MPO"):
                    image.draft("RGB", (size, size))  # never below this on either side
                return upright_rgb(image)
        except SourceError:
            raise
        except Exception as error:  # Pillow raises many types on damaged files
            raise SourceError(
                f"{self.id!r} cannot be decoded ({error}). Replace or remove it, and open again."
            ) from error

    def preview(self) -> Preview:
        """At most 512 pixels a side, encoded again: no metadata, nothing active."""
        image = self.load(PREVIEW_SIDE)
        image.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
        return encoded(image)


def encoded(image: Image) -> Preview:
    """A preview of an RGB image: PNG if it is tiny, else JPEG."""
    buffer = io.BytesIO()
    if max(image.size) <= MAX_LOSSLESS_SIDE:
        image.save(buffer, "PNG")
        return Preview("image/png", buffer.getvalue())
    image.save(buffer, "JPEG", quality=88)
    return Preview("image/jpeg", buffer.getvalue())


def too_large(width: int, height: int) -> str:
    """The reason why a picture is refused for its size."""
    return (
        f"has {width} x {height} pixels; the limit is {MAX_PIXELS // 1_000_000} million. "
        "Make it smaller."
    )


def upright_rgb(image: Image) -> Image:
    """Decode to RGB: rotated by its EXIF data, transparency on white, 16 bits scaled to 8."""
    from PIL import Image as Images
    from PIL import ImageOps

    image.load()
    try:
        image = ImageOps.exif_transpose(image)
    except Exception:  # the picture may be fine although its EXIF data is damaged
        image = image.copy()
    if image.mode.startswith(("I", "F")):
        deep = np.asarray(image, dtype=np.float64)
        image = Images.fromarray((np.clip(deep, 0, 65535) / 257).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Images.new("RGBA", image.size, "white")
        image = Images.alpha_composite(white, image)
    return image.convert("RGB")
