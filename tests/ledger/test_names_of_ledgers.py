"""A ledger that has several names, or a name that stands for no file: one log, or one sentence."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from samekind.atomic_files import draft_name
from samekind.errors import CorruptedLedger, StoreError
from samekind.ledger.last_events import missing_events, note_of
from samekind.ledger.repair import repair, salvage
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import log_of
from samekind.protocols import Event

N_EVENTS = 20


@pytest.fixture
def killed(ledger: Path, tmp_path: Path) -> Path:
    """The files of a ledger as a process that was killed leaves them, all events in the log."""
    copy = tmp_path / "real" / "killed.samekind"
    copy.parent.mkdir()
    with SqlStore(ledger) as store:
        for n in range(N_EVENTS):
            store.append("main", Event("named", {"group": n, "name": "a"}))
        shutil.copy(ledger, copy)
        shutil.copy(log_of(ledger), log_of(copy))
        shutil.copy(note_of(ledger), note_of(copy))
    return copy


@pytest.fixture
def link(killed: Path, tmp_path: Path) -> Path:
    link = tmp_path / "link.samekind"
    (tmp_path / "first.samekind").symlink_to(killed.relative_to(tmp_path))
    link.symlink_to("first.samekind")
    return link


def numbers(path: Path) -> list[int]:
    with SqlStore(path) as store:
        return [event.seq for event in store.read("main")]


def test_a_repair_by_a_link_saves_what_is_in_the_log(link: Path) -> None:
    assert len(salvage(link)["main"]) == N_EVENTS
    done = repair(link)
    assert done.path == link.with_name("link.repaired.samekind")
    assert numbers(done.path) == list(range(1, N_EVENTS + 1))


def test_a_damaged_log_is_noticed_behind_a_link(link: Path, killed: Path) -> None:
    content = bytearray(log_of(killed).read_bytes())
    content[len(content) // 2] ^= 4
    log_of(killed).write_bytes(content)
    for path in (link, killed):
        with pytest.raises(CorruptedLedger, match=rf"-wal.*samekind repair {killed}"):
            SqlStore(path)
    assert log_of(killed).read_bytes() == content


def test_a_missing_end_is_noticed_behind_a_link(link: Path, killed: Path) -> None:
    log_of(killed).unlink()
    assert missing_events(link) == missing_events(killed) == {"main": (1, N_EVENTS)}
    with pytest.raises(CorruptedLedger, match="had been confirmed"):
        SqlStore(link)


def test_a_ledger_behind_a_link_has_its_log_and_note_beside_the_file(
    link: Path, killed: Path
) -> None:
    with SqlStore(link) as store:
        assert repr(store) == f"SqlStore('{link}')", "the name that was typed"
        store.append("main", Event("named", {"group": 1, "name": "b"}))
        assert log_of(killed).exists() and note_of(killed).exists()
        link.unlink()  # the file itself is still in its place
        store.append("main", Event("named", {"group": 1, "name": "c"}))
    assert sorted(file.name for file in killed.parent.iterdir()) == [killed.name]
    assert not list(link.parent.glob("link*")), "neither log nor note beside the link"
    assert len(numbers(killed)) == N_EVENTS + 2


def test_a_link_to_a_ledger_that_is_not_there_yet_gets_one(tmp_path: Path) -> None:
    link = tmp_path / "link.samekind"
    link.symlink_to(tmp_path / "new.samekind")
    assert numbers(link) == []
    assert (tmp_path / "new.samekind").is_file() and link.is_symlink()


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.samekind"
    link.symlink_to(link)
    with pytest.raises(StoreError, match="cannot be used"):
        SqlStore(link)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("suffix", ["", "-wal", "-last"])
def test_a_pipe_is_refused_at_once(killed: Path, suffix: str) -> None:
    pipe = killed.with_name(killed.name + suffix)
    pipe.unlink()
    os.mkfifo(pipe)
    for opener in (SqlStore, repair):
        with pytest.raises(StoreError, match=f"Expected a regular file, but {pipe} is a pipe"):
            opener(killed)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_ledger_with_a_second_name_is_refused_and_its_answers_can_be_saved(
    killed: Path, is_open: bool
) -> None:
    other = killed.with_name("other.samekind")
    with SqlStore(killed) as store:
        os.link(killed, other)
        for path in (other, killed):
            with pytest.raises(StoreError, match=rf"second name .*samekind repair {path}"):
                SqlStore(path)
        if is_open:  # what was opened before goes on with its log
            store.append("main", Event("named", {"group": 1, "name": "b"}))
    assert len(salvage(other)["main"]) == N_EVENTS + is_open
    other.unlink()
    assert len(numbers(killed)) == N_EVENTS + is_open


def test_a_draft_that_was_left_behind_is_no_second_name(killed: Path) -> None:
    """A process can be killed after it has given a new ledger its name."""
    os.link(killed, draft_name(killed))
    assert len(numbers(killed)) == N_EVENTS
    assert [file.name for file in killed.parent.iterdir()] == [killed.name]


def test_a_second_name_that_goes_away_is_waited_for(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = killed.with_name("going")
    os.link(killed, draft)
    monkeypatch.setattr("samekind.ledger.sqlite_file.time.sleep", lambda _: draft.unlink())
    assert len(numbers(killed)) == N_EVENTS


def test_a_ledger_whose_draft_another_process_has_removed_is_as_good(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link_only(draft: Path, final: Path) -> None:
        os.link(draft, final)
        draft.unlink()
        draft.unlink()

    monkeypatch.setattr("samekind.atomic_files.put_in_place", link_only)
    assert numbers(ledger) == []
