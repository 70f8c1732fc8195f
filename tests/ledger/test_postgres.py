"""The ledger in a real PostgreSQL server, started on loopback where its programs are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from benchmarks.people import postgres
from benchmarks.people.postgres import ENCODED, PASSWORD, NoPostgres, running_postgres
from samekind.errors import ForeignFile, StoreError
from samekind.ledger import migrations
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.testing.stores import check_store, check_two_processes, check_watch

pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
pytest.importorskip("pwd", reason="the server is only started on Unix")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that lives as long as this file's tests, without a database name."""
    try:
        with running_postgres() as address:
            yield address
    except NoPostgres as missing:
        pytest.skip(str(missing))


@pytest.fixture
def new_database(server: str) -> Callable[[], str]:
    """Makes an empty database at each call and gives its address."""
    return lambda: postgres.new_database(server)


def test_a_ledger_in_postgresql_keeps_the_contract(new_database: Callable[[], str]) -> None:
    stores: list[SqlStore] = []

    def make() -> SqlStore:
        stores.append(SqlStore(new_database()))
        return stores[-1]

    check_store(make)
    for store in stores:
        store.close()


def test_events_are_there_after_reopening(new_database: Callable[[], str]) -> None:
    address = new_database()
    for seq in (1, 2, 3):
        with SqlStore(address.replace("postgresql:", "postgres:")) as store:
            assert store.append("main", Event("told", at=0.25)) == seq
            assert [e.seq for e in store.read("main")] == list(range(1, seq + 1))


def test_two_processes_append_to_one_session_without_loss(
    new_database: Callable[[], str],
) -> None:
    check_two_processes(new_database())


def test_an_older_ledger_is_upgraded_whole_or_not_at_all(
    new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = new_database()
    with SqlStore(address) as store:
        store.append("main", Event("told", {"n": 1}))

    def add_column(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE events ADD COLUMN place TEXT DEFAULT 'home'")

    def broken(connection: sa.Connection) -> None:
        connection.exec_driver_sql("DROP TABLE events")
        connection.exec_driver_sql("SELECT * FROM events")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, add_column, broken))
        with pytest.raises(StoreError):
            SqlStore(address)
    with SqlStore(address) as store:
        assert store.append("main", Event("told", {"n": 2})) == 2
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, add_column))
    with SqlStore(address) as store, store._engine.connect() as connection:
        assert [e.data["n"] for e in store.read("main")] == [1, 2]
        assert connection.exec_driver_sql("SELECT place FROM events").scalar() == "home"
    monkeypatch.undo()
    with pytest.raises(StoreError, match=r"newer samekind.*got 3"):
        SqlStore(address)


def test_a_database_of_another_program_is_left_as_it_is(new_database: Callable[[], str]) -> None:
    address = new_database()
    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE events (what TEXT)")
    with pytest.raises(ForeignFile, match="separate database"):
        SqlStore(address)
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["events"]
    engine.dispose()


def test_a_wrong_password_is_reported_without_showing_it(new_database: Callable[[], str]) -> None:
    address = new_database()
    with pytest.raises(StoreError, match="Check the address") as caught:
        SqlStore(address.replace(ENCODED, "a-wr0ng-one"))
    assert "a-wr0ng-one" not in str(caught.value)
    with SqlStore(address) as store:
        assert PASSWORD not in repr(store) and ENCODED not in repr(store)
        assert "postgresql://me@127.0.0.1" in repr(store)


def test_a_lost_connection_is_reported_and_the_next_event_is_stored(
    new_database: Callable[[], str],
) -> None:
    with SqlStore(new_database()) as store:
        store.append("main", Event("told"))
        with store._engine.connect() as connection:
            wanted = "SELECT pg_terminate_backend(pg_backend_pid())"
            with pytest.raises(StoreError, match="Check the address"), store._translated():
                connection.exec_driver_sql(wanted)
        assert store.append("main", Event("told")) == 2


def test_everybody_who_watches_is_notified(new_database: Callable[[], str]) -> None:
    address = new_database()
    with SqlStore(address) as here, SqlStore(address) as there:
        assert here.is_remote
        check_watch(here, there, named=True)
