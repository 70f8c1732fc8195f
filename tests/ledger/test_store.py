"""The ledger: a contract that every store keeps, and what a SQLite file has to survive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from samekind.errors import (
    InputError,
    MissingExtra,
    StoreError,
)
from samekind.ledger.sql import SqlStore
from samekind.ledger.sqlite_file import APPLICATION_ID
from samekind.ledger.store import MemoryStore, open_store
from samekind.protocols import Event
from samekind.testing.stores import check_store, check_two_processes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "me.samekind"


def test_a_ledger_in_memory_keeps_the_contract() -> None:
    check_store(MemoryStore)


def test_a_ledger_in_a_file_keeps_the_contract(tmp_path: Path) -> None:
    stores: list[SqlStore] = []

    def make() -> SqlStore:
        stores.append(SqlStore(tmp_path / f"{len(stores)}.samekind"))
        return stores[-1]

    check_store(make)
    for store in stores:
        store.close()


def test_events_are_there_after_reopening_and_longer_than_one_portion(path: Path) -> None:
    with SqlStore(path) as store:
        store.extend("main", (Event("told", {"n": n}) for n in range(1, 2501)))
        assert store.append("main", Event("told", {"n": 2501})) == 2501
    with SqlStore(path) as store:
        assert [e.data["n"] for e in store.read("main")] == list(range(1, 2502))
        assert next(store.read("main", after=1000)).seq == 1001


def test_the_file_waits_for_the_disk_at_each_event(path: Path) -> None:
    with SqlStore(path) as store, store._engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "application_id", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "application_id": APPLICATION_ID,
        "busy_timeout": 10_000,
    }


def test_open_store_understands_what_a_person_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(open_store(None), MemoryStore)
    assert isinstance(open_store(":memory:"), MemoryStore)
    deep = tmp_path / "new" / "folders" / "what? 100% #1.samekind"
    for target in (deep, str(deep), f"sqlite:///{deep}"):
        open_store(target).append("main", Event("opened"))
    assert [p.name for p in deep.parent.iterdir() if "-" not in p.name[-4:]] == [deep.name]
    assert len(list(open_store(deep).read("main"))) == 3
    monkeypatch.setenv("HOME", str(tmp_path))
    open_store("~/home.samekind")
    assert (tmp_path / "home.samekind").exists()
    with pytest.raises(InputError, match="'mysql'"):
        open_store("mysql://root@localhost/x")
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path)


def test_the_memory_ledger_works_without_sqlalchemy() -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from samekind.ledger.store import open_store\n"
        "from samekind.protocols import Event\n"
        "from samekind.errors import MissingExtra\n"
        "assert open_store(None).append('a', Event('opened')) == 1\n"
        "try: open_store('x.samekind')\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert "pip install 'samekind[app]'" in done.stdout, done.stderr


def test_two_processes_append_to_one_session_without_loss(path: Path) -> None:
    check_two_processes(str(path))


def test_many_threads_may_open_a_new_ledger_at_the_same_moment(path: Path) -> None:
    barrier = threading.Barrier(6)

    def begin(_: int) -> int:
        barrier.wait()
        with SqlStore(path) as store:
            return store.append("main", Event("opened"))

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(begin, range(6))) == [1, 2, 3, 4, 5, 6]


def test_what_was_appended_is_there_after_the_process_is_killed(path: Path) -> None:
    code = (
        "import sys; from samekind.ledger.store import open_store; from samekind.protocols import Event\n"
        "store = open_store(sys.argv[1])\n"
        "while True: print(store.append('main', Event('told', {'x': 'y' * 300})), flush=True)\n"
    )
    last = 0
    for lines in (1, 7, 40):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert process.stdout is not None
        for _ in range(lines):
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        for line in process.stdout.read().split():
            last = int(line)
        process.stdout.close()
        with SqlStore(path) as store:
            assert last <= len(list(store.read("main"))) <= last + 1


def test_a_password_is_never_shown() -> None:
    pytest.importorskip("psycopg")
    secrets = ("s3cr3t/pass:wo@rd", "other%secret")
    address = "postgres://me:s3cr3t%2Fpass%3Awo%40rd@127.0.0.1:1/db?password=other%25secret"
    with pytest.raises(StoreError) as caught:
        SqlStore(address, timeout=1)
    said = f"{caught.value!r} {caught.value} {caught.value.__cause__}"
    assert "postgresql://me@127.0.0.1:1/db" in said
    for broken in ("postgres://me:half@secret@host/db", "postgres://me:secret@host:port/db"):
        with pytest.raises(InputError) as error:
            SqlStore(broken)
        said += str(error.value)
    for secret in (*secrets, "s3cr3t", "other", "half@", "me:secret"):
        assert secret not in said


def test_a_missing_driver_gives_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'samekind\[postgres\]'"):
        open_store("postgresql://me:secret@localhost/db")


def test_unicode_is_readable_in_the_file(path: Path) -> None:
    with SqlStore(path) as store:
        store.append("main", Event("told", {"name": "猫"}))
        with store._engine.connect() as connection:
            text = connection.exec_driver_sql("SELECT data FROM events").scalar()
    assert text == '{"name":"猫"}' and json.loads(text) == {"name": "猫"}
