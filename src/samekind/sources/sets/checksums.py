"""Checksums: a set of the benchmark is the file that was measured, or it is refused."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError


def check_file(path: Path, expected: str, *, packed: bool = False) -> Path:
    """The path, if the file there has the expected SHA-256.

    The sum of a file is computed once per process as long as its size and time stay.

    Parameters
    ----------
    packed : whether it is a gzip file and the sum is that of what is in it. Packing the same
        bytes again changes the packed file.

    Raises
    ------
    SourceError
        If it has another one; says which was expected and which was found.
    """
    status = path.stat()
    found = _sum_of(str(path), status.st_size, status.st_mtime_ns, packed)
    if found != expected:
        what = "the SHA-256 of its content" if packed else "its SHA-256"
        raise SourceError(
            f"{str(path)!r} is not the file of this set: {what} is {found}, expected is "
            f"{expected}. Get the file again, or open it as an ordinary table by its path."
        )
    return path


def unpack(path: Path) -> bytes:
    """What is in a gzip file."""
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(
            f"{str(path)!r} cannot be unpacked ({error}). Get the file again."
        ) from error


def check_content(what: str, found: str, expected: str, version: str) -> None:
    """Refuse a package whose data are not those that were measured.

    Parameters
    ----------
    what : the package, as pip knows it. version : one that has the expected content.
    found, expected : as :func:`content_sum` gives them.
    """
    if found != expected:
        raise SourceError(
            f"The data in the package {what!r} have changed: SHA-256 {found}, expected is "
            f"{expected}. Run: pip install '{what}=={version}'"
        )


def content_sum(parts: Iterable[str | NDArray[Any]]) -> str:
    """The SHA-256 of texts and arrays, each with its length, so that no border can move.

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
    """Size and time of the last change are only here to notice another file of that name."""
    if packed:
        return hashlib.sha256(unpack(Path(path))).hexdigest()
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
