"""A write-ahead log that belongs to another file: noticed before SQLite takes it in.

SQLite finds a log by the name of the file, and replays it into whatever has that name now. If the
process that wrote it was killed, and another ledger or a backup took the place of the file, the
pages of both would be mixed. A log is therefore only left to SQLite if the ledger then holds every
event of the file and every event of the log, unchanged and without new holes. This is found out in
memory, and only after a crash: a log that another process uses has been looked at by that one.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import struct
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from samekind.errors import StoreError
from samekind.ledger import sqlite_file as ledgerfile
from samekind.ledger.checksums import OLDER_COLUMNS, Row, event_columns
from samekind.ledger.database_image import attach, opened, with_log
from samekind.ledger.last_events import is_table, note_of
from samekind.ledger.pages import scan_log, scan_pages
from samekind.ledger.write_ahead_log import Committed, committed, has_changes, log_of
from samekind.questions.wording import plural

LOOKS = 6
"""How often files are looked at again that another process may be opening or leaving."""
_PAUSE = 0.05
_FILE_LOCKS = (0x40000000, 512)
"""The bytes of a database that SQLite locks as long as a connection is open."""
_INDEX_LOCKS = (128, 1)
"""The byte of the index of a log (``-shm``) that is locked as long as the log is in use."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a log cannot be taken in.

    Parameters
    ----------
    what : in words.
    is_damage : whether the file is damaged without the log too, so that the log may be its own.
    """

    what: str
    is_damage: bool = False


def check_belongs(path: Path) -> None:
    """Refuse a ledger whose log was begun on another file; nothing is changed.

    To be called before SQLite opens the file.
    """
    for look in range(LOOKS):
        if _is_locked(path, *_FILE_LOCKS):
            return
        if _is_locked(path.with_name(path.name + "-shm"), *_INDEX_LOCKS, by_others=True):
            wrong: StoreError = _in_use(path)
        else:
            before = _state(path)
            misfit = misfit_of(path)
            if misfit is None:
                return
            wrong = _refused(path, misfit)
            if _state(path) != before and look < LOOKS - 1:
                continue
        time.sleep(_PAUSE)  # a process that was just killed may still hold one lock of two
    raise wrong


def check_no_log(path: Path) -> None:
    """Refuse to create a ledger beside the log of one that is no longer there."""
    log = log_of(path)
    if has_changes(log) and not path.exists():
        raise StoreError(
            f"There is no ledger {path}, but its write-ahead log {log} is there: the ledger was "
            "removed or moved after samekind had been stopped, or while it was open. Put it back "
            "beside the log, or begin anew: save the events of the log to a new file (samekind "
            f"repair {shlex.quote(str(log))}), and move the log to another folder."
        )


def identity_of(path: Path) -> tuple[int, int]:
    """Which file has this name now."""
    status = path.stat()
    return status.st_dev, status.st_ino


def check_same(path: Path, identity: tuple[int, int]) -> None:
    """Refuse to connect to another file than the one that was opened: its log may not fit."""
    try:
        same = identity_of(path) == identity
    except OSError:
        same = False
    if not same:
        raise StoreError(
            f"The ledger {path} was moved, removed or replaced while it was open. Put the file "
            "back, or open the session again."
        )


def misfit_of(path: Path) -> Misfit | None:
    """Why the log beside a file cannot be taken in; None if it can, or if there is none."""
    try:
        log = committed(log_of(path).read_bytes())
    except OSError:
        return None
    if log is None:
        return None
    try:
        return misfit(ledgerfile.read_file(path), log, path)
    except (sqlite3.Error, UnicodeDecodeError) as problem:  # SQLite quotes names that are not text
        return Misfit(str(problem), is_damage=True)


def misfit(file: bytes, log: Committed, path: Path) -> Misfit | None:
    """Compare what a ledger holds without a log and with it; `path` is for messages only."""
    together = with_log(file, log)
    if together == file:  # all of it was moved into the file before
        return None
    is_whole = not _damage(file)
    with closing(_opened(together)) as connection:
        wrong = _integrity(connection)
        if wrong and not is_whole:
            return Misfit(wrong, is_damage=True)
        if wrong or _page_size(file) != log.page_size:
            return Misfit("together they are no whole ledger")
        if is_whole:
            attach(connection, file, "alone")
            if not is_table(connection, "events", "alone"):
                return None  # not a ledger, which is said when it is opened
        ledgerfile.check_schema(connection, path)
        return _compared(connection, file, log, is_whole=is_whole)


def _compared(
    connection: sqlite3.Connection, file: bytes, log: Committed, *, is_whole: bool
) -> Misfit | None:
    """Compare the events of the file with those of both."""
    if not is_table(connection, "events"):
        return Misfit("all events would be lost")
    here = "alone.events"
    if not is_whole:  # killed while SQLite moved the log into the file: its pages are of two states
        here = _listed(connection, "held", scan_pages(file))
    known = [event_columns(_columns(connection, table)) for table in (here, "main.events")]
    if not all(known):
        return Misfit("the columns of its events are not those of a ledger", is_damage=True)
    has_checksums = all(columns == Row._fields for columns in known)
    columns = ", ".join(Row._fields if has_checksums else OLDER_COLUMNS)

    def only_in(one: str, other: str) -> list[tuple[object, ...]]:
        query = f"SELECT {columns} FROM {one} EXCEPT SELECT {columns} FROM {other}"
        return connection.execute(query).fetchall()

    gone, added = only_in(here, "main.events"), only_in("main.events", here)
    if has_checksums:  # a damaged event that the log replaces is no loss
        gone = [row for row in gone if _is_whole(row)]
    if gone:
        return Misfit(f"{plural(len(gone), 'event')} of the ledger would be lost or changed")
    if has_checksums and not all(map(_is_whole, added)):
        return Misfit("events of the log go on in pages that the ledger does not have")
    written = _listed(connection, "written", scan_log(file, log.pages))
    if known[1] == Row._fields and (gone := only_in(written, "main.events")):
        return Misfit(f"{plural(len(gone), 'event')} of the log would be lost")
    return _holes(connection, here, {row[0] for row in added})


def _holes(connection: sqlite3.Connection, here: str, sessions: set[object]) -> Misfit | None:
    """Whether more numbers are missing with the log than without it."""
    count = "SELECT coalesce(max(seq) - count(DISTINCT seq), 0) FROM {} WHERE session = ?"
    for name in sessions:
        more, fewer = (
            connection.execute(count.format(table), (name,)).fetchone()[0]
            for table in ("main.events", here)
        )
        if more > fewer:
            return Misfit(f"{plural(more - fewer, 'event')} before those of the log are missing")
    return None


def _listed(connection: sqlite3.Connection, name: str, rows: Iterable[Row]) -> str:
    """A temporary table of events; returns its name."""
    connection.execute(f"CREATE TEMP TABLE {name} ({', '.join(Row._fields)})")
    places = ", ".join("?" * len(Row._fields))
    connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
    return f"temp.{name}"


def _is_whole(columns: Iterable[object]) -> bool:
    try:
        return Row(*columns).is_whole  # type: ignore[arg-type]
    except (TypeError, ValueError, AttributeError):  # a column of another type
        return False


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = connection.execute(f"SELECT * FROM {table} LIMIT 0")
    return [column[0] for column in rows.description]


def _opened(image: bytes) -> sqlite3.Connection:
    connection = opened(image)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ledgerfile.MAX_VALUE_BYTES)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _damage(image: bytes) -> str:
    """What is wrong with a database; empty if nothing is."""
    with closing(_opened(image)) as connection:
        return _integrity(connection)


def _integrity(connection: sqlite3.Connection) -> str:
    try:
        found = str(connection.execute("PRAGMA main.integrity_check(1)").fetchone()[0])
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return str(problem)
    return "" if found == "ok" else " ".join(found.split())


def _page_size(file: bytes) -> int:
    size = int.from_bytes(file[16:18], "big")
    return 65536 if size == 1 else size


def _refused(path: Path, misfit: Misfit) -> StoreError:
    if misfit.is_damage:
        return ledgerfile.damaged(path, misfit.what)
    log, note = log_of(path), note_of(path)
    names = f"{log.name} and {note.name}" if note.exists() else log.name
    return StoreError(
        f"The write-ahead log {log} does not belong to the ledger {path}: it was begun on another "
        f"ledger, or on another state of this one ({misfit.what}). Neither was changed. Save the "
        f"events of the log to a new file: samekind repair {shlex.quote(str(log))}. Then move "
        f"{names} to another folder, and open the ledger again."
    )


def _in_use(path: Path) -> StoreError:
    return StoreError(
        f"Another process has a ledger open that was called {path} before, and still writes to "
        f"{log_of(path).name}. Nothing was changed. Close that process, and open the ledger again."
    )


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Changes whenever the file or its log does."""
    found = []
    for file in (path, log_of(path)):
        try:
            status = file.stat()
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            found.append((0, 0, 0))
    return found


def _is_locked(path: Path, start: int, length: int, *, by_others: bool = False) -> bool:
    """Whether a connection has locked these bytes of a file; False where that is not known.

    With `by_others`, only connections of other processes count.
    """
    try:
        import fcntl

        handle = ledgerfile.kept_open(path)
        command = fcntl.F_GETLK
        if not by_others:  # that of open descriptions sees locks of this process too
            command = getattr(fcntl, "F_OFD_GETLK", command)
        if sys.platform == "darwin":
            layout, at = "qqihh", 3
            asked = struct.pack(layout, start, length, 0, fcntl.F_WRLCK, os.SEEK_SET)
        else:
            layout, at = "hhqqi0q", 0
            asked = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        found: int = struct.unpack(layout, fcntl.fcntl(handle, command, asked))[at]
    except (ImportError, OSError):
        return False
    return found != fcntl.F_UNLCK
