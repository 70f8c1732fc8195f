"""What the SQLite file of a ledger has to survive: strangers, damage, full disks, upgrades."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samekind.errors import CorruptedLedger, ForeignFile, NoSpace, StoreError
from samekind.ledger import migrations
from samekind.ledger.sql import SqlStore
from samekind.ledger.store import salvage
from samekind.protocols import Event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "me.samekind"


def fill(path: Path, n: int, session: str = "main") -> None:
    with SqlStore(path) as store:
        for i in range(n):
            store.append(session, Event("told", {"n": i, "text": f"answer {i} " * 20}))


def _foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=WAL; CREATE TABLE notes (text); ")
    connection.executescript("INSERT INTO notes VALUES ('mine')")
    connection.close()


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("dear diary"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(os.urandom(5000)),
        lambda path: path.write_bytes(b"SQLite format 2\0" + bytes(4096)),
        _foreign_database,
    ],
    ids=["text", "empty", "noise", "old SQLite", "another program"],
)
def test_a_file_that_is_not_ours_is_left_as_it_is(
    path: Path, write: Callable[[Path], object]
) -> None:
    write(path)
    before, modified = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises(ForeignFile, match=r"[Cc]hoose another name"):
        SqlStore(path)
    assert path.read_bytes() == before and path.stat().st_mtime_ns == modified
    assert os.listdir(path.parent) == [path.name], "nothing was made beside it either"


@pytest.mark.parametrize("size", [60, 5000, 13_000])
def test_a_ledger_that_was_cut_off_is_reported(path: Path, size: int) -> None:
    fill(path, 100)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(CorruptedLedger, match="Put a backup in its place"):
        SqlStore(path)


def test_a_damaged_ledger_is_reported_and_what_is_left_can_be_read(path: Path) -> None:
    fill(path, 300)
    whole = path.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    path.write_bytes(whole[:middle] + os.urandom(4096) + whole[middle + 4096 :])
    before = path.read_bytes()
    with pytest.raises(CorruptedLedger, match="samekind repair"):
        SqlStore(path)
    saved = salvage(path)["main"]
    assert path.read_bytes() == before
    assert 200 < len(saved) < 300, "both ends can be read, the middle is lost"
    assert all(event.data["n"] == event.seq - 1 for event in saved)
    assert saved[0].seq == 1 and saved[-1].seq == 300


def test_a_hole_in_the_numbers_is_reported(path: Path) -> None:
    fill(path, 5)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events WHERE seq = 3")
    connection.close()
    with SqlStore(path) as store, pytest.raises(CorruptedLedger, match="event 3 of 'main'"):
        list(store.read("main"))
    assert [e.seq for e in salvage(path)["main"]] == [1, 2, 4, 5]


def test_random_bytes_anywhere_are_reported_or_harmless(tmp_path: Path) -> None:
    source = tmp_path / "source.samekind"
    fill(source, 60)
    whole = source.read_bytes()
    numbers = iter(range(1000))

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(whole) - 64), st.binary(min_size=1, max_size=64))
    def check(where: int, noise: bytes) -> None:
        path = tmp_path / f"{next(numbers)}.samekind"
        path.write_bytes(whole[:where] + noise + whole[where + len(noise) :])
        try:
            with SqlStore(path) as store:
                for session in store.sessions():
                    list(store.read(session))
        except StoreError as error:
            assert str(path) in str(error)
        salvage(path)

    check()


def test_a_ledger_of_a_newer_samekind_is_refused(path: Path) -> None:
    fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '99'")
    connection.close()
    with pytest.raises(StoreError, match=r"newer samekind.*got 99.*pip install --upgrade"):
        SqlStore(path)


def test_an_older_ledger_is_upgraded_and_keeps_its_events(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path, 3)

    def add_column(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE events ADD COLUMN place TEXT DEFAULT 'home'")

    def broken(connection: sa.Connection) -> None:
        connection.exec_driver_sql("DROP TABLE events")
        raise StoreError("no")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, add_column, broken))
        with pytest.raises(StoreError, match="no"):
            SqlStore(path)
    fill(path, 1)  # a failed upgrade leaves version 1 as it was
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, add_column))
    for _ in range(2):
        with SqlStore(path) as store:
            assert [e.seq for e in store.read("main")] == [1, 2, 3, 4]
            with store._engine.connect() as connection:
                assert connection.exec_driver_sql("SELECT value FROM meta").scalar() == "3"
                assert connection.exec_driver_sql("SELECT place FROM events").scalar() == "home"


def test_a_full_disk_loses_nothing_and_the_ledger_works_again_afterwards(path: Path) -> None:
    fill(path, 20)
    with SqlStore(path) as store:
        limit = [path.stat().st_size // 4096 + 2]

        @sa.event.listens_for(store._engine, "checkout")
        def limit_size(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute(f"PRAGMA max_page_count={limit[0]}")

        stored = 20
        with pytest.raises(NoSpace, match="is full"):
            for _ in range(1000):
                assert store.append("main", Event("told", {"text": "x" * 900})) == stored + 1
                stored += 1
        assert 20 < stored < 40
        with pytest.raises(NoSpace):
            store.append("main", Event("told", {"text": "x" * 20_000}))
        assert len(list(store.read("main"))) == stored
        limit[0] = 100_000
        assert store.append("main", Event("told", {"text": "x" * 20_000})) == stored + 1
    with SqlStore(path) as store:
        assert len(list(store.read("main"))) == stored + 1


def test_no_room_for_a_new_ledger_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(connection: sa.Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=1")
        connection.exec_driver_sql("CREATE TABLE a (b)")
        connection.exec_driver_sql("CREATE TABLE c (d)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (full,))
    with pytest.raises(NoSpace):
        SqlStore(path)
    assert os.listdir(path.parent) == []


def test_a_ledger_that_another_program_holds_is_reported(path: Path) -> None:
    fill(path, 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with SqlStore(path, timeout=0.05) as store:
        with pytest.raises(StoreError, match="Another program"):
            store.append("main", Event("told"))
        assert len(list(store.read("main"))) == 1, "reading goes on"
        other.execute("ROLLBACK")
        assert store.append("main", Event("told")) == 2
    other.close()


OTHER_PROCESS = """
import sys
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
with SqlStore(sys.argv[1]) as store:
    if sys.argv[2:]:
        store.append("main", Event("told", {"by": "another process"}))
    print(len(list(store.read("main"))))
"""


def test_a_second_store_in_one_process_does_not_give_up_the_locks_of_the_first(path: Path) -> None:
    def in_another_process(*words: str) -> int:
        command = [sys.executable, "-c", OTHER_PROCESS, str(path), *words]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    with SqlStore(path) as first, SqlStore(path) as second:
        salvage(path)
        first.append("main", Event("told", {"by": "first"}))
        assert in_another_process("write") == 2
        assert path.with_name(f"{path.name}-wal").exists(), "it must not take the ledger for closed"
        first.append("main", Event("told", {"by": "first"}))
        second.append("main", Event("told", {"by": "second"}))
        assert in_another_process() == 4


def test_a_ledger_that_is_moved_away_while_open_is_noticed(path: Path) -> None:
    with SqlStore(path) as store:
        store.append("main", Event("told"))
        path.rename(path.with_name("elsewhere"))
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            store.append("main", Event("told"))
        path.with_name("elsewhere").rename(path)
        assert store.append("main", Event("told")) == 2


@pytest.fixture
def plain_user_folder() -> Iterator[Path]:
    """A folder of a user whom permissions stop; root is not stopped by them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o777)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are different on Windows")
def test_a_read_only_file_or_folder_is_reported(plain_user_folder: Path) -> None:
    path = plain_user_folder / "me.samekind"
    fill(path, 1)
    path.chmod(0o444)
    with SqlStore(path) as store, pytest.raises(StoreError, match="writable"):
        store.append("main", Event("told"))
    path.chmod(0o000)
    with pytest.raises(StoreError, match="writable"):
        SqlStore(path)
    path.chmod(0o644)
    sub = plain_user_folder / "sub"
    sub.mkdir()
    fill(sub / "me.samekind", 1)
    sub.chmod(0o555)
    try:
        for name in ("me.samekind", "new.samekind", "new/new.samekind"):
            with pytest.raises(StoreError, match="writable"):
                SqlStore(sub / name).append("main", Event("told"))
        assert os.listdir(sub) == ["me.samekind"]
    finally:
        sub.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed on Windows")
@pytest.mark.parametrize("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_is_removed_while_open_is_noticed_and_closing_saves_what_it_held(
    path: Path, suffixes: tuple[str, ...], replaced: bool
) -> None:
    with SqlStore(path) as store:
        for _ in range(5):
            store.append("main", Event("told"))
        for suffix in suffixes:
            beside = path.with_name(f"{path.name}{suffix}")
            content = beside.read_bytes()
            beside.unlink()
            if replaced:
                beside.write_bytes(content)
        for _ in range(2):
            with pytest.raises(StoreError, match=r"was removed or replaced while .* Ctrl\+C"):
                store.append("main", Event("told"))
    with SqlStore(path) as store:
        assert [event.seq for event in store.read("main")] == [1, 2, 3, 4, 5]
        assert store.append("main", Event("told")) == 6


@pytest.mark.parametrize("size", [0, 4096])
def test_a_ledger_that_is_cut_off_while_open_is_noticed(path: Path, size: int) -> None:
    store = SqlStore(path)
    store.append("main", Event("told"))
    os.truncate(path, size)
    with pytest.raises(StoreError, match="was cut off while it was open"):
        store.append("main", Event("told"))


def test_checkpoints_and_other_processes_are_no_removed_log(path: Path) -> None:
    append = (
        "import sys; from samekind.ledger.sql import SqlStore; from samekind.protocols import Event"
        "\nwith SqlStore(sys.argv[1]) as store: print(store.append('main', Event('told')))"
    )
    with SqlStore(path) as store:
        assert store.append("main", Event("told")) == 1
        for k in range(3):
            done = subprocess.run([sys.executable, "-c", append, path], capture_output=True)
            assert int(done.stdout) == 2 * k + 2, done.stderr
            with closing(sqlite3.connect(path)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert store.append("main", Event("told")) == 2 * k + 3
        store.close()  # the log is removed
        assert not path.with_name(f"{path.name}-wal").exists()
        assert store.append("main", Event("told")) == 8
        assert store.append("main", Event("told")) == 9
