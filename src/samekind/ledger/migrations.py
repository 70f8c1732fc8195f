"""The versions of the ledger's tables, and the way from each to the next."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from samekind.errors import ForeignFile, StoreError
from samekind.ledger.sqlite_file import APPLICATION_ID

_meta = sa.table("meta", sa.column("key"), sa.column("value"))
_VERSION_KEY = "samekind_schema"


def _make_journal(connection: sa.Connection) -> None:
    """Version 1. One tree sorted by session and number: an append writes one page."""
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


Migration = Callable[[sa.Connection], None]
MIGRATIONS: tuple[Migration, ...] = (_make_journal,)
"""What leads from each version to the next. Released ones are never edited; new ones are added."""


def migrate(connection: sa.Connection, where: str) -> None:
    """Run what is missing. The caller holds a write transaction, so that it is all or nothing.

    The version is read again here: another process may have been quicker.
    """
    version = version_of(connection, where)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The ledger {where} was written by a newer samekind (version {version} of the "
            f"tables, this one knows {len(MIGRATIONS)}). Run: pip install --upgrade samekind"
        )
    for migration in MIGRATIONS[version:]:
        migration(connection)
    row = {"key": _VERSION_KEY, "value": str(len(MIGRATIONS))}
    connection.execute(sa.delete(_meta).where(_meta.c.key == _VERSION_KEY))
    connection.execute(sa.insert(_meta).values(row))


def is_newest(connection: sa.Connection, where: str) -> bool:
    """Whether nothing is missing."""
    return version_of(connection, where) == len(MIGRATIONS)


def version_of(connection: sa.Connection, where: str) -> int:
    """The version of the tables; 0 when there are none yet, ForeignFile when they are not ours."""
    inspector = sa.inspect(connection)
    tables = set(inspector.get_table_names())
    value = None
    if "meta" in tables and {"key", "value"} <= {c["name"] for c in inspector.get_columns("meta")}:
        value = connection.scalar(sa.select(_meta.c.value).where(_meta.c.key == _VERSION_KEY))
    if value is None and tables & {"meta", "events"}:
        raise ForeignFile(
            f"{where} has a table 'events' or 'meta' of another program. "
            "It was left as it is; use a database of its own for samekind."
        )
    return int(value or 0)
