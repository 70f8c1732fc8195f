"""The note of the last confirmed events: an end of the ledger that is missing is said."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import pytest

from samekind.errors import CorruptedLedger
from samekind.ledger.last_events import note_last, note_of, read_note, write_note
from samekind.ledger.repair import MAX_GAP, repair
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import log_of
from samekind.protocols import Event

FRAME = 24 + 4096
HEADER = 32
N_EVENTS = 12


@pytest.fixture
def killed(ledger: Path, tmp_path: Path) -> Path:
    """The files of a ledger with twelve events, as a process that was killed leaves them."""
    copy = tmp_path / "killed.samekind"
    with SqlStore(ledger) as store:
        for n in range(N_EVENTS):
            store.append("main", Event("named", {"group": n, "name": "a"}))
        for file in (ledger, log_of(ledger), note_of(ledger)):
            shutil.copy(file, copy.with_name(file.name.replace(ledger.name, copy.name)))
    return copy


def numbers(path: Path) -> list[int]:
    with SqlStore(path) as store:
        return [event.seq for event in store.read("main") if event.kind != "lost"]


def cut(path: Path, size: int) -> None:
    os.truncate(log_of(path), size)


def test_a_log_that_ends_between_two_changes_is_noticed(killed: Path) -> None:
    size = log_of(killed).stat().st_size
    assert (size - HEADER) % FRAME == 0
    cut(killed, size - 3 * FRAME)
    before = log_of(killed).read_bytes()
    with pytest.raises(CorruptedLedger, match=r"3 events at its end .* 10 to 12 of 'main'.*repair"):
        SqlStore(killed)
    assert log_of(killed).read_bytes() == before, "nothing is tidied up before a repair"


@pytest.mark.parametrize("size", [0, 20, HEADER + 10, HEADER + 3 * FRAME + 700])
def test_a_log_that_ends_anywhere_is_noticed(killed: Path, size: int) -> None:
    cut(killed, size)
    with pytest.raises(CorruptedLedger, match="had been confirmed"):
        SqlStore(killed)


def test_a_log_that_was_removed_is_noticed(killed: Path) -> None:
    log_of(killed).unlink()
    with pytest.raises(CorruptedLedger, match=r"12 events .* 1 to 12 of 'main'"):
        SqlStore(killed)


def test_a_last_change_that_was_confirmed_is_not_taken_for_unfinished(killed: Path) -> None:
    content = bytearray(log_of(killed).read_bytes())
    content[-1] ^= 1
    log_of(killed).write_bytes(content)
    with (
        pytest.warns(UserWarning, match="not written completely"),
        pytest.raises(CorruptedLedger, match=r"1 event at its end .* 12 to 12"),
    ):
        SqlStore(killed)


def test_a_repair_names_the_end_and_its_file_can_take_the_place_of_the_other(killed: Path) -> None:
    cut(killed, log_of(killed).stat().st_size - 2 * FRAME)
    done = repair(killed)
    assert any("events 11 to 12" in line for line in done.describe())
    log_of(killed).unlink()
    done.path.replace(killed)
    assert numbers(killed) == list(range(1, N_EVENTS - 1))
    with SqlStore(killed) as store:
        assert store.append("main", Event("named", {"group": 0, "name": "b"})) == N_EVENTS + 1


def test_a_ledger_that_was_killed_and_is_whole_opens_without_a_word(killed: Path) -> None:
    assert numbers(killed) == list(range(1, N_EVENTS + 1))


def test_a_closed_ledger_has_no_note_and_an_older_copy_of_it_can_be_opened(ledger: Path) -> None:
    with SqlStore(ledger) as store:
        store.append("main", Event("named", {"group": 1, "name": "a"}))
        assert read_note(ledger) == {"main": 1}
    assert not note_of(ledger).exists()
    copy = shutil.copy(ledger, ledger.with_name("backup"))
    with SqlStore(ledger) as store:
        store.append("main", Event("named", {"group": 1, "name": "b"}))
    shutil.copy(copy, ledger)
    assert numbers(ledger) == [1]


def test_the_note_stays_while_another_process_has_the_ledger_open(ledger: Path) -> None:
    with SqlStore(ledger) as other:
        with SqlStore(ledger) as store:
            store.append("main", Event("named", {"group": 1, "name": "a"}))
        assert read_note(ledger) == {"main": 1}
        other.append("main", Event("named", {"group": 1, "name": "b"}))
        assert read_note(ledger) == {"main": 2}


def test_a_ledger_that_begins_anew_does_not_answer_for_the_removed_one(killed: Path) -> None:
    killed.unlink()
    log_of(killed).unlink()
    assert numbers(killed) == []


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"[]", b"0" * 16 + b' {"main":99}\n'])
def test_a_damaged_note_says_nothing(killed: Path, content: bytes) -> None:
    note_of(killed).write_bytes(content)
    assert numbers(killed) == list(range(1, N_EVENTS + 1))


def test_a_note_never_goes_back_and_keeps_the_other_sessions(ledger: Path) -> None:
    note_last(ledger, "main\n", 1000)
    note_last(ledger, "other", 7)
    note_last(ledger, "main\n", 999)
    assert read_note(ledger) == {"main\n": 1000, "other": 7}
    write_note(ledger, {"other": 1})
    assert read_note(ledger) == {"other": 1}, "a shorter note covers a longer one"


def test_a_note_that_claims_any_number_does_not_fill_the_disk(killed: Path) -> None:
    write_note(killed, {"main": N_EVENTS + MAX_GAP + 1})
    assert len(numbers(repair(killed).path)) == N_EVENTS


def test_an_answer_is_stored_also_where_no_note_can_be_written(ledger: Path) -> None:
    with SqlStore(ledger) as store:
        note_of(ledger).mkdir()
        store.append("main", Event("named", {"group": 1, "name": "a"}))
    assert numbers(ledger) == [1]


def test_a_store_that_nobody_closes_leaves_neither_log_nor_note(ledger: Path) -> None:
    store = SqlStore(ledger)
    store.append("main", Event("named", {"group": 1, "name": "a"}))
    del store
    gc.collect()
    assert [file.name for file in ledger.parent.iterdir()] == [ledger.name]


def test_an_empty_file_with_a_note_says_which_events_are_missing(killed: Path) -> None:
    os.truncate(killed, 0)
    with pytest.raises(CorruptedLedger, match=r"empty.* 12 events .* 1 to 12 of 'main'.*repair"):
        SqlStore(killed)
    assert repair(killed).path.exists()  # the log holds some of them
    killed.with_name("killed.repaired.samekind").unlink()
    log_of(killed).unlink()
    with pytest.raises(CorruptedLedger, match="backup"):
        repair(killed)
