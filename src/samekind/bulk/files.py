"""Files on disk or behind a URL: list them, and read many of them or parts of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from samekind.errors import MissingExtra, SourceError
from samekind.items import Skipped
from samekind.sources import walk_folder

MARKS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the mark or the time of a file's content, in order of preference."""


class File(NamedTuple):
    """A listed file: its path within the source, its place, suffix, size and stamp."""

    id: str
    place: str
    suffix: str
    size: int
    stamp: str


class Part(NamedTuple):
    """Some bytes of a file; all of them if `end` is None."""

    place: str
    start: int = 0
    end: int | None = None


def is_url(place: str) -> bool:
    """Whether a place is a URL rather than a path.

    >>> is_url("s3://bucket/photos"), is_url("/photos")
    (True, False)
    """
    return "://" in place


def expand(source: str) -> str:
    """Return a place that does not depend on the current folder."""
    if is_url(source):
        return source.rstrip("/")
    return os.path.abspath(os.path.expanduser(source))


def suffix_of(place: str) -> str:
    """Return the suffix in small letters.

    >>> suffix_of("s3://bucket/A.JPG")
    '.jpg'
    """
    return PurePosixPath(place).suffix.lower()


def filesystem(place: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as missing:
        raise MissingExtra(f"Reading {place!r}", "cluster") from missing
    try:
        files, path = url_to_fs(place)
    except ImportError as missing:  # fsspec says which package to install
        raise SourceError(f"{place!r} cannot be opened: {missing}.") from missing
    except ValueError as unknown:
        raise SourceError(f"{place!r} cannot be opened: {unknown}.") from unknown
    return files, path


def exists(place: str) -> bool:
    """Whether there is a file or folder."""
    if not is_url(place):
        return os.path.exists(place)
    files, path = filesystem(place)
    return bool(_asked(place, files.exists, path))


def is_folder(place: str) -> bool:
    """Whether a place is a folder."""
    if not is_url(place):
        return os.path.isdir(place)
    files, path = filesystem(place)
    return bool(_asked(place, files.isdir, path))


def walk(place: str, left_out: list[Skipped] | None = None) -> Iterator[File]:
    """Iterate over a file, the files of a folder at any depth, or those that fit a pattern.

    Folders that cannot be read, links out of the folder and the like are added to `left_out`.
    """
    if is_url(place):
        yield from _walk_url(place)
    elif "*" in place:
        for path in sorted(Path("/").glob(place.lstrip("/"))):
            yield _local_file(str(path), path.name)
    elif os.path.isfile(place):
        yield _local_file(place, os.path.basename(place))
    else:
        for found in walk_folder(place):
            if not isinstance(found, Skipped):
                yield File(found.id, found.path, found.suffix, found.size, found.stamp)
            elif left_out is not None:
                left_out.append(found)


def read_parts(parts: Sequence[Part]) -> list[bytes | OSError]:
    """Read files or parts of files; one that cannot be read gives its error instead."""
    if not parts or not is_url(parts[0].place):
        return [_read_local(part) for part in parts]
    files, _ = filesystem(parts[0].place)
    paths = [filesystem(part.place)[1] for part in parts]
    starts, ends = [part.start for part in parts], [part.end for part in parts]
    found = files.cat_ranges(paths, starts, ends, on_error="return")
    return [data if isinstance(data, bytes) else _as_os_error(data) for data in found]


def open_file(place: str) -> Any:
    """Open a file for reading, to be used in a ``with``."""
    if not is_url(place):
        return open(place, "rb")
    files, path = filesystem(place)
    return files.open(path, "rb")


def _local_file(path: str, id: str) -> File:
    status = os.stat(path)
    stamp = f"{status.st_size}-{status.st_mtime_ns}"
    return File(id, path, suffix_of(path), status.st_size, stamp)


def _walk_url(place: str) -> Iterator[File]:
    files, root = filesystem(place)
    if "*" in place:
        for path, info in sorted(_asked(place, files.glob, root, detail=True).items()):
            yield _remote_file(files, path, path.rpartition("/")[2], info)
        return
    if not files.isdir(root):
        yield _remote_file(files, root, root.rpartition("/")[2], files.info(root))
        return
    for folder, folders, found in _walked(files, root, place):
        for name in [name for name in folders if name.startswith(".")]:
            del folders[name]
        within = folder.removeprefix(root).strip("/")
        for name, info in sorted(found.items()):
            if not name.startswith("."):
                id = f"{within}/{name}" if within else name
                yield _remote_file(files, info["name"], id, info)


def _walked(files: Any, root: str, place: str) -> Iterator[Any]:
    """Walk through folders behind a URL; one that cannot be listed is an error."""
    try:
        yield from files.walk(root, detail=True, on_error="raise")
    except OSError as error:
        raise SourceError(f"{place!r} cannot be listed: {error.strerror or error}.") from error


def _remote_file(files: Any, path: str, id: str, info: dict[str, Any]) -> File:
    size = int(info.get("size") or 0)
    mark = next((str(info[name]) for name in MARKS if info.get(name)), "")
    place = str(files.unstrip_protocol(path))
    return File(id, place, suffix_of(path), size, f"{size}-{mark}")


def _read_local(part: Part) -> bytes | OSError:
    try:
        with open(part.place, "rb") as file:
            file.seek(part.start)
            return file.read(-1 if part.end is None else part.end - part.start)
    except OSError as error:
        return error


def _as_os_error(problem: Any) -> OSError:
    return problem if isinstance(problem, OSError) else OSError(str(problem))


def _asked(place: str, function: Any, *arguments: Any, **options: Any) -> Any:
    """Call a function of a file system; a network or permission error names the place."""
    try:
        return function(*arguments, **options)
    except OSError as error:
        raise SourceError(f"{place!r} cannot be read: {error.strerror or error}.") from error
