"""Bad ledgers, a full disk and changed folders: what was answered is never lost."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from PIL import Image

from command_line import Cli, cli, photos, table  # noqa: F401
from samekind.ledger import sqlite_file as ledgerfile
from samekind.ledger.store import open_store


def answers_in(ledger: Path, session: str = "main") -> list[str]:
    """The choices that were told, as they stand in the file."""
    store = open_store(ledger)
    return [event.data["choice"] for event in store.read(session) if event.kind == "told"]


# -- the ledger -----------------------------------------------------------------------------------


def test_a_text_file_is_not_taken_for_a_ledger(cli: Cli, table: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("Dear diary, " * 50)
    done = cli("ask", table, "--ledger", diary)
    assert done.code == 8
    assert "is not a SQLite file" in done.err
    assert diary.read_text() == "Dear diary, " * 50


def test_a_database_of_another_program_is_left_alone(cli: Cli, table: Path, tmp_path: Path) -> None:
    other = tmp_path / "photos.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE events (session, seq, kind, data, at)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    for done in (
        cli("ask", table, "--ledger", other),
        cli("export", table, tmp_path / "out.csv", "--ledger", other),
    ):
        assert done.code == 8
        assert "another program" in done.err
    assert other.read_bytes() == before


def test_a_damaged_ledger_is_told_and_not_touched(cli: Cli, table: Path, ledger: Path) -> None:
    assert cli("ask", table, "--ledger", ledger, typed="0\n0\n1\nq\n").code == 0
    whole = bytearray(ledger.read_bytes())
    whole[4096:] = bytes(len(whole) - 4096)
    ledger.write_bytes(whole)
    done = cli("ask", table, "--ledger", ledger, typed="0\n")
    assert done.code == 9
    assert "damaged" in done.err and "backup" in done.err
    assert ledger.read_bytes() == bytes(whole)


def test_a_ledger_in_a_folder_that_cannot_be_made_is_told(
    cli: Cli, table: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = cli("ask", table, "--ledger", tmp_path / "file" / "me.samekind")
    assert done.code == 7
    assert "me.samekind" in done.err


def test_a_full_disk_loses_no_earlier_answer(
    cli: Cli, photos: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("ask", photos, "--encoder", "pixels", "--strategy", "random", "--ledger", ledger)
    assert cli(*ask, typed="y\nn\n").code == 0
    before = answers_in(ledger)
    connect = ledgerfile.connect

    def connect_to_a_full_disk(path: Path, timeout: float, **how: str) -> sqlite3.Connection:
        connection = connect(path, timeout, **how)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    with monkeypatch.context() as full:
        full.setattr(ledgerfile, "connect", connect_to_a_full_disk)
        done = cli(*ask, typed="u\n" * 60)
    assert done.code == 10
    assert "full" in done.err and "earlier ones are safe" in done.err
    told = answers_in(ledger)
    assert told[:2] == before == ["same", "different"]
    assert cli(*ask, typed="y\n").code == 0
    assert answers_in(ledger) == [*told, "same"]


# -- a changed folder -----------------------------------------------------------------------------


@pytest.fixture
def asked(photos: Path, ledger: Path) -> tuple[str | Path, ...]:
    return ("ask", photos, "--encoder", "pixels", "--strategy", "random", "--ledger", ledger)


def shown_in(ledger: Path) -> list[str]:
    """Ids of the items in the first question."""
    first = next(e for e in open_store(ledger).read("main") if e.kind == "proposed")
    return [first.data["questions"][0]["a"], first.data["questions"][0]["b"]]


def test_added_items_take_part(
    cli: Cli, photos: Path, ledger: Path, asked: tuple[str | Path, ...]
) -> None:
    cli(*asked, typed="y\nn\n")
    Image.new("RGB", (24, 16), (0, 200, 0)).save(photos / "zebra.png")
    done = cli(*asked, typed="y\n")
    assert done.code == 0
    assert "13 items" in done.err
    assert answers_in(ledger) == ["same", "different", "same"]
    out = photos.parent / "groups.csv"
    cli("export", photos, out, "--encoder", "pixels", "--ledger", ledger, "--yes")
    assert "zebra.png" in out.read_text()


def test_removed_items_are_reported_and_their_answers_kept(
    cli: Cli, photos: Path, ledger: Path, asked: tuple[str | Path, ...]
) -> None:
    cli(*asked, typed="y\nn\n")
    (photos / shown_in(ledger)[0]).unlink()
    done = cli(*asked, typed="q\n")
    assert done.code == 0
    assert "1 item with answers is missing" in done.err
    assert "2 answers are saved" in done.out
    assert answers_in(ledger) == ["same", "different"]


def test_renamed_items_are_recognised(
    cli: Cli, photos: Path, ledger: Path, asked: tuple[str | Path, ...]
) -> None:
    cli(*asked, typed="n\n")
    one, other = shown_in(ledger)
    (photos / one).rename(photos / "another name.png")
    done = cli(*asked, typed="q\n")
    assert done.code == 0
    assert "1 item was renamed" in done.err and "gone" not in done.err
    out = photos.parent / "groups.json"
    cli("export", photos, out, "--encoder", "pixels", "--ledger", ledger, "--yes")
    rows = json.loads(out.read_text())
    items = rows if isinstance(rows, list) else rows["items"]
    group = {row["id"]: row["group"] for row in items}
    assert group["another name.png"] != group[other]


def test_another_pile_is_refused_and_the_ledger_left_alone(
    cli: Cli, photos: Path, ledger: Path, asked: tuple[str | Path, ...]
) -> None:
    cli(*asked, typed="y\nn\n")
    for k, photo in enumerate(sorted(photos.iterdir())):
        photo.unlink()
        Image.new("RGB", (9, 9), (20 * k, 255, 0)).save(photos / f"other-{k}.png")
    before = list(open_store(ledger).read("main"))
    done = cli(*asked, typed="y\n")
    assert done.code == 11
    assert "Open the folder that the answers belong to" in done.err
    assert list(open_store(ledger).read("main")) == before
