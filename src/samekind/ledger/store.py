"""MemoryStore and open_store: where the ledger lives. SqlStore is loaded when it is first used."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError
from samekind.protocols import Event, Store

if TYPE_CHECKING:
    from samekind.ledger.sql import SqlStore
    from samekind.ledger.sqlite_file import salvage

__all__ = ["LONGEST_NAME", "MemoryStore", "SqlStore", "open_store", "salvage"]

LONGEST_NAME = 200
"""Characters that the name of a session may have."""


class MemoryStore:
    """A ledger that lives as long as the process. Safe to use from several threads.

    >>> store = MemoryStore()
    >>> store.append("main", Event("told", {"choice": "same"}))
    1
    >>> [event.kind for event in store.read("main")]
    ['told']
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[str, str, float]]] = {}
        self._lock = threading.Lock()

    def append(self, session: str, event: Event) -> int:
        """Keep an event; its position in the session comes back."""
        check_session(session)
        row = to_row(event)
        with self._lock:
            rows = self._rows.setdefault(session, [])
            rows.append(row)
            return len(rows)

    def read(self, session: str, after: int = 0) -> Iterator[Event]:
        """The events of a session in order, from the one that follows `after`."""
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
        """Nothing to let go of; here so that any store can be closed."""

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._rows)} sessions)"


def open_store(target: str | Path | None = None) -> Store:
    """The store for what a person typed: nothing, a file, or the address of a database.

    Parameters
    ----------
    target : None or ":memory:" keeps the ledger in memory; a path is a SQLite file, made with its
        folders if it is not there; ``postgresql://user@host/name`` is a PostgreSQL database.
    """
    if target is None or target == ":memory:":
        return MemoryStore()
    from samekind.ledger.sql import SqlStore

    return SqlStore(target)


def check_session(session: str) -> None:
    """Refuse names that not every database can keep."""
    if not isinstance(session, str) or not 0 < len(session) <= LONGEST_NAME:
        came = f"{len(session)} characters" if isinstance(session, str) else repr(session)
        raise InputError(
            f"The name of a session is a text of 1 to {LONGEST_NAME} characters; {came} came."
        )
    if not _storable(session):
        raise InputError(
            f"The name {session!r} has characters that cannot be stored. Choose another name."
        )


def check_after(after: int) -> None:
    """Refuse positions before the beginning."""
    if after < 0:
        raise InputError(f"Events are numbered from 1; 'after' cannot be {after}.")


def to_row(event: Event) -> tuple[str, str, float]:
    """Kind, data as JSON text, and time of an event, ready to be stored."""
    if not event.kind or not _storable(event.kind):
        raise InputError(f"An event needs a kind that can be stored as text; {event.kind!r} came.")
    if not math.isfinite(event.at):
        raise InputError(f"The time of a {event.kind!r} event is {event.at}. Give UTC seconds.")
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
    """JSON turns the key 3 into "3" without a word, and it would come back as another key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a text")
            _refuse_other_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_other_keys(inner)


def _storable(text: str) -> bool:
    """Whether SQLite and PostgreSQL both give the text back as it was."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def __getattr__(name: str) -> Any:
    """SqlStore and salvage, imported with SQLAlchemy only when somebody asks for them."""
    if name == "SqlStore":
        from samekind.ledger.sql import SqlStore

        return SqlStore
    if name == "salvage":
        from samekind.ledger.sqlite_file import salvage

        return salvage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
