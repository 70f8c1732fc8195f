"""Watch a ledger: learn at once, or nearly so, that another process has stored an event."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.ledger import sqlite_file

if TYPE_CHECKING:
    import sqlalchemy as sa

log = logging.getLogger("samekind")

Wake = Callable[[str, int], None]
"""Called with the name of a session and the number of its event; an empty name stands for all."""

CHANNEL = "samekind"
"""The channel of PostgreSQL on which events are announced, as "NUMBER SESSION"."""
LOOK_SECONDS = 0.5
"""How often a file is looked at. Also how quickly a watch of a database ends when it is stopped."""
RECONNECT_SECONDS = 2.0
"""Pause before a lost connection is opened again."""


def watch_postgres(url: sa.URL, wake: Wake) -> Callable[[], None]:
    """Listen to a database; returns a function that stops.

    A lost connection is opened again. As events may have been missed meanwhile, every connection
    begins with ``wake("", 0)``.
    """

    def listen(stopped: threading.Event) -> None:
        while not stopped.is_set():
            try:
                _listen(url, wake, stopped)
            except Exception as problem:  # the error itself could show the password
                log.warning("Lost the notifications of the ledger: %s.", type(problem).__name__)
                stopped.wait(RECONNECT_SECONDS)

    return _in_thread(listen)


def watch_file(path: Path, wake: Wake) -> Callable[[], None]:
    """Look at a SQLite file again and again; returns a function that stops."""

    def look(stopped: threading.Event) -> None:
        seen = None
        while not stopped.is_set():
            try:
                with closing(sqlite_file.connect(path, timeout=10.0)) as file:
                    while not stopped.is_set():
                        # Changes whenever another connection has written.
                        version = file.execute("PRAGMA data_version").fetchone()[0]
                        if version != seen:
                            wake("", 0)
                        seen = version
                        stopped.wait(LOOK_SECONDS)
            except sqlite3.Error as problem:
                log.warning("The ledger cannot be watched for a moment: %s", problem)
                stopped.wait(RECONNECT_SECONDS)

    return _in_thread(look)


def _listen(url: sa.URL, wake: Wake, stopped: threading.Event) -> None:
    with _connected(url) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        wake("", 0)
        while not stopped.is_set():
            for notice in connection.notifies(timeout=LOOK_SECONDS):
                if stopped.is_set():
                    return
                number, _, session = notice.payload.partition(" ")
                wake(session, int(number))


@contextmanager
def _connected(url: sa.URL) -> Iterator[Any]:
    """A connection of its own: one that listens cannot be shared through a pool."""
    import psycopg

    arguments, options = url.get_dialect()().create_connect_args(url)
    with psycopg.connect(*arguments, **options, autocommit=True) as connection:
        yield connection


def _in_thread(work: Callable[[threading.Event], None]) -> Callable[[], None]:
    """Run a daemon thread; the returned function stops it and waits for it."""
    stopped = threading.Event()
    thread = threading.Thread(target=work, args=(stopped,), name="ledger-watch", daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        if thread is not threading.current_thread():
            thread.join(5.0)

    return stop
