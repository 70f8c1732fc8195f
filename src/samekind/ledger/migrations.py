"""Migrations: upgrade the tables of an older ledger, version by version."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from samekind.errors import ForeignFile, StoreError
from samekind.ledger.sqlite_file import APPLICATION_ID

_meta = sa.table("meta", sa.column("key"), sa.column("value"))
_VERSION_KEY = "samekind_schema"


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


Migration = Callable[[sa.Connection], None]
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
