"""Boxes of ISO media files (HEIC, AVIF): what is checked before a decoder sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

MAX_BYTES = 1 << 29
"""Of a file: its decoder reads all of it into the memory."""
MAX_BOXES = 1_000
"""Outermost boxes of a file; cameras write up to ten."""
MAX_DESCRIPTION = 1 << 24
"""Bytes of the box that describes the parts of a file; photos have some kilobytes."""
MAX_ITEMS = 10_000
"""Parts of a file; photos with tiles have some hundreds."""
MAX_ITEM = 1 << 12
"""Bytes that describe one part."""
_ITEM = b"infe"
"""The box that describes one item of a file: the picture, its EXIF data, a thumbnail."""
_HEAD = {0: 8, 1: 8, 2: 8, 3: 10}
"""Bytes of version, flags, id and protection before the first word of that box, by version."""


def is_iso_media(start: bytes) -> bool:
    """Whether a file that begins with these bytes consists of boxes."""
    return start[4:8] == b"ftyp"


def boxes(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, int, int]]:
    """The outermost boxes of a file: type, place, and where they end by their own account."""
    place = 0
    for _ in range(MAX_BOXES):
        if place + 8 > size:
            return
        stream.seek(place)
        head = stream.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:  # 0: up to the end of the file
            length = size - place
        yield head[4:8], place, place + length
        place += length
    raise ValueError(f"it has more than {MAX_BOXES:,} parts")


def boxes_end(stream: BinaryIO, size: int) -> int:
    """Where the last box of a file ends by its own account."""
    return max((end for _, _, end in boxes(stream, size)), default=0)


def check_items(stream: BinaryIO, size: int) -> None:
    """Raise ValueError where the type of an item is not text.

    pi-heif 1.4 dereferences a null pointer there, which would end the whole program. Every place
    in the description that looks like an item is checked, however a decoder finds its way in it.
    """
    if size > MAX_BYTES:
        raise ValueError(f"it has {size:,} bytes; the limit is {MAX_BYTES:,}")
    for kind, start, end in boxes(stream, size):
        if kind != b"meta":
            continue
        stream.seek(start)
        data = stream.read(min(end - start, MAX_DESCRIPTION + 1))
        if len(data) > MAX_DESCRIPTION:
            raise ValueError("the description of its parts is too long")
        place = data.find(_ITEM)
        for _ in range(MAX_ITEMS):
            if place < 0:
                break
            _check_item(data, place)
            place = data.find(_ITEM, place + len(_ITEM))
        else:
            raise ValueError(f"it describes more than {MAX_ITEMS:,} parts")


def _check_item(data: bytes, place: int) -> None:
    length = int.from_bytes(data[max(0, place - 4) : place], "big") - 8
    if length > MAX_ITEM:
        raise ValueError("the description of one of its parts is too long")
    begin = place + len(_ITEM)
    content = data[begin : begin + (length if length > 0 else MAX_ITEM)]
    version = content[0] if content else 0
    words = content[_HEAD.get(version, max(_HEAD.values())) :]
    if version >= 2:
        kind, words = words[:4], words[4:]
        _check_text(kind)
    for word in words.split(b"\0")[1:]:  # the first is a name, which nobody reads
        _check_text(word)


def _check_text(word: bytes) -> None:
    try:
        word.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the type {word[:16]!r} of one of its parts is not text") from None
