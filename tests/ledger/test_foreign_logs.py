"""A write-ahead log that was left behind is never taken into a file that it does not belong to."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from samekind.errors import StoreError
from samekind.ledger import database_image, migrations
from samekind.ledger.foreign_log import misfit_of
from samekind.ledger.last_events import note_of
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import committed, log_of
from samekind.protocols import Event

FILES: tuple[Callable[[Path], Path], ...] = (Path, log_of, note_of)
Content = dict[str, bytes]
WRITER = """
import sys
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
store = SqlStore(sys.argv[1])
for n in range(int(sys.argv[2])):
    store.append("main", Event("named", {"group": n, "name": "b" * 200}))
print("ready", flush=True)
for _ in sys.stdin:
    store.close()
    print("closed", flush=True)
"""


def writing(path: Path, n: int) -> subprocess.Popen[str]:
    """Another process that has added events to a ledger, and keeps it open."""
    command = [sys.executable, "-c", WRITER, str(path), str(n)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload]
    assert process.stdout.readline() == "ready\n"
    return process


def crash(path: Path, n: int) -> None:
    """Add events in a process that is killed: its log is left behind."""
    process = writing(path, n)
    process.kill()
    process.communicate()
    assert log_of(path).exists()


def add(path: Path, n: int, session: str = "main", text: str = "a" * 200) -> None:
    with SqlStore(path) as store:
        store.extend(session, [Event("named", {"group": k, "name": text}) for k in range(n)])


def numbers(path: Path, session: str = "main") -> list[int]:
    with SqlStore(path) as store:
        return [event.seq for event in store.read(session) if event.kind != "lost"]


def content(folder: Path) -> Content:
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith("-shm")}


def refused(path: Path, words: str = "does not belong to the ledger") -> str:
    """Open a ledger that has to be refused, twice, and look that no file was changed."""
    before = content(path.parent)
    for _ in range(2):
        with pytest.raises(StoreError, match=words) as caught:
            SqlStore(path)
    assert content(path.parent) == before
    return str(caught.value)


@pytest.fixture(params=[True, False], ids=["deserialize", "without"])
def _either_build(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_image, "CAN_DESERIALIZE", request.param)


@pytest.mark.usefixtures("_either_build")
def test_another_ledger_that_takes_the_place_is_kept_and_so_is_the_log(ledger: Path) -> None:
    other = ledger.with_name("other.samekind")
    add(other, 12, "colour")
    crash(ledger, 30)
    os.replace(other, ledger)
    said = refused(ledger)
    assert "12 events of the ledger" in said
    assert f"samekind repair {log_of(ledger)}" in said and note_of(ledger).name in said
    saved = repair(log_of(ledger)).path
    assert numbers(saved) == list(range(1, 31))
    also = repair(ledger)
    assert any(str(log_of(ledger)) in line for line in also.describe())
    assert numbers(also.path, "colour") == list(range(1, 13)) and numbers(also.path) == []
    (ledger.parent / "away").mkdir()
    for file in (log_of(ledger), note_of(ledger)):
        file.rename(ledger.parent / "away" / file.name)
    assert numbers(ledger, "colour") == list(range(1, 13)) and numbers(ledger) == []


@pytest.mark.parametrize(
    ("base", "more", "left"), [(100, 300, 40), (100, 300, 3), (100, 200, 1), (300, 50, 40)]
)
def test_a_backup_that_is_put_in_the_place_is_not_mixed_with_the_log(
    ledger: Path, base: int, more: int, left: int
) -> None:
    add(ledger, base)
    backup = Path(shutil.copy(ledger, ledger.with_name("backup")))
    add(ledger, more)
    crash(ledger, left)
    shutil.copy(backup, ledger)
    refused(ledger)
    note_of(ledger).unlink()
    refused(ledger)
    log_of(ledger).rename(ledger.with_name("away"))
    assert numbers(ledger) == list(range(1, base + 1))


def test_the_newer_of_two_branches_is_not_taken_for_the_other(ledger: Path) -> None:
    add(ledger, 20)
    backup = Path(shutil.copy(ledger, ledger.with_name("backup")))
    crash(ledger, 5)
    left = log_of(ledger).read_bytes()
    log_of(ledger).unlink()
    note_of(ledger).unlink()
    shutil.copy(backup, ledger)
    add(ledger, 5, text="another answer")
    log_of(ledger).write_bytes(left)
    assert "5 events of the ledger would be lost or changed" in refused(ledger)


@pytest.mark.parametrize("before", [0, 300])
def test_a_new_ledger_is_not_begun_beside_the_log_of_another(ledger: Path, before: int) -> None:
    add(ledger, before)
    crash(ledger, 40)
    ledger.unlink()
    said = refused(ledger, "There is no ledger")
    assert f"samekind repair {log_of(ledger)}" in said
    saved = numbers(repair(log_of(ledger)).path)
    assert set(range(before + 1, before + 41)) <= set(saved)
    log_of(ledger).rename(ledger.with_name("away"))
    assert numbers(ledger) == []


def test_the_log_of_an_older_state_does_not_take_events_back(ledger: Path) -> None:
    crash(ledger, 10)
    older = log_of(ledger).read_bytes()
    add(ledger, 10)
    log_of(ledger).write_bytes(older)
    refused(ledger)


def test_the_log_of_a_database_of_another_program_is_not_taken_in(ledger: Path) -> None:
    add(ledger, 5)
    other = ledger.with_name("notes.db")
    rows = sqlite3.connect(other)
    rows.executescript("PRAGMA journal_mode=WAL; CREATE TABLE notes (text)")
    rows.execute("INSERT INTO notes VALUES ('mine')")
    rows.commit()
    shutil.copy(log_of(other), log_of(ledger))
    rows.close()
    refused(ledger)
    log_of(ledger).unlink()
    assert len(numbers(ledger)) == 5


def test_a_ledger_whose_log_another_process_uses_under_its_name_is_not_opened(
    ledger: Path,
) -> None:
    other = ledger.with_name("other.samekind")
    add(other, 12, "colour")
    process = writing(ledger, 0)
    os.replace(other, ledger)
    try:
        refused(ledger, "Another process has a ledger open")
    finally:
        process.communicate("close\n")
    assert numbers(ledger, "colour") == list(range(1, 13))


def test_a_connection_is_not_made_to_a_file_that_took_the_place(ledger: Path) -> None:
    other = ledger.with_name("other.samekind")
    add(other, 12, "colour")
    with SqlStore(ledger) as store:
        store.append("main", Event("named", {"group": 1, "name": "a"}))
        with store._engine.connect():  # the next reader needs a connection of its own
            os.replace(other, ledger)
            before = ledger.read_bytes()
            with pytest.raises(StoreError, match="moved, removed or replaced"):
                list(store.read("main"))
    assert ledger.read_bytes() == before


def test_what_belongs_together_opens_without_a_word_after_a_crash(ledger: Path) -> None:
    add(ledger, 100)
    backup = Path(shutil.copy(ledger, ledger.with_name("backup")))
    crash(ledger, 40)
    folder = ledger.with_name("copied")
    folder.mkdir()
    for file in FILES:  # a folder that is copied, and put back under another name
        shutil.copy(file(ledger), file(folder / "b.samekind"))
    assert numbers(folder / "b.samekind") == list(range(1, 141))
    (folder / "b.samekind").unlink()
    shutil.copy(backup, ledger)  # the very state on which the log was begun
    assert numbers(ledger) == list(range(1, 141))
    assert not log_of(ledger).exists()


def test_a_backup_is_continued_by_a_log_that_has_all_events_after_it(ledger: Path) -> None:
    add(ledger, 300)
    backup = Path(shutil.copy(ledger, ledger.with_name("backup")))
    add(ledger, 20)
    crash(ledger, 40)
    shutil.copy(backup, ledger)
    assert numbers(ledger) == list(range(1, 361))


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_a_crash_while_the_log_is_moved_into_the_file_loses_nothing(
    ledger: Path, share: float
) -> None:
    """SQLite writes the pages in their order, so those of two states are mixed in the file."""
    add(ledger, 100)
    crash(ledger, 60)
    log = committed(log_of(ledger).read_bytes())
    assert log is not None
    with ledger.open("r+b") as file:
        for number in sorted(log.pages)[: round(len(log.pages) * share)]:
            file.seek((number - 1) * log.page_size)
            file.write(log.pages[number])
    assert misfit_of(ledger) is None
    assert numbers(ledger) == list(range(1, 161))


def test_a_crash_right_after_an_upgrade_loses_nothing(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        SqlStore(ledger).close()
    rows = sqlite3.connect(ledger)
    values = [("main", n, "named", '{"group":1,"name":"a"}', 0.5) for n in range(1, 200)]
    rows.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", values)
    rows.commit()
    rows.close()
    crash(ledger, 3)
    assert numbers(ledger) == list(range(1, 203))


def test_a_damaged_ledger_with_its_own_log_is_left_for_a_repair(ledger: Path) -> None:
    add(ledger, 300)
    crash(ledger, 10)
    whole = ledger.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    ledger.write_bytes(whole[:middle] + os.urandom(4096) + whole[middle + 4096 :])
    said = refused(ledger, "is damaged")
    assert f"first move {log_of(ledger).name} to another folder" in said
    kept = numbers(repair(ledger).path)
    assert len(kept) > 270 and kept[-1] == 310


def test_a_log_in_use_is_not_looked_at_again(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = writing(ledger, 10)
    looked = []
    monkeypatch.setattr("samekind.ledger.foreign_log.misfit_of", looked.append)
    try:
        assert numbers(ledger) == list(range(1, 11))
        with SqlStore(ledger) as store, SqlStore(ledger):
            store.append("main", Event("named", {"group": 1, "name": "a"}))
        assert not looked
    finally:
        process.communicate("close\n")
    assert numbers(ledger) == list(range(1, 12))


def test_the_look_takes_no_room_on_a_full_disk(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(ledger, 100)
    crash(ledger, 40)
    monkeypatch.setattr("tempfile.tempdir", "/nothing/here")
    assert numbers(ledger) == list(range(1, 141))
    with sa.create_engine(f"sqlite:///{ledger}").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
