"""Repair: whole events of a damaged ledger are saved, and nothing changed is taken for right."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from command_line import Cli, cli, table  # noqa: F401
from piles import clouds, points
from samekind.errors import CorruptedLedger, ForeignFile, InputError, StoreError
from samekind.ledger import migrations, sqlite_file
from samekind.ledger.repair import repair, whole_rows
from samekind.ledger.sql import SqlStore
from samekind.ledger.store import open_store
from samekind.ledger.write_ahead_log import LogState, log_of, read_log
from samekind.protocols import Event
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

N = 80
X, KINDS = clouds(N)


@pytest.fixture
def answered(ledger: Path) -> Path:
    """A ledger with 20 answers about real questions."""
    with SqlStore(ledger) as store:
        session = Session(points(N), X, store=store, seed=0)
        run(session, Truth(KINDS), 20)
        session.undo()
    return ledger


def events_of(path: Path, session: str = "main") -> list[Event]:
    with SqlStore(path) as store:
        return list(store.read(session))


def spoil(path: Path, seq: int, change: str = "at = at + 1") -> None:
    """Change one event, as a failing disk would, without SQLite noticing. No copy is left."""
    rows = sqlite3.connect(path)
    rows.execute(f"UPDATE events SET {change} WHERE seq = ?", (seq,))
    rows.commit()
    rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    rows.close()


def test_an_answer_whose_bytes_changed_is_not_read_as_right(answered: Path) -> None:
    told = next(e for e in events_of(answered) if e.kind == "told" and e.data["choice"] == "1")
    spoil(answered, told.seq, """data = replace(data, '"choice":"1"', '"choice":"2"')""")
    refused = pytest.raises(CorruptedLedger, match=rf"event {told.seq} .*samekind repair ")
    with SqlStore(answered) as store, refused:
        list(store.read("main"))


@pytest.mark.parametrize("kind", ["told", "proposed"])
def test_all_other_events_are_saved_and_questions_keep_their_numbers(
    answered: Path, kind: str
) -> None:
    before = events_of(answered)
    with SqlStore(answered) as store:
        session = Session(points(N), X, store=store, seed=0)
        expected = {a.number: (a.question, a.choice) for a in session.answers}
    hit = [e for e in before if e.kind == kind][5]
    spoil(answered, hit.seq)
    done = repair(answered)
    (saved,) = done.sessions
    assert [(gap.first, gap.last) for gap in saved.missing] == [(hit.seq, hit.seq)]
    assert any(f"event {hit.seq}" in line for line in done.describe())
    assert len(saved.unusable) == (1 if kind == "proposed" else 0), "the answer to it"
    after = events_of(done.path)
    gone = {hit.seq, *saved.unusable}
    assert [e for e in after if e.seq not in gone] == [e for e in before if e.seq not in gone]
    again = Session(points(N), X, store=open_store(done.path), seed=0)
    for answer in again.answers:
        assert expected[answer.number] == (answer.question, answer.choice)
    assert len(again.answers) == len(expected) - 1
    run(again, Truth(KINDS), 3)
    assert len(again.answers) == len(expected) + 2, "it goes on"


def test_random_damage_never_changes_an_answer(answered: Path, tmp_path: Path) -> None:
    expected = {(e.seq, e.kind, str(e.data), e.at) for e in events_of(answered)}
    whole, rng = answered.read_bytes(), random.Random(5)
    n_saved = n_refused = 0
    for number in range(40):
        broken = bytearray(whole)
        if number % 6 == 5:
            del broken[rng.randrange(len(broken)) :]
        for _ in range(rng.choice((1, 1, 8, 200)) if broken else 0):
            place = rng.randrange(len(broken))
            broken[place] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{number}.samekind"
        path.write_bytes(broken)
        try:
            read = events_of(path)
        except StoreError as problem:
            n_refused += 1
            assert str(path) in str(problem)
            assert path.read_bytes() == bytes(broken), "a damaged file is left as it is"
        else:
            assert {(e.seq, e.kind, str(e.data), e.at) for e in read} == expected
        try:
            kept = events_of(repair(path).path)
        except (CorruptedLedger, ForeignFile) as problem:
            assert "no whole event" in str(problem)
            continue
        found = {(e.seq, e.kind, str(e.data), e.at) for e in kept if e.kind != "lost"}
        assert found <= expected
        n_saved += len(found)
    assert n_refused > 10
    assert n_saved > 20 * len(expected), "most events of most files are saved"


@pytest.mark.parametrize("column", ["session", "seq", "kind", "data", "at", "asked", "checksum"])
@pytest.mark.parametrize("value", ["x'ff00'", "CAST(x'ff' AS TEXT)", "1e999", "'words'"])
def test_a_value_of_another_type_is_refused_and_the_others_are_saved(
    answered: Path, column: str, value: str
) -> None:
    expected = events_of(answered)
    spoil(answered, expected[-1].seq, f"{column} = {value}")
    with pytest.raises(CorruptedLedger, match="samekind repair"), SqlStore(answered) as store:
        read = [event for name in store.sessions() for event in store.read(name)]
        assert read != expected[:-1], "the last event is gone without a word"
    kept = events_of(repair(answered).path)
    assert [event for event in kept if event.kind != "lost"] == expected[:-1]


@pytest.mark.parametrize("checked", [True, False], ids=["when opened", "when read"])
def test_a_changed_name_hides_no_events_behind_it(
    answered: Path, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    """SQLite finds rows by their order: behind one that is out of order it finds none."""
    expected = events_of(answered)
    content = bytearray(answered.read_bytes())
    places = [found.start() for found in re.finditer(rb"(?s)main.told", content)]
    content[places[len(places) // 2] + 2] ^= 2  # i becomes k
    answered.write_bytes(content)
    if not checked:
        monkeypatch.setattr(sqlite_file, "check_intact", lambda *_: None)
    why = "not in PRIMARY KEY order" if checked else "cannot be found"
    with pytest.raises(CorruptedLedger, match=f"{why}.*samekind repair"):
        events_of(answered)
    kept = [event for event in events_of(repair(answered).path) if event.kind != "lost"]
    assert len(kept) == len(expected) - 1
    assert [event for event in expected if event in kept] == kept


def test_events_that_arrive_while_others_are_read_are_no_damage(answered: Path) -> None:
    n_before = len(events_of(answered))
    with SqlStore(answered) as store, SqlStore(answered) as other:
        reader = store.read("main")
        first = next(reader)
        other.extend("main", [Event("named", {"group": 0, "name": "late"})])
        assert len([first, *reader]) in (n_before, n_before + 1)
        assert len(list(store.read("main"))) == n_before + 1
        assert list(store.read("main", n_before + 5)) == []


def test_events_between_two_damaged_pages_are_saved(ledger: Path) -> None:
    with SqlStore(ledger) as store:
        store.extend("main", (Event("named", {"group": n, "name": "x" * 300}) for n in range(400)))
    whole = bytearray(ledger.read_bytes())
    assert len(whole) > 20 * 4096
    for page in (8, 16):
        whole[page * 4096 : (page + 1) * 4096] = bytes(4096)
    ledger.write_bytes(whole)
    with pytest.raises(CorruptedLedger):
        SqlStore(ledger)
    assert len(whole_rows(ledger)["main"]) > 360


def test_a_damaged_log_is_not_forgotten(answered: Path, tmp_path: Path) -> None:
    with SqlStore(answered) as store:
        for n in range(20):
            store.append("main", Event("named", {"group": n, "name": "a"}))
        copy = tmp_path / "copy.samekind"
        shutil.copy(answered, copy)
        shutil.copy(log_of(answered), log_of(copy))
    whole = log_of(copy).read_bytes()
    assert read_log(log_of(copy)).lost == 0
    for place in (5, 20, 60, 32 + 5 * 4120 + 2000):  # in the header, a frame header, and a page
        broken = bytearray(whole)
        broken[place] ^= 4
        log_of(copy).write_bytes(broken)
        with pytest.raises(CorruptedLedger, match=r"-wal.*samekind repair"):
            SqlStore(copy)
        assert log_of(copy).read_bytes() == bytes(broken)
    saved = repair(copy)
    assert events_of(saved.path)[-1].data["group"] == 19, "also what comes after the damage"
    log_of(copy).write_bytes(whole[:-300])  # the last change was being written
    assert read_log(log_of(copy)) == LogState()
    assert len(events_of(copy)) == len(events_of(answered)) - 1


def test_a_change_that_was_being_written_is_mentioned(answered: Path, tmp_path: Path) -> None:
    with SqlStore(answered) as store:
        store.append("main", Event("named", {"group": 1, "name": "a"}))
        copy = tmp_path / "copy.samekind"
        shutil.copy(answered, copy)
        log_of(copy).write_bytes(log_of(answered).read_bytes()[:-1] + b"?")
    with pytest.warns(UserWarning, match="not written completely"):
        assert len(events_of(copy)) == len(events_of(answered)) - 1


@pytest.fixture
def older(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger as version 1 wrote it, without checksums."""
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        SqlStore(ledger).close()
    rows = sqlite3.connect(ledger)
    kinds = (
        ("proposed", '{"questions":[1,2]}'),
        ("told", '{"n":2}'),
        ("proposed", '{"questions":[3]}'),
    )
    for session, n in (("main", 3), ("other", 2)):
        for seq, (kind, data) in enumerate(kinds[:n], start=1):
            values = (session, seq, kind, data, 0.5)
            rows.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", values)
    rows.commit()
    rows.close()
    return ledger


def test_an_older_ledger_gets_checksums(older: Path) -> None:
    assert [e.kind for e in events_of(older)] == ["proposed", "told", "proposed"]
    assert [row.asked for row in whole_rows(older)["main"]] == [2, 2, 3]
    assert [row.asked for row in whole_rows(older)["other"]] == [2, 2]


def test_an_older_program_refuses_a_newer_ledger(
    answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
    with pytest.raises(StoreError, match=r"newer samekind.*pip install --upgrade"):
        SqlStore(answered)


def test_a_damaged_version_is_not_taken_for_an_older_ledger(answered: Path) -> None:
    rows = sqlite3.connect(answered)
    rows.execute("UPDATE meta SET value = '1'")
    rows.commit()
    rows.close()
    with pytest.raises(CorruptedLedger, match="does not fit its tables"):
        SqlStore(answered)


@pytest.mark.parametrize("log", [False, True], ids=["alone", "with a log"])
@pytest.mark.parametrize("column", ["checksum", "asked"])
def test_damaged_names_of_columns_make_no_older_ledger(
    answered: Path, tmp_path: Path, column: str, log: bool
) -> None:
    """Without checksums any changed byte would be believed: `checksum` may not lose its name."""
    before = events_of(answered)
    told = next(e for e in before if e.kind == "told" and e.data["choice"] == "1")
    spoil(answered, told.seq, """data = replace(data, '"choice":"1"', '"choice":"2"')""")
    broken = tmp_path / "broken.samekind"
    with SqlStore(answered) as store:
        if log:
            store.append("main", Event("named", {"group": 1, "name": "round"}))
            shutil.copy(log_of(answered), log_of(broken))
        shutil.copy(answered, broken)
    renamed = column[:-1] + "x"
    broken.write_bytes(broken.read_bytes().replace(f"{column} ".encode(), f"{renamed} ".encode()))
    saved = [e for e in events_of(repair(broken).path) if e.kind != "lost"]
    assert [(e.seq, e.data) for e in saved if e.seq <= len(before)] == [
        (e.seq, e.data) for e in before if e.seq != told.seq
    ]
    assert len(saved) == len(before) - 1 + log
    with pytest.raises(StoreError, match="samekind repair"):
        SqlStore(broken).close()


def test_an_older_ledger_is_repaired_up_to_the_damage(older: Path) -> None:
    rows = sqlite3.connect(older)
    rows.execute("UPDATE events SET data = '{' WHERE session = 'main' AND seq = 2")
    rows.commit()
    rows.close()
    assert [len(rows) for rows in whole_rows(older).values()] == [1, 2]


def test_repair_on_the_command_line(cli: Cli, table: Path, ledger: Path) -> None:
    assert cli("ask", table, "--ledger", ledger, typed="0\n0\n1\nq\n").code == 0
    told = [e.seq for e in events_of(ledger) if e.kind == "told"]
    spoil(ledger, told[1])
    refused = cli("ask", table, "--ledger", ledger, typed="q\n")
    assert refused.code == 9 and f"samekind repair {ledger}" in refused.err
    done = cli("repair", ledger)
    assert done.code == 0
    assert "with 2 answers" in done.out and f"event {told[1]}" in done.out
    assert "answers.repaired.samekind" in done.out
    new = ledger.with_name("answers.repaired.samekind")
    assert cli("ask", table, "--ledger", new, typed="1\nq\n").code == 0
    again = cli("repair", ledger)
    assert again.code == 7 and "exists already" in again.err
    assert cli("repair", "postgresql://me@here/there").code == 2
    assert cli("repair", ledger.with_name("nothing")).code == 2


def test_a_file_without_whole_events_is_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.samekind").write_bytes(random.Random(1).randbytes(20_000))
    with pytest.raises(CorruptedLedger, match="no whole event"):
        repair(tmp_path / "noise.samekind")
    assert [p.name for p in tmp_path.iterdir()] == ["noise.samekind"]
    with pytest.raises(InputError, match="no file"):
        repair(tmp_path / "nothing.samekind")
