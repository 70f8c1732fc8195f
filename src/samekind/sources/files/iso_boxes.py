"""Boxes of ISO media files (HEIC, AVIF): what is checked before a decoder sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

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
    while place + 8 <= size:
        stream.seek(place)
        head = stream.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:  # 0: up to the end of the file
            length = size - place
        yield head[4:8], place, place + length
        place += length


def boxes_end(stream: BinaryIO, size: int) -> int:
    """Where the last box of a file ends by its own account."""
    return max((end for _, _, end in boxes(stream, size)), default=0)


def check_items(stream: BinaryIO, size: int) -> None:
    """Raise ValueError where the type of an item is not text.

    pi-heif 1.4 dereferences a null pointer there, which would end the whole program. Every place
    that looks like such a box is checked, so it does not matter how a decoder finds its way.
    """
    for kind, start, end in boxes(stream, size):
        if kind == b"mdat":  # only pixels and EXIF data
            continue
        stream.seek(start)
        data = stream.read(min(end, size) - start)
        place = data.find(_ITEM)
        while place >= 0:
            _check_item(data, place)
            place = data.find(_ITEM, place + len(_ITEM))


def _check_item(data: bytes, place: int) -> None:
    length = int.from_bytes(data[max(0, place - 4) : place], "big") - 8
    content = data[place + len(_ITEM) :][: length if length > 0 else None]
    version = content[0] if content else 0
    words = content[_HEAD.get(version, max(_HEAD.values())) :]
    if version >= 2:
        kind, words = words[:4], words[4:]
        _text(kind)
    for word in words.split(b"\0")[1:]:  # the first is a name, which nobody reads
        _text(word)


def _text(word: bytes) -> None:
    try:
        word.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the type {word[:16]!r} of one of its parts is not text") from None
