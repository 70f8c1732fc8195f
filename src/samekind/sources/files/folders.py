"""List the files of a folder in natural order, and those that had to be skipped."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from samekind import __version__
from samekind.errors import SourceError
from samekind.items import Collection, Item, Skipped
from samekind.sources.files.kept_listing import KeptListing, Ticker

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file: its id (path within the folder), path, suffix, size and stamp.

    `intact` means that it was checked before and has not changed since.
    """

    id: str
    path: str
    suffix: str
    size: int
    stamp: str
    intact: bool = False


def list_folder(
    folder: Path, *, kept: KeptListing | None = None, ticker: Ticker | None = None
) -> tuple[list[Found], list[Skipped]]:
    """All files at any depth, ``photo 2`` before ``photo 10``.

    Hidden files are ignored. Links that lead out of the folder, broken links and special files are
    reported as skipped.

    Parameters
    ----------
    kept : the listing of the last time: its order is used again, and its intact files are marked.
    ticker : counts the files.
    """
    if not folder.is_dir():
        raise SourceError(f"Expected a folder, but {str(folder)!r} is not one.")
    root, cut = os.path.realpath(folder), len(os.path.join(folder, ""))
    kept, ticker = kept or KeptListing(), ticker or Ticker(None)
    before, n_before = kept.intact_stamps(), len(kept.ids)
    found: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for entry in _walk(str(folder), skipped, cut):
        ticker.tick(n_before)
        id = _id(entry.path, cut)
        reason = _skip_reason(entry, root)
        if reason:
            skipped.append(Skipped(id, reason))
            continue
        status = entry.stat()
        suffix = os.path.splitext(entry.name)[1].lower()
        stamp = f"{status.st_size}-{status.st_mtime_ns}"
        intact = before.get(id) == stamp
        found[id] = Found(id, entry.path, suffix, status.st_size, stamp, intact)
    order = kept.ordered(found, natural)
    return [found[id] for id in order], sorted(skipped, key=lambda file: natural(file.id))


def open_listed(
    folder: Path,
    choose: Callable[[Sequence[Found]], Reader],
    *,
    cache: Path | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Collection:
    """Open a folder with the reader that fits its files, using and renewing the kept listing.

    Parameters
    ----------
    choose : from the files to the module that reads them.
    cache : folder of the kept listing; None: nothing is kept.
    report : called with (files looked at, total or 0 if it is not known), after a second.
    """
    began = time.time_ns()
    kept, ticker = KeptListing.of(folder, cache), Ticker(report)
    found, skipped = list_folder(folder, kept=kept, ticker=ticker)
    reader = choose(found)
    name = f"{reader.__name__} {' '.join(sorted(reader.SUFFIXES))} {__version__}"
    if name != kept.reader:
        found = [replace(file, intact=False) if file.intact else file for file in found]
    ticker.restart()
    collection = reader.collect(folder, _Ticked(found, ticker), skipped)
    taken = {item.id for item in collection} if cache is not None else set()
    now = KeptListing(
        [file.id for file in found],
        [file.stamp for file in found],
        "".join("1" if file.id in taken else "0" for file in found),
        name,
    )
    kept.update(folder, now, began_ns=began)
    return collection


class Reader(Protocol):
    """A module that makes a collection of the files of a folder."""

    __name__: str
    SUFFIXES: Iterable[str]

    def collect(
        self, folder: Path, found: Sequence[Found], skipped: Sequence[Skipped] = ()
    ) -> Collection: ...


class _Ticked(list[Found]):
    """Files that are counted while somebody goes over them."""

    def __init__(self, files: Sequence[Found], ticker: Ticker) -> None:
        super().__init__(files)
        self._ticker = ticker

    def __iter__(self) -> Iterator[Found]:
        for file in super().__iter__():
            self._ticker.tick(len(self))
            yield file


def collect_files(
    folder: Path,
    found: Sequence[Found],
    skipped: Sequence[Skipped],
    fault: Callable[[Found], str],
    make: Callable[[Found], Item],
) -> Collection:
    """The files of a folder as items; those with a fault are skipped with that reason."""
    items, left_out = [], list(skipped)
    for file in found:
        if reason := "" if file.intact else fault(file):
            left_out.append(Skipped(file.id, reason))
        else:
            items.append(make(file))
    return Collection(folder.resolve().name or str(folder), items, tuple(left_out), str(folder))


def natural(id: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A sort key: by folder, digits as numbers, letters without case; never a tie."""
    parts = [
        tuple(
            (0, int(piece), piece) if piece.isdecimal() else (1, 0, piece.casefold())
            for piece in _DIGITS.split(part)
            if piece
        )
        for part in id.split("/")
    ]
    return (*parts, ((2, 0, id),))


def open_file(path: str, root: str = "") -> BufferedReader:
    """Open the file of an item, which may have been replaced since its folder was listed.

    A pipe would never end, and a link could lead to any file of this machine.

    Parameters
    ----------
    root : the folder without links that the file has to be in; empty: it may be anywhere.

    Raises
    ------
    OSError
        If it cannot be opened, is not a regular file, or is outside of `root`.
    """
    flags = ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY")  # what the platform has of them
    handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file any more")
        if root and not _is_below(path, root, status):
            raise OSError(errno.EXDEV, "it is a link that leads out of the folder now")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _is_below(path: str, root: str, opened: os.stat_result) -> bool:
    """Whether the file that was opened is in a folder, wherever links led to."""
    real = os.path.realpath(path)
    inside = os.path.commonpath([real, root]) == root
    return inside and os.path.samestat(os.lstat(real), opened)


def _walk(folder: str, skipped: list[Skipped], cut: int) -> Iterator[os.DirEntry[str]]:
    """Entries other than folders, at any depth; links are not followed."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as listing:
                entries = [entry for entry in listing if not entry.name.startswith(".")]
        except OSError as error:
            skipped.append(Skipped(_id(current, cut), f"folder cannot be read: {error.strerror}"))
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry


def _skip_reason(entry: os.DirEntry[str], root: str) -> str:
    """Why an entry is skipped, or an empty string."""
    try:
        mode = entry.stat().st_mode
    except OSError as error:
        broken = "is a broken link" if entry.is_symlink() else "cannot be read"
        return f"{broken}: {error.strerror}"
    if entry.is_symlink():
        target = os.path.realpath(entry.path)
        if os.path.commonpath([target, root]) != root:
            return "is a link that leads out of the folder; it is not followed"
        if stat.S_ISDIR(mode):
            return "is a link to a folder; it is not followed"
    return "" if stat.S_ISREG(mode) else "is not a regular file"


def _id(path: str, cut: int) -> str:
    """The path after the folder's, with ``/``; invalid UTF-8 is written as ``\\xff``."""
    relative = path[cut:] or "."
    if os.sep != "/":
        relative = relative.replace(os.sep, "/")
    if relative.isascii():
        return relative
    return os.fsencode(relative).decode("utf-8", "backslashreplace")
