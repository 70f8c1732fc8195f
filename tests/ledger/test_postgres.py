"""The ledger in a real PostgreSQL server, started on loopback where its programs are installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from samekind.errors import ForeignFile, StoreError
from samekind.ledger import sql
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.testing.stores import check_store, check_two_processes

pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
pwd = pytest.importorskip("pwd", reason="the server is only started on Unix")

PASSWORD = "not%a:real@secret"
ENCODED = "not%25a%3Areal%40secret"


def _programs() -> Path:
    """The folder of initdb and postgres; Debian keeps them out of the search path."""
    on_path = shutil.which("initdb")
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3])
    )
    found = Path(on_path) if on_path else next(reversed(versions), None)
    if found is None:
        pytest.skip("PostgreSQL is not installed here (initdb was not found)")
    return found.parent


def _user() -> str | None:
    """PostgreSQL refuses to run as root, so root runs it as somebody else."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return str(pwd.getpwnam(name).pw_name)
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user here")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that lives as long as this file's tests, without a database name."""
    programs, user = _programs(), _user()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if user:
            shutil.chown(folder, user)
            shutil.chown(folder / "password", user)
        data = folder / "data"
        made = subprocess.run(
            [
                *(programs / "initdb", "-D", data, "-U", "me", "-E", "UTF8", "--no-sync"),
                *("--auth=scram-sha-256", f"--pwfile={folder / 'password'}"),
            ],
            user=user,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if made.returncode:
            pytest.skip(f"PostgreSQL could not be set up here: {made.stderr.strip()[-200:]}")
        control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB"
        started = subprocess.run([*control, "-o", options, "start"], user=user, cwd=folder)
        if started.returncode:
            pytest.skip(f"PostgreSQL did not start here: {(folder / 'log').read_text()[-200:]}")
        try:
            yield f"postgresql://me:{ENCODED}@127.0.0.1:{port}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], user=user, cwd=folder)


@pytest.fixture
def new_database(server: str) -> Callable[[], str]:
    """Makes an empty database at each call and gives its address."""
    admin = sa.create_engine(
        server.replace("postgresql:", "postgresql+psycopg:") + "/postgres",
        isolation_level="AUTOCOMMIT",
        poolclass=sa.pool.NullPool,
    )

    def make() -> str:
        with admin.connect() as connection:
            count = connection.exec_driver_sql("SELECT count(*) FROM pg_database").scalar()
            connection.exec_driver_sql(f"CREATE DATABASE ledger{count}")
        return f"{server}/ledger{count}"

    return make


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
        patch.setattr(sql, "MIGRATIONS", (*sql.MIGRATIONS, add_column, broken))
        with pytest.raises(StoreError):
            SqlStore(address)
    with SqlStore(address) as store:
        assert store.append("main", Event("told", {"n": 2})) == 2
    monkeypatch.setattr(sql, "MIGRATIONS", (*sql.MIGRATIONS, add_column))
    with SqlStore(address) as store, store._engine.connect() as connection:
        assert [e.data["n"] for e in store.read("main")] == [1, 2]
        assert connection.exec_driver_sql("SELECT place FROM events").scalar() == "home"
    monkeypatch.undo()
    with pytest.raises(StoreError, match=r"newer samekind.*got 2"):
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
