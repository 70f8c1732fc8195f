"""Reading text files: whatever their encoding, and only as large as the memory allows."""

from __future__ import annotations

import codecs
from pathlib import Path

from samekind.errors import SourceError
from samekind.sources.files.archives import physical_memory

HEAD = 65_536
"""Bytes at the beginning by which a file is judged."""
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


def read_text(path: Path, expected: str, *, memory_per_byte: int) -> str:
    """Read a whole text file.

    Parameters
    ----------
    expected : what it should be, in words, for errors.
    memory_per_byte : bytes of memory that a byte of the file takes, with all that is made of it.
    """
    size, limit = path.stat().st_size, physical_memory() / 2 / memory_per_byte
    if 0 < limit < size:
        raise SourceError(
            f"Expected {expected} of at most {limit / 1e9:.1f} GB, which this machine's memory "
            f"allows, but {str(path)!r} has {size / 1e9:,.1f} GB. Split it into several files."
        )
    with open(path, "rb") as stream:
        head = stream.read(HEAD)
        if looks_binary(head):
            raise SourceError(
                f"Expected {expected}, but {str(path)!r} is binary. Save it as plain text."
            )
        return decode(head + stream.read())


def decode(data: bytes) -> str:
    """Decode bytes: as UTF-8, as UTF-16 if marked, or else as Latin-1, which always succeeds."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def looks_binary(head: bytes) -> bool:
    """Whether a file is binary, judged by its beginning."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    n_controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head[:4096])
    return b"\0" in head or n_controls > 0.05 * len(head[:4096])
