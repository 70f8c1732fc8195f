"""The SQLite file of a ledger: check that it is ours and intact, and explain what went wrong."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copyfile

from samekind.errors import CorruptedLedger, ForeignFile, InputError, NoSpace, StoreError
from samekind.protocols import Event

APPLICATION_ID = 0x53616D65  # "Same", in the header of every ledger file
_MAGIC = b"SQLite format 3\0"


def check_owner(path: Path) -> None:
    """Refuse a file that is not a ledger; reads its first 100 bytes and writes nothing.

    The application id is at byte 68 of every SQLite file. It is always in the file itself and not
    only in the write-ahead log, because ledgers are created atomically.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a ledger file. Give the name of a file.")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise from_system(error, path) from error
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
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA journal_mode={journal}")
    except UnicodeDecodeError as error:  # SQLite quotes a name that is not valid UTF-8
        connection.close()
        raise damaged(path, "a name in it is not text") from error
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def check_intact(connection: sqlite3.Connection, path: Path) -> None:
    """Read every page once, and refuse a file with damaged pages."""
    found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise damaged(path, " ".join(str(found[0]).split()))


def damaged(path: Path, what: str) -> CorruptedLedger:
    """The error for a damaged file."""
    return CorruptedLedger(
        f"The ledger {path} is damaged: {what}. It was not changed. Put a backup in its place, or "
        "keep a copy and read what is left with samekind.ledger.store.salvage(path)."
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
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
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


def salvage(path: str | Path) -> dict[str, list[Event]]:
    """Read what is left of a damaged ledger, by session; the file itself is not changed.

    Events keep their numbers, so a gap shows which ones are lost. Each session is read forwards
    from its beginning to the damage, and backwards from its end to the damage.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise InputError(f"Expected a damaged ledger, but there is no file {path}.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "damaged"
        for suffix in ("", "-wal"):
            if os.path.exists(f"{path}{suffix}"):
                copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        with closing(sqlite3.connect(copy)) as connection:
            names = sorted(
                set(_names(connection, "min", ">")) | set(_names(connection, "max", "<"))
            )
            kept: dict[str, list[Event]] = {}
            for name in names:
                events = {e.seq: e for e in _events(connection, name, "ASC")}
                events |= {
                    e.seq: e for e in _events(connection, name, "DESC") if e.seq not in events
                }
                kept[name] = [events[seq] for seq in sorted(events)]
            return kept


def _names(connection: sqlite3.Connection, end: str, beyond: str) -> Iterator[str]:
    """Names of sessions from one end of the table to the damage."""
    last: str | None = None
    while True:
        where, given = ("", ()) if last is None else (f"WHERE session {beyond} ?", (last,))
        try:
            row = connection.execute(f"SELECT {end}(session) FROM events {where}", given).fetchone()
        except (sqlite3.Error, UnicodeDecodeError):  # SQLite may quote invalid bytes
            return
        if row[0] is None:
            return
        last = str(row[0])
        yield last


def _events(connection: sqlite3.Connection, session: str, order: str) -> Iterator[Event]:
    """Readable events of a session from one end to the damage."""
    query = f"SELECT kind, data, at, seq FROM events WHERE session = ? ORDER BY seq {order}"
    try:
        cursor = connection.execute(query, (session,))
    except (sqlite3.Error, UnicodeDecodeError):
        return
    while True:
        try:
            row = cursor.fetchone()
            if row is None:
                return
            yield Event(str(row[0]), json.loads(row[1]), float(row[2]), int(row[3]))
        except (TypeError, ValueError):
            continue  # one unreadable event does not end the reading
        except sqlite3.Error:
            return
