"""MemoryStore, and open_store, which opens any store; SqlStore is imported when first used."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError, StaleWrite
from samekind.protocols import Event, Store

if TYPE_CHECKING:
    from samekind.ledger.repair import salvage
    from samekind.ledger.sql import SqlStore

__all__ = ["MAX_NAME_LENGTH", "MemoryStore", "SqlStore", "open_store", "salvage"]

MAX_NAME_LENGTH = 200
"""Characters that the name of a session may have."""


class MemoryStore:
    """A ledger in memory, gone when the process ends. Safe to use from several threads.

    >>> store = MemoryStore()
    >>> store.append("main", Event("told", {"choice": "same"}))
    1
    >>> [event.kind for event in store.read("main")]
    ['told']
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[str, str, float]]] = {}
        self._lock = threading.Lock()

    def append(self, session: str, event: Event, *, after: int | None = None) -> int:
        """Store an event; returns its number in the session.

        With `after`, only if that is the number of the last event so far.
        """
        check_session(session)
        row = to_row(event)
        with self._lock:
            rows = self._rows.get(session, [])
            check_last(len(rows), after)
            rows.append(row)
            self._rows[session] = rows
            return len(rows)

    def read(self, session: str, after: int = 0) -> Iterator[Event]:
        """The events of a session in order, starting after number `after`."""
        check_session(session)
        check_after(after)
        with self._lock:
            rows = self._rows.get(session, [])[after:]
        return (
            Event(kind, json.loads(data), at, seq)
            for seq, (kind, data, at) in enumerate(rows, start=after + 1)
        )

    def sessions(self) -> list[str]:
        """Names of the sessions that have events, sorted."""
        with self._lock:
            return sorted(self._rows)

    def close(self) -> None:
        """Do nothing; every store can be closed."""

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._rows)} sessions)"


def open_store(target: str | Path | None = None) -> Store:
    """Open the store for what a person typed: nothing, a file, or the address of a database.

    Parameters
    ----------
    target : None or ":memory:" keeps the ledger in memory; a path is a SQLite file, created with
        its folders if needed; ``postgresql://user@host/name`` is a PostgreSQL database.
    """
    if target is None or target == ":memory:":
        return MemoryStore()
    from samekind.ledger.sql import SqlStore

    return SqlStore(target)


def check_session(session: str) -> None:
    """Refuse names that not every database can store."""
    if not isinstance(session, str) or not 0 < len(session) <= MAX_NAME_LENGTH:
        got = f"{len(session)} characters" if isinstance(session, str) else repr(session)
        raise InputError(
            f"Expected a session name of 1 to {MAX_NAME_LENGTH} characters, got {got}."
        )
    if not _storable(session):
        raise InputError(
            f"The session name {session!r} has characters that cannot be stored. Choose another."
        )


def check_after(after: int) -> None:
    """Refuse negative event numbers."""
    if after < 0:
        raise InputError(f"Expected 'after' to be 0 or more, got {after}.")


def check_last(last: int, after: int | None) -> None:
    """Refuse an event that was decided on before others were stored."""
    if after is not None and after != last:
        raise StaleWrite(
            f"Expected event {after} to be the last of the session, but there are {last}. "
            "Read the new ones and decide again."
        )


def to_row(event: Event) -> tuple[str, str, float]:
    """The kind, the data as JSON text, and the time of an event."""
    if not event.kind or not _storable(event.kind):
        raise InputError(f"Expected the kind of an event as text, got {event.kind!r}.")
    if not math.isfinite(event.at):
        raise InputError(f"Expected the time of an event in UTC seconds, got {event.at}.")
    try:
        data = dict(event.data)
        _refuse_other_keys(data)
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"The data of a {event.kind!r} event is not plain JSON ({error}). "
            "Use str, int, float (not NaN), bool, None, lists and dicts with text keys."
        ) from error
    if not _storable(text):  # half a surrogate pair, from a file name that is not Unicode
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return event.kind, text, float(event.at)


def _refuse_other_keys(value: Any) -> None:
    """Refuse keys that are not text: JSON would silently turn 3 into "3"."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _refuse_other_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_other_keys(inner)


def _storable(text: str) -> bool:
    """Whether SQLite and PostgreSQL both return the text unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def __getattr__(name: str) -> Any:
    """Import SqlStore and salvage, and SQLAlchemy with them, when they are first used."""
    homes = {"SqlStore": "samekind.ledger.sql", "salvage": "samekind.ledger.repair"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
