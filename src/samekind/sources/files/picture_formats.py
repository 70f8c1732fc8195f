"""Formats of pictures: what can be opened, and the preview that a raw file of a camera holds."""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

from samekind.sources.files.iso_boxes import is_iso_media

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = {
    "JPEG": (".jpg", ".jpeg"),
    "PNG": (".png",),
    "WEBP": (".webp",),
    "HEIF": (".heic", ".heif"),
    "AVIF": (".avif",),
    "GIF": (".gif",),
    "TIFF": (".tif", ".tiff"),
}
"""Formats that are read, by Pillow's name, with their suffixes. A new format is one entry here."""
RAW_SUFFIXES = (
    *(".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf"),
    *(".rw2", ".raf", ".pef", ".srw"),
)
"""Raw files of cameras, of which the largest JPEG inside is shown and compared."""
SUFFIXES = (*(suffix for suffixes in FORMATS.values() for suffix in suffixes), *RAW_SUFFIXES)

MIN_PREVIEW = 160 * 120
"""Pixels of an embedded JPEG below which it is an icon rather than the picture."""
MAX_AT_ONCE = 1 << 29
"""Bytes of a file whose decoder reads all of it into the memory."""
MAX_EMBEDDED = 64
"""JPEGs that are looked at in one raw file; a damaged file may seem to have thousands."""
MAX_HEAD = 1 << 18
"""Bytes at the beginning of a raw file that are searched for what the camera noted."""
ORIENTATION = 0x0112
_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
_WITH_SIZE = {0xC0, 0xC1, 0xC2}
"""Markers before the size of a picture that Pillow decodes. The sensor's own data has others."""
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
MAX_SEGMENTS = 200


@cache
def _register() -> None:
    """Teach Pillow the pictures of phones, where the package for them is installed."""
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()


def open_picture(file: BinaryIO, *, raw: bool = False) -> Image:
    """Open a picture, not yet decoded. Of several frames or pages it is the first.

    Parameters
    ----------
    file : a seekable stream.
    raw : whether it is a raw file of a camera: its preview is opened.
    """
    from PIL import Image

    _register()
    if raw:
        return _open_preview(file)
    _check_size(file)
    return Image.open(file, formats=tuple(FORMATS))


def _check_size(file: BinaryIO) -> None:
    """Refuse a HEIC or AVIF file that is too large: its decoder reads all of it at once."""
    if is_iso_media(file.read(8)) and (size := file.seek(0, io.SEEK_END)) > MAX_AT_ONCE:
        raise ValueError(f"it has {size:,} bytes; the limit is {MAX_AT_ONCE:,}")
    file.seek(0)


def _open_preview(stream: BinaryIO) -> Image:
    """Open the largest JPEG in a raw file, turned as the raw file says."""
    from PIL import Image

    data = _mapped(stream)
    found = max(embedded_jpegs(data), key=lambda one: one[1] * one[2], default=None)
    if found is None:
        raise ValueError("the raw file has no preview that can be read")
    start, _, _ = found
    image = Image.open(io.BytesIO(data[start : _end_of(data, start)]), formats=("JPEG",))
    head = b"Exif\0\0" + data[:MAX_HEAD]  # raw files begin with the same tags as EXIF data
    if "exif" not in image.info:
        image.info["exif"] = head
    with suppress(Exception):  # Pillow raises many types on unusual data
        whole = Image.Exif()
        whole.load(head)
        turned = image.getexif().get(ORIENTATION, whole.get(ORIENTATION))
        if turned in range(1, 9):
            image.getexif()[ORIENTATION] = turned
    return image


def _mapped(stream: BinaryIO) -> bytes | mmap.mmap:
    """Map a file into memory without reading it; other streams are read."""
    try:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, AttributeError):
        stream.seek(0)
        return stream.read()


def embedded_jpegs(data: bytes | mmap.mmap) -> Iterator[tuple[int, int, int]]:
    """Where JPEGs begin in some bytes, with their width and height; icons are left out."""
    place = data.find(_START)
    for _ in range(MAX_EMBEDDED):
        if place < 0:
            return
        size = _jpeg_size(data, place)
        if size is not None and size[0] * size[1] >= MIN_PREVIEW:
            yield place, *size
        place = data.find(_START, place + len(_START))


def _jpeg_size(data: bytes | mmap.mmap, start: int) -> tuple[int, int] | None:
    """Read the size of the JPEG that begins here; None if Pillow cannot decode it."""
    place = start + 2
    for _ in range(MAX_SEGMENTS):
        head = data[place : place + 9]
        if len(head) < 9 or head[0] != 0xFF:
            return None
        marker = head[1]
        if marker in _WITH_SIZE:
            return int.from_bytes(head[7:9], "big"), int.from_bytes(head[5:7], "big")
        if marker in (0xD8, 0xD9, 0xDA) or (0xC3 <= marker <= 0xCF and marker not in (0xC4, 0xCC)):
            return None
        if marker == 0xFF:  # padding
            place += 1
        elif marker in _WITHOUT_LENGTH:
            place += 2
        else:
            place += 2 + max(2, int.from_bytes(head[2:4], "big"))
    return None


def _end_of(data: bytes | mmap.mmap, start: int) -> int:
    """Where the JPEG ends at the latest: after the last end marker of the file."""
    end = data.rfind(_END, start)
    return len(data) if end < 0 else end + len(_END)


def is_cut_off(stream: BinaryIO, size: int, image: Image) -> bool | None:
    """Whether a file ends too early; None if only decoding can tell. Reads only a few bytes."""
    if image.format in ("HEIF", "AVIF"):
        return False  # by its boxes, which are looked at before
    if image.format == "GIF":
        stream.seek(max(0, size - 64))
        return None if not stream.read().rstrip(b"\0").endswith(b";") else False
    if image.format == "TIFF":
        return _strips_end(image) > size
    return None


def _strips_end(image: Image) -> int:
    """Where the last strip or tile of the first page of a TIFF file ends."""
    tags = getattr(image, "tag_v2", {})
    ends = [0]
    for offsets, counts in ((273, 279), (324, 325)):
        places = zip(tags.get(offsets, ()), tags.get(counts, ()), strict=False)
        ends += [int(at) + int(length) for at, length in places]
    return max(ends)
