"""List the files of a folder in natural order, and those that had to be skipped."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from samekind.errors import SourceError
from samekind.items import Collection, Item, Skipped

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file: its id (path within the folder), path, suffix, size and stamp."""

    id: str
    path: str
    suffix: str
    size: int
    stamp: str


def list_folder(folder: Path) -> tuple[list[Found], list[Skipped]]:
    """All files at any depth, ``photo 2`` before ``photo 10``.

    Hidden files are ignored. Links that lead out of the folder, broken links and special files are
    reported as skipped.
    """
    if not folder.is_dir():
        raise SourceError(f"Expected a folder, but {str(folder)!r} is not one.")
    root = os.path.realpath(folder)
    found: list[Found] = []
    skipped: list[Skipped] = []
    for entry in _walk(str(folder), skipped, str(folder)):
        id = _id(entry.path, str(folder))
        reason = _skip_reason(entry, root)
        if reason:
            skipped.append(Skipped(id, reason))
            continue
        status = entry.stat()
        suffix = os.path.splitext(entry.name)[1].lower()
        stamp = f"{status.st_size}-{status.st_mtime_ns}"
        found.append(Found(id, entry.path, suffix, status.st_size, stamp))
    found.sort(key=lambda file: natural(file.id))
    return found, sorted(skipped, key=lambda file: natural(file.id))


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
        if reason := fault(file):
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


def _walk(folder: str, skipped: list[Skipped], root: str) -> Iterator[os.DirEntry[str]]:
    """Entries other than folders, at any depth; links are not followed."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as listing:
                entries = [entry for entry in listing if not entry.name.startswith(".")]
        except OSError as error:
            skipped.append(Skipped(_id(current, root), f"folder cannot be read: {error.strerror}"))
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


def _id(path: str, root: str) -> str:
    """The path within the folder, with ``/``; invalid UTF-8 is written as ``\\xff``."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    return os.fsencode(relative).decode("utf-8", "backslashreplace")
