"""SqlStore: a ledger in a SQLite file or in PostgreSQL, through SQLAlchemy Core."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from samekind.atomic_files import new_file, sync_folder
from samekind.errors import CorruptedLedger, ForeignFile, MissingExtra, StoreError
from samekind.ledger import sqlite_file as ledgerfile
from samekind.ledger.sqlite_file import APPLICATION_ID
from samekind.ledger.store import check_after, check_last, check_session, to_row
from samekind.ledger.watching import CHANNEL, Wake, watch_file, watch_postgres
from samekind.protocols import Event

try:
    import sqlalchemy as sa
except ImportError as missing:
    raise MissingExtra("A ledger in a file", "app") from missing

from samekind.ledger.postgres import describe_url, open_postgres, without_secrets

_meta = sa.table("meta", sa.column("key"), sa.column("value"))
_VERSION_KEY = "samekind_schema"
Migration = Callable[[sa.Connection], None]
_events = sa.table(
    "events", *(sa.column(name) for name in ("session", "seq", "kind", "data", "at"))
)
_CHUNK = 1000
"""Events that are read in one transaction."""


def _create_tables(connection: sa.Connection) -> None:
    """Version 1. One table clustered by session and number, so that an append writes one page."""
    sqlite = connection.dialect.name == "sqlite"
    if sqlite:
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    connection.exec_driver_sql(
        "CREATE TABLE meta (key VARCHAR(40) PRIMARY KEY, value TEXT NOT NULL)"
    )
    connection.exec_driver_sql(
        "CREATE TABLE events (session VARCHAR(200) NOT NULL, seq BIGINT NOT NULL, "
        "kind TEXT NOT NULL, data TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, "
        "PRIMARY KEY (session, seq))" + (" WITHOUT ROWID" if sqlite else "")
    )


MIGRATIONS: tuple[Migration, ...] = (_create_tables,)
"""The step from each version to the next. Released steps are never edited, only new ones added."""


def migrate(connection: sa.Connection, where: str) -> None:
    """Run the missing steps. The caller holds a write transaction, so it is all or nothing.

    The version is read again here, because another process may have migrated meanwhile.
    """
    version = version_of(connection, where)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The ledger {where} was written by a newer samekind: expected version "
            f"{len(MIGRATIONS)} of the tables or older, got {version}. "
            "Run: pip install --upgrade samekind"
        )
    for migration in MIGRATIONS[version:]:
        migration(connection)
    row = {"key": _VERSION_KEY, "value": str(len(MIGRATIONS))}
    connection.execute(sa.delete(_meta).where(_meta.c.key == _VERSION_KEY))
    connection.execute(sa.insert(_meta).values(row))


def is_newest(connection: sa.Connection, where: str) -> bool:
    """Whether no step is missing."""
    return version_of(connection, where) == len(MIGRATIONS)


def version_of(connection: sa.Connection, where: str) -> int:
    """The version of the tables: 0 if there are none yet, ForeignFile if they are not ours."""
    inspector = sa.inspect(connection)
    tables = set(inspector.get_table_names())
    value = None
    if "meta" in tables and {"key", "value"} <= {c["name"] for c in inspector.get_columns("meta")}:
        value = connection.scalar(sa.select(_meta.c.value).where(_meta.c.key == _VERSION_KEY))
    if value is None and tables & {"meta", "events"}:
        raise ForeignFile(
            f"{where} has a table 'events' or 'meta' of another program. It was not changed. "
            "Use a separate database for samekind."
        )
    return int(value or 0)


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
        self._lock = threading.Lock()  # threads queue here instead of polling SQLite's own lock
        self._path: Path | None = None
        self._identity: tuple[int, int] | None = None
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
            self._path = Path(address.removeprefix("sqlite:///")).expanduser()
            self._where = str(self._path)
            self._engine = self._open_file(self._path)

    def append(self, session: str, event: Event, *, after: int | None = None) -> int:
        """Store an event; when this returns its number, the event is safe on disk.

        With `after`, only if that is the number of the last event so far. In PostgreSQL everybody
        who watches the ledger is notified.
        """
        check_session(session)
        kind, data, at = to_row(event)
        last = sa.select(sa.func.max(_events.c.seq)).where(_events.c.session == session)
        with self._lock, self._translated(), self._writing(self._engine, session) as connection:
            self._check_still_there()
            before = int(connection.scalar(last) or 0)
            check_last(before, after)
            seq = before + 1
            values = {"session": session, "seq": seq, "kind": kind, "data": data, "at": at}
            connection.execute(sa.insert(_events).values(values))
            if self._path is None:  # delivered when the transaction is committed
                connection.execute(sa.select(sa.func.pg_notify(CHANNEL, f"{seq} {session}")))
        return seq

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
            return sorted(connection.scalars(sa.select(_events.c.session).distinct()))

    def close(self) -> None:
        """Close the connections. The store opens new ones when it is used again."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqlStore({self._where!r})"

    def _read(self, session: str, after: int) -> Iterator[Event]:
        columns = (_events.c.seq, _events.c.kind, _events.c.data, _events.c.at)
        wanted = sa.select(*columns).where(_events.c.session == session).order_by(_events.c.seq)
        while True:
            with self._translated(), self._engine.connect() as connection:
                portion = wanted.where(_events.c.seq > after).limit(_CHUNK)
                rows = connection.execute(portion).all()
            for seq, kind, data, at in rows:
                after += 1
                try:
                    if seq != after:
                        raise ValueError
                    event = Event(kind, json.loads(data), at, seq)
                except ValueError:
                    raise self._damaged(f"event {after} of {session!r} cannot be read") from None
                yield event
            if len(rows) < _CHUNK:
                return

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
            engine = _sqlite_engine(path, self._timeout)
            with self._translated():
                self._check_intact(engine, path)
                self._migrate(engine)
            status = path.stat()
            self._identity = (status.st_dev, status.st_ino)
        except BaseException as error:
            if engine is not None:
                engine.dispose()
            if isinstance(error, OSError) and not isinstance(error, StoreError):
                raise ledgerfile.from_system(error, path) from error
            raise
        return engine

    def _make_file(self, path: Path) -> None:
        """Create the ledger atomically: nobody ever sees an unfinished file under its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was quicker; its ledger is as good
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
        """Refuse to write to a removed or replaced file: events would be lost without an error."""
        if self._path is None:
            return
        try:
            status = self._path.stat()
            same = (status.st_dev, status.st_ino) == self._identity
        except OSError:
            same = False
        if not same:
            raise StoreError(
                f"The ledger {self._path} was moved, removed or replaced while it was open, so "
                "the last change was not stored. Put the file back, or open the session again."
            )

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


def _sqlite_engine(path: Path, timeout: float, *, journal: str = "WAL") -> sa.Engine:
    """An engine whose writers take the write lock at once, so that events are numbered in turn."""
    engine = sa.create_engine(
        "sqlite+pysqlite://",
        creator=lambda: ledgerfile.connect(path, timeout, journal=journal),
        poolclass=sa.pool.QueuePool,
        hide_parameters=True,
    )

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("samekind_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
