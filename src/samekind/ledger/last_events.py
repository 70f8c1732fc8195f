"""The last confirmed event of each session, noted in a small file beside a SQLite ledger.

SQLite silently forgets the end of a write-ahead log that was cut off or changed. The note is
written after an event was stored, so everything it names was confirmed, and a ledger that ends
earlier has lost something. The note is removed together with the log.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

from samekind.ledger.write_ahead_log import log_of

MAX_BYTES = 1 << 20


def note_of(path: Path) -> Path:
    """The note of a database file."""
    return path.with_name(path.name + "-last")


def note_last(path: Path, session: str, seq: int) -> None:
    """Note that an event was confirmed. A note that cannot be written is left out.

    Not synced: after a power cut an older note says less, and is never wrong. Of two processes the
    slower one may note the earlier event, which is also only less.
    """
    with suppress(OSError):
        known = read_note(path)
        if known.get(session, 0) < seq:
            write_note(path, {**known, session: seq})


def read_note(path: Path) -> dict[str, int]:
    """The last confirmed event by session; nothing if there is no note, or a damaged one."""
    try:
        with note_of(path).open("rb") as file:
            stated, _, text = file.read(MAX_BYTES).partition(b"\n")[0].partition(b" ")
        if stated != _checksum(text):
            return {}
        return {str(name): int(seq) for name, seq in json.loads(text).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def write_note(path: Path, last: Mapping[str, int]) -> None:
    """Replace the note. It is one small write: others read it whole, or not at all."""
    text = json.dumps(last, separators=(",", ":")).encode()
    handle = os.open(note_of(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, _checksum(text) + b" " + text + b"\n")
    finally:
        os.close(handle)


def remove_note(path: Path) -> None:
    """Remove the note of a ledger that was closed: SQLite has removed the log, all is in the file.

    As long as there is a log, another process has the ledger open.
    """
    if not log_of(path).exists():
        with suppress(OSError):
            note_of(path).unlink(missing_ok=True)


def missing_events(path: Path) -> dict[str, tuple[int, int]]:
    """By session, the first and the last confirmed event that are not in the ledger.

    The file is opened for reading only, so that SQLite leaves the log for a repair.
    """
    path = Path(os.path.realpath(path))  # as SQLite does
    noted = read_note(path)
    if not noted:
        return {}
    found: dict[str, int] = {}
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=10.0)) as connection:
            if not is_table(connection, "events"):
                return {}
            for name in noted:
                query = "SELECT max(seq) FROM events WHERE session = ?"
                found[name] = int(connection.execute(query, (name,)).fetchone()[0] or 0)
    except (sqlite3.Error, UnicodeDecodeError, ValueError, TypeError):
        return {}  # whatever is wrong, opening it says so
    return {name: (found[name] + 1, seq) for name, seq in noted.items() if seq > found[name]}


def is_table(connection: sqlite3.Connection, name: str, schema: str = "main") -> bool:
    """Whether a name is that of a table; a stranger's view may take for ever."""
    connection.execute("PRAGMA trusted_schema=OFF")
    query = f"SELECT count(*) FROM {schema}.sqlite_master WHERE name = ? AND type = 'table'"
    return bool(connection.execute(query, (name,)).fetchone()[0])


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()
