"""SqlStore: a ledger in a SQLite file or in PostgreSQL, through SQLAlchemy Core."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from samekind.atomic_files import new_file, sync_folder
from samekind.errors import CorruptedLedger, MissingExtra, StoreError
from samekind.ledger import sqlite_file as ledgerfile
from samekind.ledger.checksums import Row, stored_row
from samekind.ledger.foreign_log import check_belongs, check_no_log, check_same, identity_of
from samekind.ledger.last_events import note_last, note_of, remove_note
from samekind.ledger.open_files import OpenFiles
from samekind.ledger.store import check_after, check_last, check_session, to_row
from samekind.ledger.watching import CHANNEL, Wake, watch_file, watch_postgres
from samekind.protocols import Event

try:
    import sqlalchemy as sa
except ImportError as missing:
    raise MissingExtra("A ledger in a file", "app") from missing

from samekind.ledger.migrations import EVENTS, is_newest, migrate
from samekind.ledger.postgres import describe_url, open_postgres, without_secrets
from samekind.user_paths import expanded

_CHUNK = 1000
"""Events that are read in one transaction."""


class SqlStore:
    """A durable ledger: append-only, one transaction per event, safe for several processes.

    Parameters
    ----------
    target : a file, created with its folders if needed, or ``postgresql://user@host/name``.
    timeout : seconds to wait for another process that writes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, SqlStore(f"{folder}/me.samekind") as store:
    ...     store.append("main", Event("told", {"choice": "same"}))
    1
    """

    def __init__(self, target: str | Path, *, timeout: float = 10.0) -> None:
        self._timeout = timeout
        self._process = os.getpid()
        self._lock = threading.Lock()  # threads queue here instead of polling SQLite's own lock
        self._path: Path | None = None
        self._files: OpenFiles | None = None
        address = str(target)
        if isinstance(target, str) and "://" in target and not target.startswith("sqlite:///"):
            self._secrets, url = open_postgres(target)
            self._where = describe_url(url)
            self._engine = sa.create_engine(
                url,
                hide_parameters=True,
                pool_pre_ping=True,
                # A snapshot older than the lock would hide the last event's number.
                isolation_level="READ COMMITTED",
                connect_args={"connect_timeout": max(2, int(timeout))},
            )
            try:
                with self._translated():
                    self._migrate(self._engine)
            except BaseException:
                self._engine.dispose()
                raise
        else:
            self._secrets = ()
            typed = expanded(address.removeprefix("sqlite:///"))
            self._path = ledgerfile.resolved(typed)
            self._where = str(typed)
            self._engine = self._open_file(self._path)
        # Also when nobody closes the store: at the end of the process, or when it is let go.
        weakref.finalize(self, _close, self._engine, self._path, self._process)

    def append(self, session: str, event: Event, *, after: int | None = None) -> int:
        """Store an event; when this returns its number, the event is safe on disk.

        With `after`, only if that is the number of the last event so far. In PostgreSQL everybody
        who watches the ledger is notified.
        """
        check_session(session)
        plain = to_row(event)
        with self._lock:
            with self._translated(), self._writing(self._engine, session) as connection:
                self._check_still_there()
                last, asked = self._last(connection, session)
                check_last(last, after)
                seq = last + 1
                row = stored_row(session, seq, plain, asked)
                connection.execute(sa.insert(EVENTS).values(row._asdict()))
                if self._path is None:  # delivered when the transaction is committed
                    notice = sa.func.pg_notify(CHANNEL, f"{seq} {session}")
                    connection.execute(sa.select(notice))
            self._note(session, seq)
        return seq

    def extend(self, session: str, events: Iterable[Event]) -> None:
        """Store many events in one transaction: all of them, or none."""
        check_session(session)
        with self._lock:
            with self._translated(), self._writing(self._engine, session) as connection:
                self._check_still_there()
                seq, asked = self._last(connection, session)
                rows = []
                for event in events:
                    rows.append(stored_row(session, seq + 1, to_row(event), asked))
                    seq, asked = rows[-1].seq, rows[-1].asked
                if rows:
                    connection.execute(sa.insert(EVENTS), [row._asdict() for row in rows])
            self._note(session, seq)

    @property
    def is_remote(self) -> bool:
        """Whether the ledger is in a database that other machines can reach."""
        return self._path is None

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call ``wake(session, number)`` for every event that anybody stores; returns a stop.

        PostgreSQL notifies at once (LISTEN). A file is looked at twice a second, and the name of
        the session is then empty: any of them may have grown. Calls come from a thread.
        """
        if self._path is None:
            return watch_postgres(self._engine.url, wake)
        return watch_file(self._path, wake)

    def read(self, session: str, after: int = 0) -> Iterator[Event]:
        """The events of a session in order, starting after number `after`.

        They are read in chunks, so that a slow reader never holds a transaction open.
        """
        check_session(session)
        check_after(after)
        return self._read(session, after)

    def sessions(self) -> list[str]:
        """Names of the sessions that have events, sorted."""
        with self._translated(), self._engine.connect() as connection:
            names = connection.scalars(sa.select(EVENTS.c.session).distinct()).all()
        if not all(isinstance(name, str) for name in names):
            raise self._damaged("the name of a session is not text")
        return sorted(names)

    def close(self) -> None:
        """Close the connections. The store opens new ones when it is used again."""
        _close(self._engine, self._path, self._process)
        if self._files is not None:
            self._files.forget_log()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqlStore({self._where!r})"

    def _read(self, session: str, after: int) -> Iterator[Event]:
        wanted = sa.select(*EVENTS.c).where(EVENTS.c.session == session).order_by(EVENTS.c.seq)
        last = 0  # looked up from the other end: a damaged key hides what is behind it
        while True:
            with self._translated(), self._engine.connect() as connection:
                portion = wanted.where(EVENTS.c.seq > after).limit(_CHUNK)
                rows = connection.execute(portion).all()
                if not rows and last > after:  # it was there before
                    raise self._damaged(f"event {after + 1} of {session!r} cannot be found")
                is_end = len(rows) < _CHUNK
                last = self._last(connection, session)[0] if is_end else 0
            for row in rows:
                after += 1
                try:
                    if row.seq != after:
                        raise ValueError
                    event = Row(*row).event()
                except (TypeError, ValueError, AttributeError):
                    raise self._damaged(f"event {after} of {session!r} cannot be read") from None
                yield event
            if is_end and last <= after:
                return

    def _note(self, session: str, seq: int) -> None:
        """Note beside a file what was confirmed, so that it cannot go missing without a word."""
        if self._path is not None:
            note_last(self._path, session, seq)

    def _last(self, connection: sa.Connection, session: str) -> tuple[int, int]:
        """The number of the last event of a session, and how many questions it has so far."""
        of_session = sa.select(EVENTS.c.seq, EVENTS.c.asked).where(EVENTS.c.session == session)
        latest = of_session.order_by(EVENTS.c.seq.desc()).limit(1)
        seq, asked = connection.execute(latest).one_or_none() or (0, 0)
        if not isinstance(seq, int) or not isinstance(asked, int):
            raise self._damaged(f"the number of the last event of {session!r} is none")
        return seq, asked

    def _damaged(self, what: str) -> CorruptedLedger:
        if self._path is not None:
            return ledgerfile.damaged(self._path, what)
        return CorruptedLedger(f"The ledger in {self._where} is damaged: {what}. Restore a backup.")

    def _open_file(self, path: Path) -> sa.Engine:
        """Open a file after checking that it is ours and intact; migrate it if it is older."""
        engine = None
        try:
            if not path.exists():
                self._make_file(path)
            ledgerfile.check_owner(path)
            ledgerfile.check_names(path)
            self._identity = identity_of(path)
            ledgerfile.check_log(path)
            check_belongs(path)
            ledgerfile.check_end(path)
            engine = _sqlite_engine(path, self._timeout, identity=self._identity)
            with self._translated():
                self._check_intact(engine, path)
                self._migrate(engine)
            self._files = OpenFiles(path)
        except BaseException as error:
            if engine is not None:
                engine.dispose()
            if isinstance(error, OSError) and not isinstance(error, StoreError):
                raise ledgerfile.from_system(error, path) from error
            raise
        return engine

    def _make_file(self, path: Path) -> None:
        """Create the ledger atomically: nobody ever sees an unfinished file under its name."""
        check_no_log(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        note_of(path).unlink(missing_ok=True)  # of a ledger that is no longer there
        # Another process was quicker, and its ledger is as good; or it has removed the draft, which
        # is a second name of the ledger.
        with suppress(FileExistsError, FileNotFoundError):
            with new_file(path) as draft:
                draft.touch(exist_ok=False)
                engine = _sqlite_engine(draft, self._timeout, journal="DELETE")
                try:
                    with self._translated():
                        self._migrate(engine)
                finally:
                    engine.dispose()
            sync_folder(path.parent)

    def _check_intact(self, engine: sa.Engine, path: Path) -> None:
        """Check the file; retry while another process opens it at the same moment."""
        until = time.monotonic() + self._timeout
        while True:
            try:
                with engine.connect() as connection:
                    raw: Any = connection.connection.dbapi_connection
                    return ledgerfile.check_intact(raw, path)
            except (sa.exc.OperationalError, sqlite3.OperationalError) as error:
                cause = getattr(error, "orig", error)
                code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
                if code != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _migrate(self, engine: sa.Engine) -> None:
        """Bring the tables to the newest version in one transaction, or leave them unchanged."""
        with engine.connect() as connection:
            if is_newest(connection, self._where):
                return  # the usual case, without waiting for a writer
        with self._writing(engine, "") as connection:
            migrate(connection, self._where)

    @contextmanager
    def _writing(self, engine: sa.Engine, session: str) -> Iterator[sa.Connection]:
        """A transaction in which nobody else can number events of this session."""
        with engine.connect() as plain:
            connection = plain.execution_options(samekind_writes=True)
            with connection.begin():
                if connection.dialect.name == "postgresql":
                    digest = hashlib.sha256(f"samekind\0{session}".encode()).digest()
                    key = int.from_bytes(digest[:8], "big", signed=True)
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))
                yield connection

    def _check_still_there(self) -> None:
        """Refuse to write to files that are gone: events would be lost without an error."""
        if self._files is None:
            return
        if os.getpid() != self._process:  # it would believe that it holds locks, and has none
            raise StoreError(
                f"The ledger {self._path} was opened before this process was forked, and SQLite "
                "could lose answers then, so the last change was not stored. Open it only in the "
                "new process, or start that with multiprocessing.get_context('spawn')."
            )
        self._files.check()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate errors of the database to ours, without passwords."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            if self._path is not None and isinstance(cause, sqlite3.Error):
                raise ledgerfile.from_sqlite(cause, self._path) from error
            reason = without_secrets(" ".join(str(cause).split()), self._secrets)
            # `from None`: the chained error could show the secrets.
            raise StoreError(
                f"The ledger in {self._where} could not be read or written: {reason} "
                "Check the address and that the server is running, then try again."
            ) from None
        except sqlite3.Error as error:
            raise ledgerfile.from_sqlite(error, Path(self._where)) from error


def _close(engine: sa.Engine, path: Path | None, process: int) -> None:
    """Close the connections. The last one lets SQLite move its log into the file.

    In a forked process they are only forgotten: the first process goes on using that log.
    """
    own = os.getpid() == process
    engine.dispose(close=own)
    if own and path is not None:
        remove_note(path)


def _sqlite_engine(
    path: Path,
    timeout: float,
    *,
    journal: str = "WAL",
    identity: tuple[int, int] | None = None,
) -> sa.Engine:
    """An engine whose writers take the write lock at once, so that events are numbered in turn.

    With `identity`, it connects only to that file.
    """

    def connect() -> sqlite3.Connection:
        if identity is not None:
            check_same(path, identity)
        return ledgerfile.connect(path, timeout, journal=journal)

    engine = sa.create_engine(
        "sqlite+pysqlite://",
        creator=connect,
        poolclass=sa.pool.QueuePool,
        hide_parameters=True,
    )

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("samekind_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
