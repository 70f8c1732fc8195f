"""Paths as a person names them: what is wrong with one is said in a sentence."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from samekind.errors import InputError, SamekindError, SourceError

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP)


def expanded(path: str | Path) -> Path:
    """Replace ``~`` and ``~user`` at the beginning by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError as problem:
        raise InputError(
            f"Expected the name of a user after ~ in {str(path)!r}, got one without a home folder. "
            f"Check the name, or write ./{path} for a file that is called so."
        ) from problem


def as_bytes(path: str) -> bytes:
    """Return UTF-8, or the bytes of a name that is not Unicode; for keys."""
    try:
        return path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)


def is_there(path: str | Path, error: type[SamekindError] = SourceError) -> bool:
    """Whether a file or folder exists; `error` with a sentence where that cannot be seen."""
    return _status(expanded(path), error) is not None


def is_regular_file(path: str | Path, error: type[SamekindError] = SourceError) -> bool:
    """Whether a regular file exists; `error` with a sentence where that cannot be seen."""
    found = _status(expanded(path), error)
    return found is not None and stat.S_ISREG(found.st_mode)


def check_no_pipe(path: str | Path, error: type[SamekindError] = SourceError) -> None:
    """Refuse pipes, devices and sockets, which may never end, or be read only once."""
    found = _status(expanded(path), error)
    if found is not None and not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise error(
            f"Expected a regular file, got {str(path)!r}, which is a pipe or device. Write its "
            "content to a file first, and name that."
        )


def _status(path: Path, error: type[SamekindError]) -> os.stat_result | None:
    try:
        return path.stat()
    except ValueError:  # a zero byte
        return None
    except OSError as problem:
        if problem.errno in _ABSENT:
            return None
        raise error(
            f"{str(path)!r} cannot be looked at: {problem.strerror or problem}. Check the path "
            "and the permissions of its folders."
        ) from problem
