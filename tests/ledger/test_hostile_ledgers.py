"""Ledgers that a stranger has prepared: nothing runs, nothing hangs, no answer is taken away."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from samekind.errors import ForeignFile, StoreError
from samekind.ledger import sqlite_file
from samekind.ledger.checksums import stored_row
from samekind.ledger.last_events import write_note
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
TRIGGERS = {
    "forgets": "AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq = new.seq; END",
    "changes": "AFTER INSERT ON events BEGIN UPDATE events SET kind = 'undone'; END",
    "loads": "AFTER INSERT ON events BEGIN SELECT load_extension('evil'); END",
}


@pytest.fixture
def answered(ledger: Path) -> Path:
    with SqlStore(ledger) as store:
        for n in range(5):
            store.append("main", Event("named", {"group": n, "name": "a"}))
    return ledger


def prepared(path: Path, *statements: str) -> None:
    rows = sqlite3.connect(path)
    for statement in statements:
        rows.execute(statement)
    rows.commit()
    rows.close()


def events_of(path: Path) -> list[Event]:
    with SqlStore(path) as store:
        return list(store.read("main"))


@pytest.mark.parametrize("what", list(TRIGGERS))
def test_a_ledger_with_a_trigger_is_refused_and_its_answers_can_be_saved(
    answered: Path, what: str
) -> None:
    prepared(answered, f"CREATE TRIGGER {what} {TRIGGERS[what]}")
    before = answered.read_bytes()
    with pytest.raises(ForeignFile, match=rf"trigger '{what}'.*samekind repair"):
        SqlStore(answered)
    assert answered.read_bytes() == before
    saved = repair(answered).path
    with SqlStore(saved) as store:
        assert store.append("main", Event("named", {"group": 9, "name": "b"})) == 6
    assert len(events_of(saved)) == 6


def test_a_view_in_the_place_of_the_events_is_not_looked_into(answered: Path) -> None:
    columns = "x AS session, x AS seq, x AS kind, x AS data, x AS at, x AS asked, x AS checksum"
    prepared(
        answered,
        "ALTER TABLE events RENAME TO others",
        f"CREATE VIEW events AS SELECT {columns} FROM ({ENDLESS})",
    )
    write_note(answered, {"main": 5})
    with pytest.raises(ForeignFile, match="view 'events'"):
        SqlStore(answered)
    assert len(events_of(repair(answered).path)) == 5


def test_a_computed_column_is_refused(answered: Path) -> None:
    prepared(answered, "ALTER TABLE events ADD COLUMN more TEXT AS (upper(data))")
    with pytest.raises(ForeignFile, match="computed column 'more'"):
        SqlStore(answered)


def test_functions_of_the_file_are_not_trusted_and_extensions_are_not_loaded(ledger: Path) -> None:
    with SqlStore(ledger) as store, store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0
        raw = connection.connection.dbapi_connection
        assert raw is not None
        with pytest.raises(sqlite3.OperationalError, match="not authorized"):
            raw.execute("SELECT load_extension('evil')")


def test_a_huge_value_is_refused_with_a_sentence(
    answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "MAX_VALUE_BYTES", 100_000)
    prepared(answered, "UPDATE events SET data = zeroblob(200000) WHERE seq = 3")
    with SqlStore(answered) as store, pytest.raises(StoreError, match=r"too big|cannot be read"):
        list(store.read("main"))


def test_numbers_of_events_that_nobody_can_have_do_not_fill_the_disk(answered: Path) -> None:
    row = stored_row("main", 10**12, ("named", '{"group":1,"name":"b"}', 0.0), 0)
    values = ", ".join(repr(value) for value in row)
    prepared(answered, "DELETE FROM events WHERE seq = 5", f"INSERT INTO events VALUES ({values})")
    with SqlStore(answered) as store, pytest.raises(StoreError, match="event 5"):
        list(store.read("main"))
    saved = repair(answered)
    assert [(one.events, one.unusable) for one in saved.sessions] == [(4, (10**12,))]
