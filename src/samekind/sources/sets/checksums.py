"""Checksums: refuse data of the benchmark that differ from those that were measured."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError

MAX_UNPACKED = 200_000_000
"""Size of a file of a set; the largest that is packed by itself has 47 million bytes."""
PIECE = 1 << 20
"""Bytes that are unpacked at a time."""


def check_file(path: Path, expected: str, *, packed: bool = False) -> Path:
    """Return the path if the file has the expected SHA-256.

    The checksum is computed once per process, as long as size and time of the file stay the same.

    Parameters
    ----------
    packed : whether it is a gzip file whose content has that checksum. Packing the same bytes
        again changes the packed file.

    Raises
    ------
    SourceError
        If it has another checksum.
    """
    status = path.stat()
    found = _sum_of(str(path), status.st_size, status.st_mtime_ns, packed)
    if found != expected:
        what = "the SHA-256 of its content" if packed else "its SHA-256"
        raise SourceError(
            f"{str(path)!r} is not the file of this set: expected {what} to be {expected}, got "
            f"{found}. Get the file again, or open it as an ordinary table by its path."
        )
    return path


def unpack(path: Path) -> bytes:
    """The content of a gzip file of at most :data:`MAX_UNPACKED` bytes."""
    return b"".join(_unpacked(path))


def _unpacked(path: Path) -> Iterator[bytes]:
    """The content of a gzip file in pieces, so that some kilobytes cannot fill the memory."""
    left = MAX_UNPACKED
    try:
        with gzip.open(path) as stream:
            while piece := stream.read(PIECE):
                left -= len(piece)
                if left < 0:
                    raise SourceError(
                        f"Expected a file of a set, which has at most {MAX_UNPACKED:,} bytes, but "
                        f"{str(path)!r} unpacks to more. Get the file again."
                    )
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(
            f"{str(path)!r} cannot be unpacked ({error}). Get the file again."
        ) from error


def check_content(what: str, found: str, expected: str, version: str) -> None:
    """Refuse a package whose data differ from those that were measured.

    Parameters
    ----------
    what : pip's name of the package. version : one that has the expected content.
    found, expected : checksums of :func:`content_sum`.
    """
    if found != expected:
        raise SourceError(
            f"The data in the package {what!r} have changed: expected SHA-256 {expected}, got "
            f"{found}. Run: pip install '{what}=={version}'"
        )


def content_sum(parts: Iterable[str | NDArray[Any]]) -> str:
    """The SHA-256 of texts and arrays, each with its length, so that boundaries count.

    >>> content_sum(["ab", "c"]) == content_sum(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            data, kind = part.encode(), "text"
        else:
            data, kind = np.ascontiguousarray(part).tobytes(), f"{part.dtype.str}{part.shape}"
        digest.update(f"{kind} {len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


@lru_cache(maxsize=64)
def _sum_of(path: str, size: int, changed: int, packed: bool) -> str:
    """The checksum; size and time of the last change are part of the cache's key."""
    if packed:
        digest = hashlib.sha256()
        for piece in _unpacked(Path(path)):
            digest.update(piece)
        return digest.hexdigest()
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
