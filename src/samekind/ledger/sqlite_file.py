"""The SQLite file of a ledger: check that it is ours and intact, and explain what went wrong."""

from __future__ import annotations

import errno
import glob
import os
import shlex
import sqlite3
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from samekind.atomic_files import draft_name
from samekind.errors import CorruptedLedger, ForeignFile, NoSpace, StoreError
from samekind.ledger.last_events import missing_events, note_of, read_note
from samekind.ledger.write_ahead_log import has_changes, log_of, read_log
from samekind.questions.wording import plural
from samekind.user_paths import expanded

APPLICATION_ID = 0x53616D65  # "Same", in the header of every ledger file
_MAGIC = b"SQLite format 3\0"
MAX_VALUE_BYTES = 1 << 26
"""Size of one value that is read: an event is a few kilobytes, a stranger's file may hold any."""
LOG_LOOKS = 6
"""How often a log is read again whose last change is not complete."""


def resolved(path: Path) -> Path:
    """The file that a symbolic link stands for; any other path as it is.

    SQLite keeps its log beside the file itself, so everything else has to be looked for there too.
    """
    path = expanded(path)
    return Path(os.path.realpath(path)) if os.path.islink(path) else path


def check_owner(path: Path) -> None:
    """Refuse a file that is not a ledger; reads its first 100 bytes and writes nothing.

    The application id is at byte 68 of every SQLite file. It is always in the file itself and not
    only in the write-ahead log, because ledgers are created atomically.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a ledger file. Give the name of a file.")
    check_regular(path)
    try:
        header = read_file(path, 100)
    except OSError as error:
        raise from_system(error, path) from error
    if not header and (confirmed := read_note(path)):
        missing = {name: (1, last) for name, last in confirmed.items()}
        raise damaged(path, f"it is empty, and lacks {_confirmed(missing)}")
    if not header:
        raise ForeignFile(
            f"Expected a ledger, got the empty file {path}. Remove it or choose another name."
        )
    if header[:16] != _MAGIC:
        raise ForeignFile(
            f"Expected a ledger of samekind, but {path} is not a SQLite file. It was not changed. "
            "Choose another name."
        )
    if len(header) < 100:
        raise damaged(path, f"it ends after {len(header)} bytes")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise ForeignFile(
            f"Expected a ledger of samekind, but {path} is a database of another program. It was "
            "not changed. Choose another name."
        )


def check_regular(path: Path) -> None:
    """Refuse a pipe or device in the place of a ledger, its log or its note: it may never end."""
    for file in (path, log_of(path), path.with_name(path.name + "-shm"), note_of(path)):
        is_usual = os.path.isfile(file) or os.path.isdir(file)
        if os.path.exists(file) and not is_usual:
            raise StoreError(
                f"Expected a regular file, but {file} is a pipe, a socket or a device. It was not "
                "opened. Move it away, or choose another name."
            )


def check_names(path: Path) -> None:
    """Refuse a file with a second name: SQLite keeps a log for each name, and mixes their pages.

    A ledger that was just made has a second name for a moment, that of its draft, which is left
    behind if its process is killed in that moment.
    """
    for _ in range(LOG_LOOKS):
        if path.stat().st_nlink < 2:
            return
        time.sleep(0.05)
    for draft in path.parent.glob(f"{glob.escape(draft_name(path).name[:-18])}*.part"):
        with suppress(OSError):
            if draft.samefile(path):
                draft.unlink()
    if path.stat().st_nlink > 1:
        typed = shlex.quote(str(path))
        raise StoreError(
            f"The ledger {path} has a second name (a hard link), and SQLite would keep a log of "
            "its own for each name, so that answers could be lost. Nothing was changed. Remove the "
            f"other name, or save its answers to a new file: samekind repair {typed}"
        )


_kept_open: dict[tuple[int, int], int] = {}
_opening = threading.Lock()


def read_file(path: Path, size: int | None = None) -> bytes:
    """The first bytes of a database file, or all of it, without giving up locks.

    Whenever a process closes a file, the system drops *all* locks that it has on that file, also
    those of SQLite's connections. Other processes then take the ledger for closed and remove its
    log, in which this process goes on writing: its answers would be lost. Therefore a file that was
    opened here stays open until the process ends.
    """
    if not hasattr(os, "pread"):  # Windows has no such locks
        with path.open("rb") as file:
            return file.read(-1 if size is None else size)
    handle = kept_open(path)
    wanted = os.fstat(handle).st_size if size is None else size
    parts, got = [], 0
    while got < wanted and (part := os.pread(handle, wanted - got, got)):
        parts.append(part)
        got += len(part)
    return b"".join(parts)


def kept_open(path: Path) -> int:
    """A descriptor of a file that stays open until the process ends, so that no lock is lost."""
    with _opening:
        status = path.stat()
        handle = _kept_open.get((status.st_dev, status.st_ino))
        if handle is None:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            status = os.fstat(handle)
            _kept_open[status.st_dev, status.st_ino] = handle
    return handle


def connect(path: Path, timeout: float, *, journal: str = "WAL") -> sqlite3.Connection:
    """Open an existing file so that a committed event survives a power cut.

    With synchronous=FULL SQLite waits for the disk at each commit. With WAL other processes can
    read meanwhile. `isolation_level=None` leaves BEGIN to us, because Python's comes too late.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.execute("PRAGMA trusted_schema=OFF")  # a stranger's file calls no functions
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA journal_mode={journal}")
    except UnicodeDecodeError as error:  # SQLite quotes a name that is not valid UTF-8
        connection.close()
        raise damaged(path, "a name in it is not text") from error
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def check_log(path: Path) -> None:
    """Refuse a file if confirmed changes in its write-ahead log can no longer be read.

    To be called before SQLite opens the file, because SQLite forgets them without a word. A change
    that was being written when the power failed is only mentioned: it was never confirmed.
    """
    log = log_of(path)
    found = read_log(log)
    for _ in range(LOG_LOOKS):
        if not found.unfinished:
            break
        time.sleep(0.05)  # another process may be writing it at this moment
        found = read_log(log)
    if found.lost:
        what = f"{log.name} cannot be read from some place on, and answers stored there are in it"
        raise damaged(path, what)
    if found.unfinished:
        warnings.warn(
            f"The last change of the ledger {path} was not written completely, because samekind or "
            "the computer stopped meanwhile. It is missing. Look at your last answer.",
            stacklevel=2,
        )


def check_end(path: Path) -> None:
    """Refuse a file whose last confirmed events are missing, before SQLite tidies up the log."""
    missing = missing_events(path)
    if missing:
        what = f"it lacks {_confirmed(missing)}"
        raise damaged(path, f"{what}. If it is an older copy, remove {note_of(path)}")


def _confirmed(missing: Mapping[str, tuple[int, int]]) -> str:
    """Events that had been confirmed, in words, by session with the first and the last one."""
    which = ", ".join(f"{first} to {last} of {name!r}" for name, (first, last) in missing.items())
    number = sum(last - first + 1 for first, last in missing.values())
    return f"{plural(number, 'event')} at its end that had been confirmed: {which}"


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with triggers, views or computed columns, which could change what is stored."""
    query = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex%'"
    strange = [f"{kind} {name!r}" for kind, name in connection.execute(query) if kind != "table"]
    for table in ("meta", "events"):
        columns = connection.execute(f"PRAGMA table_xinfo({table})")
        strange += [f"computed column {row[1]!r}" for row in columns if row[6]]
    if strange:
        raise ForeignFile(
            f"Expected a ledger as samekind writes it, but {path} has a {strange[0]}, which may "
            "change your answers. It was not changed. To save its answers to a new file, run: "
            f"samekind repair {shlex.quote(str(path))}"
        )


def check_intact(connection: sqlite3.Connection, path: Path) -> None:
    """Read every page once, and refuse a file with damaged pages or with rows out of order.

    The short check does not look at the order, and events behind a changed key cannot be found.
    """
    check_schema(connection, path)
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise damaged(path, " ".join(str(found[0]).split()))


def damaged(path: Path, what: str) -> CorruptedLedger:
    """The error for a damaged file."""
    log = log_of(path)
    first = f" (first move {log.name} to another folder)" if has_changes(log) else ""
    return CorruptedLedger(
        f"The ledger {path} is damaged: {what}. No answer in it was changed. Put a backup in its "
        f"place{first}, or save what can still be read to a new file: "
        f"samekind repair {shlex.quote(str(path))}"
    )


def from_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    """Translate an error of SQLite to one of ours."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return no_space(path)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"Another program has locked the ledger {path} for too long. "
            "Close that program or try again."
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "UTF-8" in str(error):
        return damaged(path, str(error))
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return not_writable(path)
    return StoreError(f"The ledger {path} could not be read or written: {error}. Try again.")


def from_system(error: OSError, path: Path) -> StoreError:
    """Translate an error of the operating system to one of ours."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_space(path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return not_writable(path)
    return StoreError(
        f"The ledger {path} cannot be used: {error.strerror or error}. Choose another folder."
    )


def no_space(path: Path) -> NoSpace:
    """The error for a full disk."""
    return NoSpace(
        f"The disk of {path} is full, so the last change was not stored. All earlier ones are "
        "safe. Free some space and continue."
    )


def not_writable(path: Path) -> StoreError:
    """The error for a read-only file or folder."""
    return StoreError(
        f"The ledger {path} cannot be opened for writing. Both the file and its folder must be "
        "writable: change their permissions, or copy the file to another folder."
    )
