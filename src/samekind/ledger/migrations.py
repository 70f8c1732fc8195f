"""Migrations: the versions of the tables of a ledger, and the steps between them."""

from __future__ import annotations

from collections.abc import Callable

from samekind.errors import CorruptedLedger, ForeignFile, MissingExtra, StoreError
from samekind.ledger.checksums import OLDER_COLUMNS, Row, event_columns, stored_row
from samekind.ledger.sqlite_file import APPLICATION_ID

try:
    import sqlalchemy as sa
except ImportError as missing:
    raise MissingExtra("A ledger in a file", "app") from missing

Migration = Callable[[sa.Connection], None]
EVENTS = sa.table("events", *(sa.column(name) for name in Row._fields))
_meta = sa.table("meta", sa.column("key"), sa.column("value"))
_VERSION_KEY = "samekind_schema"
_COLUMNS = (
    "session VARCHAR(200) NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL"
)
_CHUNK = 1000


def _create_tables(connection: sa.Connection) -> None:
    """Version 1. One table clustered by session and number, so that an append writes one page."""
    sqlite = connection.dialect.name == "sqlite"
    if sqlite:
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    connection.exec_driver_sql(
        "CREATE TABLE meta (key VARCHAR(40) PRIMARY KEY, value TEXT NOT NULL)"
    )
    connection.exec_driver_sql(
        f"CREATE TABLE events ({_COLUMNS}, "
        "PRIMARY KEY (session, seq))" + (" WITHOUT ROWID" if sqlite else "")
    )


def _add_checksums(connection: sa.Connection) -> None:
    """Version 2. Each event has a checksum, and the number of questions up to it.

    The columns have no default: a program that does not know them cannot store an event without.
    """
    added = ("asked BIGINT", "checksum VARCHAR(16)")
    if connection.dialect.name == "sqlite":  # it cannot add such columns to a table
        more = ", ".join(f"{column} NOT NULL" for column in added)
        connection.exec_driver_sql("ALTER TABLE events RENAME TO earlier_events")
        connection.exec_driver_sql(
            f"CREATE TABLE events ({_COLUMNS}, {more}, PRIMARY KEY (session, seq)) WITHOUT ROWID"
        )
        _copy(connection, sa.table("earlier_events", *map(sa.column, OLDER_COLUMNS)), _insert)
        connection.exec_driver_sql("DROP TABLE earlier_events")
        return
    for column in added:
        connection.exec_driver_sql(f"ALTER TABLE events ADD COLUMN {column}")
    _copy(connection, EVENTS, _update)
    for column in added:
        name = column.split()[0]
        connection.exec_driver_sql(f"ALTER TABLE events ALTER COLUMN {name} SET NOT NULL")


def _copy(
    connection: sa.Connection,
    source: sa.TableClause,
    write: Callable[[sa.Connection, list[Row]], None],
) -> None:
    """Complete all events, in portions."""
    key = sa.tuple_(source.c.session, source.c.seq)
    wanted = sa.select(*(source.c[name] for name in OLDER_COLUMNS))
    session, seq, asked = "", 0, 0
    while True:
        portion = wanted.where(key > sa.tuple_(sa.literal(session), sa.literal(seq)))
        rows = connection.execute(portion.order_by(*key.clauses).limit(_CHUNK)).all()
        made = []
        for name, number, *plain in rows:
            asked = asked if name == session else 0
            session, seq = name, number
            made.append(stored_row(name, number, (plain[0], plain[1], plain[2]), asked))
            asked = made[-1].asked
        if not made:
            return
        write(connection, made)


def _insert(connection: sa.Connection, rows: list[Row]) -> None:
    connection.execute(sa.insert(EVENTS), [row._asdict() for row in rows])


def _update(connection: sa.Connection, rows: list[Row]) -> None:
    here = sa.update(EVENTS).where(
        EVENTS.c.session == sa.bindparam("of_session"), EVENTS.c.seq == sa.bindparam("of_seq")
    )
    connection.execute(
        here.values(asked=sa.bindparam("n"), checksum=sa.bindparam("sum")),
        [
            {"of_session": row.session, "of_seq": row.seq, "n": row.asked, "sum": row.checksum}
            for row in rows
        ],
    )


MIGRATIONS: tuple[Migration, ...] = (_create_tables, _add_checksums)
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
    if value is None:
        return 0
    try:
        version = int(value)
        columns = event_columns(c["name"] for c in inspector.get_columns("events"))
    except (ValueError, sa.exc.NoSuchTableError):
        version, columns = 0, ()
    if version < 1 or columns != (Row._fields if version > 1 else OLDER_COLUMNS):
        raise CorruptedLedger(
            f"The ledger {where} is damaged: its version {value!r} does not fit its tables. It was "
            "not changed. Put a backup in its place, or run: samekind repair LEDGER"
        )
    return version
