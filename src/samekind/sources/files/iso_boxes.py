"""Boxes of ISO media files (HEIC, AVIF): how long a file is by its own account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

MAX_BOXES = 1_000
"""Outermost boxes of a file; cameras write up to ten."""


def is_iso_media(start: bytes) -> bool:
    """Whether a file that begins with these bytes consists of boxes."""
    return start[4:8] == b"ftyp"


def boxes_end(stream: BinaryIO, size: int) -> int:
    """Where the last of the outermost boxes ends by its own account."""
    return max(_ends(stream, size), default=0)


def _ends(stream: BinaryIO, size: int) -> Iterator[int]:
    place = 0
    for _ in range(MAX_BOXES):
        if place + 8 > size:
            return
        stream.seek(place)
        head = stream.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        place = place + length if length >= 8 else size  # 0: up to the end of the file
        yield place
    raise ValueError(f"it has more than {MAX_BOXES:,} parts")
