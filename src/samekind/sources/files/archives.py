"""Zip archives of strangers: sizes are checked before unpacking, and pickles are never loaded."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from numpy.lib.format import MAGIC_PREFIX
from numpy.lib.format import read_array as read_npy
from numpy.typing import NDArray

from samekind.errors import SourceError

UNREADABLE = (
    *(ArithmeticError, EOFError, LookupError, MemoryError, OSError, RuntimeError),
    *(AttributeError, SyntaxError, TokenError, TypeError, ValueError, BadZipFile, zlib.error),
)
"""What zipfile, zlib, NumPy and networkx raise on damaged files."""
MAX_RATIO = 300
"""Bytes per byte of an archive; vectors have about 1, tables of words 100, and zeros 1,000."""
MAX_SMALL = 64_000_000
"""Bytes of memory that the content of an archive may always take."""


def physical_memory() -> int:
    """Bytes of memory of this machine; 0 where it does not say."""
    if not hasattr(os, "sysconf"):
        return 0
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_unpacked_size(path: Path, size: int, advice: str, *, unpacked: int = 0) -> None:
    """Refuse a file that would fill the memory: a few kilobytes may.

    Parameters
    ----------
    size : bytes of memory that its content takes by its own account. advice : what to do instead.
    unpacked : bytes in an archive, which have to be in proportion to it.
    """
    memory = physical_memory()
    if memory and size > memory / 2:
        raise SourceError(
            f"Expected a file that takes at most half of the memory ({memory / 2e9:.1f} GB), "
            f"but {str(path)!r} unpacks to {size / 1e9:,.1f} GB. {advice}"
        )
    bytes_in_file = path.stat().st_size
    if size > MAX_SMALL and unpacked > MAX_RATIO * bytes_in_file:
        raise SourceError(
            f"Expected a file that unpacks to at most {MAX_RATIO} times its size, but "
            f"{str(path)!r} with {bytes_in_file:,} bytes unpacks to {unpacked:,}. {advice}"
        )


def read_member(archive: ZipFile, name: str) -> bytes:
    """Unpack a file of an archive, but no more of it than the archive states.

    ``ZipFile.read`` unpacks everything, and only then notices that it is more than was stated.

    Raises
    ------
    KeyError, BadZipFile, ValueError
        If it is not there, damaged, longer than stated, or packed in a way that cannot be bounded.
    """
    with _opened(archive, name) as stream:
        size = archive.getinfo(name).file_size
        content = stream.read(size + 1)
    if len(content) != size:
        raise BadZipFile(f"{name!r} in it is not as long as the archive says")
    return content


def read_array(archive: ZipFile, name: str) -> NDArray[Any]:
    """Read a ``.npy`` file of an archive piece by piece; pickled objects are not loaded.

    Raises
    ------
    KeyError, BadZipFile, ValueError
        As :func:`read_member`, and if it is not an array of numbers or texts.
    """
    with _opened(archive, name) as stream:
        if stream.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
            raise ValueError(f"{name!r} in it is not an array")
        stream.seek(0)
        found: NDArray[Any] = read_npy(stream, allow_pickle=False)
    return found


def _opened(archive: ZipFile, name: str) -> IO[bytes]:
    if archive.getinfo(name).compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(f"{name!r} in it is packed by another method than deflate")
    return archive.open(name)
