"""Images: folders of pictures, decoded upright, with previews that are safe to show."""

from __future__ import annotations

import io
import os
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError
from samekind.items import Collection, Item, Preview, Skipped
from samekind.sources.files.capture import Capture, read_capture
from samekind.sources.files.folders import Found, collect_files, list_folder, open_file
from samekind.sources.files.iso_boxes import boxes_end, is_iso_media
from samekind.sources.files.picture_formats import (
    RAW_SUFFIXES,
    SUFFIXES,
    is_cut_off,
    open_picture,
)
from samekind.sources.files.pillow_warnings import quiet_pillow

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 80_000_000
"""Larger pictures are refused before they are decoded (240 MB of memory each)."""
PREVIEW_SIDE = 512
MAX_LOSSLESS_SIDE = 128
"""Previews up to this size are sent without loss, so that small pictures stay sharp."""
ROWS_AT_A_TIME = 256
"""Rows of pixels that are computed with at a time."""
_JPEG_END = b"\xff\xd9"


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
            with quiet_pillow(), self.open() as image:
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
                f"{self.id!r} cannot be decoded ({_reason(error)}). Replace or remove it, and open "
                "again."
            ) from error

    def capture(self) -> Capture:
        """When, where and with what it was taken, if the file says so."""
        with quiet_pillow(), suppress(Exception), self.open() as image:  # it raises many types
            return read_capture(image)
        return Capture()

    def facts(self) -> dict[str, str]:
        return self.capture().facts()

    def preview(self) -> Preview:
        """At most 512 pixels a side, encoded again: no metadata, nothing active."""
        image = self.load(PREVIEW_SIDE)
        image.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
        return encoded(image)


def _reason(error: Exception) -> str:
    """What is wrong with a picture, in words that name no path: others may read them."""
    from PIL import UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return "it is not a picture that samekind can read"
    return (isinstance(error, OSError) and error.strerror) or str(error)


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
        image = Images.fromarray(_in_8_bits(np.asarray(image)))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Images.new("RGBA", image.size, "white")
        image = Images.alpha_composite(white, image)
    return image.convert("RGB")


def _in_8_bits(deep: NDArray[Any]) -> NDArray[np.uint8]:
    """Scale 16 bits to 8, a few rows at a time: a file of some kilobytes may have the most."""
    scaled = np.empty(deep.shape, dtype=np.uint8)
    for row in range(0, len(deep), ROWS_AT_A_TIME):
        part = deep[row : row + ROWS_AT_A_TIME].astype(np.float64)
        with np.errstate(invalid="ignore"):  # NaN, in floating-point pictures
            scaled[row : row + ROWS_AT_A_TIME] = np.clip(part, 0, 65535) / 257
    return scaled


class ImageItem(Picture):
    """One picture file. Its id is the path within the folder, `root` that folder without links."""

    def __init__(self, id: str, path: str, stamp: str, root: str = "") -> None:
        self.id, self.path, self._stamp, self._root = id, path, stamp, root

    @property
    def stamp(self) -> str:
        return self._stamp

    def open(self) -> Image:
        with ExitStack() as opened:
            stream = opened.enter_context(self.open_file())
            raw = self.path.lower().endswith(RAW_SUFFIXES)
            image = open_picture(stream, raw=raw)
            if not raw:  # Pillow closes the stream together with the picture
                image._exclusive_fp = True  # type: ignore[attr-defined]
                opened.pop_all()
            return image

    def open_file(self) -> io.BufferedReader:
        """The file, if it is still a regular one in its folder; OSError otherwise."""
        return open_file(self.path, self._root)


def open_images(folder: str | Path) -> Collection:
    """The pictures of a folder; files that cannot be used are listed with the reason.

    The beginning and the end of every file are checked now, which finds wrong contents, excessive
    sizes and interrupted copies. A picture is decoded when it is needed.
    """
    folder = Path(folder)
    return collect(folder, *list_folder(folder))


def collect(folder: Path, found: Sequence[Found], skipped: Sequence[Skipped] = ()) -> Collection:
    """The pictures among the files of a folder; their sidecars are not listed as skipped."""
    root = os.path.realpath(folder)
    collection = collect_files(
        folder, found, skipped, _fault_of_file, lambda f: ImageItem(f.id, f.path, f.stamp, root)
    )
    left_out = (file for file in collection.skipped if not file.id.lower().endswith(".xmp"))
    return replace(collection, skipped=tuple(left_out))


def _fault_of_file(file: Found) -> str:
    if file.suffix not in SUFFIXES:
        return f"is a {file.suffix or 'suffixless'} file, not a picture that samekind can read"
    try:
        with open_file(file.path) as stream:
            return fault(stream, file.size, raw=file.suffix in RAW_SUFFIXES)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def fault(stream: BinaryIO, size: int, *, raw: bool = False) -> str:
    """The fault of an encoded picture in words, or an empty string.

    Parameters
    ----------
    stream : the encoded picture, seekable, at its beginning. size : its length in bytes.
    raw : whether it is a raw file of a camera.
    """
    with quiet_pillow():
        return _fault(stream, size, raw)


def _fault(stream: BinaryIO, size: int, raw: bool) -> str:
    from PIL import Image, UnidentifiedImageError

    if not size:
        return "is empty (zero bytes)"
    start = stream.read(32)
    stream.seek(0)
    if start[:4] == b"RIFF" and int.from_bytes(start[4:8], "little") + 8 > size:
        return "is cut off: the webp file is shorter than its header says"
    try:
        if is_iso_media(start) and boxes_end(stream, size) > size:
            return "is cut off: the file is shorter than it says"
        stream.seek(0)
        image = open_picture(stream, raw=raw)
        width, height = image.size
        if width * height > MAX_PIXELS:
            return too_large(width, height)
        if raw:
            _decode_small(image)
        elif image.format == "PNG":
            image.verify()
        elif image.format in ("JPEG", "MPO"):
            if not _ends_as_jpeg(stream, size):
                stream.seek(0)
                _decode_small(open_picture(stream))
        elif image.format != "WEBP":
            cut = is_cut_off(stream, size, image)
            if cut:
                return "is cut off: the file is shorter than it says"
            if cut is None:
                stream.seek(0)
                _decode_small(open_picture(stream))
    except UnidentifiedImageError:
        return "is not a picture that samekind can read"
    except Image.DecompressionBombError:
        return f"has far more pixels than the limit of {MAX_PIXELS // 1_000_000} million"
    except Exception as error:  # Pillow raises many types on damaged files
        return f"is damaged or cut off: {str(error) or type(error).__name__}"
    return ""


def _ends_as_jpeg(stream: BinaryIO, size: int) -> bool:
    """Whether the file ends with the end-of-image marker, apart from padding."""
    stream.seek(max(0, size - 64))
    return stream.read().rstrip(b"\0\r\n ").endswith(_JPEG_END)


def _decode_small(image: Image) -> None:
    """Decode a JPEG at an eighth of its size: cameras append data, so only this finds a cut."""
    image.draft("RGB", (1, 1))
    upright_rgb(image)


def fault_of_bytes(data: bytes | None, *, raw: bool = False) -> str:
    """The fault of an encoded picture in memory, or an empty string."""
    return fault(io.BytesIO(data), len(data), raw=raw) if data else "is empty (zero bytes)"
