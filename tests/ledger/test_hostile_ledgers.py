"""Ledgers that a stranger has prepared: nothing runs, nothing hangs, no answer is taken away."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from piles import clouds, points
from samekind.errors import CorruptedLedger, ForeignFile, StoreError
from samekind.ledger import sqlite_file
from samekind.ledger.checksums import checksum_of
from samekind.ledger.fold import last_header
from samekind.ledger.last_events import write_note
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.session import Session

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


def insert(
    path: Path, kind: str, data: str, *, seq: int = 6, at: float = 0.0, session: str = "main"
) -> None:
    """Add an event with the right checksum."""
    known = (session, seq, kind, data, at, 0)
    rows = sqlite3.connect(path)
    rows.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*known, checksum_of(*known)))
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
    prepared(answered, "DELETE FROM events WHERE seq = 5")
    insert(answered, "named", '{"group":1,"name":"b"}', seq=10**12)
    with SqlStore(answered) as store, pytest.raises(StoreError, match="event 5"):
        list(store.read("main"))
    saved = repair(answered)
    assert [(one.events, one.unusable) for one in saved.sessions] == [(4, (10**12,))]


DEEP = "[" * 99_999 + "]" * 99_999
HEADERS = (
    "[1]",
    DEEP,
    '{"settings":[1]}',
    '{"settings":{"method":[1]}}',
    '{"settings":{"encoder":5}}',
    '{"settings":{"groups":"x"}}',
    '{"settings":{"parameters":[1]}}',
    '{"settings":{"strategy_parameters":[1]}}',
    '{"settings":{"polish":5}}',
    '{"settings":{},"seed":"x"}',
    '{"settings":{},"seed":-1}',
)


@pytest.mark.parametrize("data", HEADERS, ids=lambda data: data[:40])
def test_a_header_that_cannot_be_used_is_refused_and_the_others_are_saved(
    answered: Path, data: str
) -> None:
    insert(answered, "opened", data)
    X, _ = clouds(40)
    with SqlStore(answered) as store:
        with pytest.raises(CorruptedLedger, match=r"vent 6 .*cannot be read.*samekind repair"):
            Session(points(40), X, store=store)
        with pytest.raises(CorruptedLedger, match="cannot be read"):
            last_header(store, "main")
    done = repair(answered)
    assert [(one.events, one.unusable) for one in done.sessions] == [(5, (6,))]
    with SqlStore(done.path) as store:
        assert last_header(store, "main") == {}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("told", "[1]"),
        ("proposed", "[1]"),
        ("proposed", '{"questions":[],"snapshot":0,"stamps":[1]}'),
        ("told", DEEP),
        ("told", "not JSON"),
        ("told", '{"number":[1]}'),
        ("named", '{"group":1e999,"name":"a"}'),
        ("lost", '{"questions":"x"}'),
        ("change", "{}"),
        ("_init__", "{}"),
        ("", "{}"),
    ],
    ids=lambda words: words[:40],
)
def test_an_event_that_means_nothing_is_refused_and_the_others_are_saved(
    answered: Path, kind: str, data: str
) -> None:
    insert(answered, kind, data)
    insert(answered, "named", '{"group":1,"name":"last"}', seq=7)
    if "stamps" not in data:
        with SqlStore(answered) as store, pytest.raises(StoreError, match="cannot be read"):
            Session(points(40), clouds(40)[0], store=store)
    done = repair(answered)
    kept = [event.seq for event in events_of(done.path) if event.kind != "lost"]
    assert kept == ([1, 2, 3, 4, 5, 6, 7] if "stamps" in data else [1, 2, 3, 4, 5, 7])
    Session(points(40), clouds(40)[0], store=SqlStore(done.path))


@pytest.mark.parametrize("at", [1e300, float("inf"), -1e300])
def test_a_time_that_no_calendar_has_is_no_reason_to_save_nothing(
    answered: Path, at: float
) -> None:
    insert(answered, "named", '{"group":1,"name":"b"}', seq=8, at=at)
    done = repair(answered)
    assert "events 6 to 7" in " ".join(done.describe())
    kept = [event.seq for event in events_of(done.path) if event.kind != "lost"]
    assert kept == [1, 2, 3, 4, 5] + [8] * (at != float("inf"))


@pytest.mark.parametrize("name", ["", "n" * 300])
def test_a_session_whose_name_cannot_be_stored_is_counted_as_unusable(
    answered: Path, name: str
) -> None:
    insert(answered, "named", '{"group":1,"name":"b"}', seq=1, session=name)
    done = repair(answered)
    assert {one.name: (one.events, one.unusable) for one in done.sessions} == {
        "main": (5, ()),
        name: (0, (1,)),
    }
    assert not done.is_complete and len(events_of(done.path)) == 5
    assert all(len(line) < 400 for line in done.describe())
