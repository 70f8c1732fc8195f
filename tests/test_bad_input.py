"""Bad input through the real command line: a clear sentence, its exit code, and nothing lost."""

from __future__ import annotations

import io
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from piles import clouds
from samekind import ledgerfile
from samekind.cli import main
from samekind.store import open_store


class Done(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))

    def run(*arguments: str | Path, typed: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as done:
            main([str(argument) for argument in arguments])
        code = done.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twelve small pictures, each of another shade of red or blue."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(12):
        shade = (250 - 10 * k, 5, 9 * k) if k % 2 else (9 * k, 5, 250 - 10 * k)
        Image.new("RGB", (24, 16), shade).save(folder / f"photo-{k:02}.png")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    return tmp_path / "clouds.npy"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    X, kinds = clouds(40)
    file = tmp_path / "things.csv"
    rows = [
        f"{x[0]:.4f},{x[1]:.4f},{'left' if k else 'right'}" for x, k in zip(X, kinds, strict=True)
    ]
    file.write_text("\n".join(["width,height,side", *rows]))
    return file


def answers_in(ledger: Path, session: str = "main") -> list[str]:
    """The choices that were told, as they stand in the file."""
    store = open_store(ledger)
    return [event.data["choice"] for event in store.read(session) if event.kind == "told"]


# -- paths and items ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["ask", "serve", "cluster", "simulate"])
def test_a_wrong_path_is_named(cli: Cli, tmp_path: Path, command: str) -> None:
    port = ["--port", "0"] if command == "serve" else []
    done = cli(command, tmp_path / "nowhere", *port)
    assert done.code == 3
    assert "nowhere" in done.err and "tiles" in done.err
    assert done.out == ""


def test_a_misspelt_set_is_guessed(cli: Cli) -> None:
    done = cli("simulate", "tils")
    assert done.code == 3
    assert "Did you mean the set 'tiles'?" in done.err


def test_an_empty_folder_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = cli("ask", tmp_path / "empty")
    assert (done.code, done.out) == (3, "")
    assert "is empty" in done.err


def test_a_folder_with_nothing_usable_says_what_was_found(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "song.mp3").write_bytes(b"la la")
    (folder / "broken.png").write_bytes(b"not a picture")
    done = cli("cluster", folder)
    assert done.code == 3
    assert "song.mp3" in done.err and "broken.png" in done.err


@pytest.mark.parametrize("command", ["ask", "cluster"])
def test_one_item_cannot_be_grouped(cli: Cli, photos: Path, command: str) -> None:
    for photo in sorted(photos.iterdir())[1:]:
        photo.unlink()
    done = cli(command, photos, "--encoder", "pixels")
    assert done.code == 2
    assert "1 item" in done.err and "at least two" in done.err


def test_one_item_cannot_be_simulated(cli: Cli, tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", X=np.ones((1, 3)), kind=np.array(["a"]))
    done = cli("simulate", tmp_path / "one.npz")
    assert done.code == 2
    assert "1 item" in done.err


@pytest.mark.parametrize("command", ["ask", "cluster"])
@pytest.mark.parametrize("method", ["propagation", "kmeans", "copkmeans", "pckmeans"])
def test_more_groups_than_items_cannot_be_made(
    cli: Cli, table: Path, command: str, method: str
) -> None:
    done = cli(command, table, "--groups", "99", "--method", method)
    assert done.code == 2
    assert "99 groups" in done.err and "40 items" in done.err


def test_more_groups_than_items_cannot_be_simulated(cli: Cli, labelled: Path) -> None:
    done = cli("simulate", labelled, "--labels", "side", "--groups", "99")
    assert done.code == 2
    assert "99 groups" in done.err


def test_nan_in_vectors_is_told_with_its_place(cli: Cli, tmp_path: Path) -> None:
    X = clouds(40)[0]
    X[7, 2] = np.nan
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, kind=np.arange(40) % 2)
    for done in (
        cli("ask", tmp_path / "x.npy"),
        cli("cluster", tmp_path / "x.npz"),
        cli("simulate", tmp_path / "x.npz", "--orientation", "kind"),
    ):
        assert done.code == 4
        assert "NaN" in done.err and "7" in done.err


def test_an_empty_row_of_a_table_takes_part(cli: Cli, labelled: Path) -> None:
    with labelled.open("a") as file:
        file.write("\nnan,,left\n")
    done = cli("cluster", labelled, "--groups", "2")
    assert done.code == 0
    assert "41 items" in done.err


def test_an_unreadable_image_is_skipped_and_reported(cli: Cli, photos: Path) -> None:
    (photos / "photo-03.png").write_bytes(b"\x89PNG\r\n\x1a\nthis is all that is left")
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "2")
    assert done.code == 0
    assert "Skipped photo-03.png" in done.err
    assert "photo-03" not in done.out


def test_brackets_in_file_names_are_shown_as_they_are(cli: Cli, photos: Path) -> None:
    (photos / "photo-03.png").rename(photos / "photo [red].png")
    (photos / "bad [bold].png").write_bytes(b"broken")
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "1")
    assert "bad [bold].png" in done.err
    (photos.parent / "a [b]").mkdir()
    assert "a [b]" in cli("ask", photos.parent / "a [b]").err


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--strategy", "placment"], "Did you mean 'placement'?"),
        (["--method", "kmean"], "Did you mean 'kmeans'?"),
        (["--encoder", "pixel"], "Did you mean 'pixels'?"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "simulate"])
def test_an_unknown_name_is_guessed(cli: Cli, command: str, options: list[str], hint: str) -> None:
    done = cli(command, "digits", *options)
    assert done.code == 5
    assert hint in done.err


def test_an_unknown_orientation_is_guessed(cli: Cli) -> None:
    done = cli("simulate", "digits", "--orientation", "digits")
    assert done.code == 5
    assert "Did you mean 'digit'?" in done.err


def test_an_unknown_label_column_is_told_with_those_there_are(cli: Cli, labelled: Path) -> None:
    for done in (
        cli("simulate", labelled, "--labels", "sid"),
        cli("simulate", labelled, "--orientation", "sid"),
    ):
        assert done.code in (2, 5)
        assert "sid" in done.err and "width, height, side" in done.err.replace("'", "")


def test_a_table_without_a_label_column_asks_for_one(cli: Cli, labelled: Path) -> None:
    done = cli("simulate", labelled)
    assert done.code == 2
    assert "--labels" in done.err


def test_a_class_that_is_no_strategy_is_refused(cli: Cli, table: Path) -> None:
    done = cli("ask", table, "--strategy", "fractions:Nothing")
    assert done.code == 2 and "fractions:Nothing" in done.err
    done = cli("ask", table, "--method", "pathlib:PurePath")
    assert done.code == 2 and "cannot be used as a method" in done.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("{cat: animal}", "is not JSON"),
        ('["left"]', "no object"),
        ('{"left": "west"}', "'right'"),
        ('{"left": ["west"]}', "is not one word"),
    ],
)
def test_a_bad_map_is_explained(
    cli: Cli, labelled: Path, tmp_path: Path, content: str | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "map.json").write_text(content)
    done = cli("simulate", labelled, "--labels", "side", "--map", tmp_path / "map.json")
    assert done.code == 2
    assert words in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    "options", [["--noise", "1.5"], ["--noise", "-0.1"], ["--questions", "-1"], ["--colour", "red"]]
)
def test_wrong_usage_keeps_exit_code_two(cli: Cli, options: list[str]) -> None:
    done = cli("simulate", "digits", *options)
    assert done.code == 2
    assert options[0] in done.err


# -- the ledger -----------------------------------------------------------------------------------


def test_a_text_file_is_not_taken_for_a_ledger(cli: Cli, table: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("Dear diary, " * 50)
    done = cli("ask", table, "--ledger", diary)
    assert done.code == 8
    assert "not a ledger" in done.err
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
    assert "1 item that you answered about is gone" in done.err
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
    assert "right folder" in done.err
    assert list(open_store(ledger).read("main")) == before


# -- exports and predictions ----------------------------------------------------------------------


def test_an_export_never_overwrites(cli: Cli, table: Path, tmp_path: Path) -> None:
    cli("ask", table, typed="0\n1\nq\n")
    mine = tmp_path / "mine.csv"
    mine.write_text("my own work")
    for done in (
        cli("export", table, mine, "--yes"),
        cli("export", table, mine),
        cli("cluster", table, "--out", mine),
        cli("predict", table, table, "--out", mine),
    ):
        assert done.code == 14
        assert "exists already" in done.err
    assert mine.read_text() == "my own work"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("my own work")
    assert cli("export", table, tmp_path / "full", "--yes").code == 14
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_an_export_without_a_session_says_how_to_begin_one(
    cli: Cli, table: Path, tmp_path: Path
) -> None:
    done = cli("export", table, tmp_path / "out.csv")
    assert done.code == 2
    assert "samekind ask" in done.err
    cli("ask", table, "--orientation", "by size", typed="q\n")
    done = cli("export", table, tmp_path / "out.csv")
    assert done.code == 2
    assert "There are: by size" in done.err


def test_an_unknown_export_format_is_named(cli: Cli, table: Path, tmp_path: Path) -> None:
    cli("ask", table, typed="q\n")
    done = cli("export", table, tmp_path / "out.xlsx")
    assert done.code == 5 and "xlsx" in done.err


def test_an_undo_of_something_else_is_refused(cli: Cli, photos: Path) -> None:
    before = sorted(photos.iterdir())
    done = cli("export", photos, photos, "--undo")
    assert done.code == 14
    assert sorted(photos.iterdir()) == before


def test_other_vectors_cannot_be_placed(
    cli: Cli, table: Path, labelled: Path, photos: Path, tmp_path: Path
) -> None:
    cli("ask", table, typed="0\n1\nq\n")
    np.save(tmp_path / "wide.npy", np.ones((5, 9)))
    done = cli("predict", table, tmp_path / "wide.npy")
    assert done.code == 4
    assert "9" in done.err and "6" in done.err
    done = cli("predict", table, photos)
    assert done.code == 2
    assert "same sort" in done.err


# -- the server -----------------------------------------------------------------------------------


def test_a_port_in_use_is_told_before_long_work(cli: Cli, photos: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cli("serve", photos, "--port", port)
    assert done.code == 15
    assert f"Port {port} is in use" in done.err and "--port" in done.err
    assert "items" not in done.err.splitlines()[0]
    assert not (photos.parent / "home" / "sessions").exists()


# -- words, warnings, streams ---------------------------------------------------------------------


def test_a_warning_is_one_plain_line(
    cli: Cli, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from samekind.encoders.feature_cache import FeatureCache

    def refuse(*_: object) -> None:
        warnings.warn("Vectors cannot be kept.\nMake room.", RuntimeWarning, stacklevel=2)

    monkeypatch.setattr(FeatureCache, "add", refuse)
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "2")
    lines = [line for line in done.err.splitlines() if "Vectors" in line]
    assert lines == ["Note: Vectors cannot be kept. Make room."]
    assert "RuntimeWarning" not in done.err


def test_a_cache_that_cannot_be_written_only_costs_time(cli: Cli, photos: Path) -> None:
    home = photos.parent / "home"
    home.mkdir()
    (home / "cache").write_text("a file where a folder should be")
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "2")
    assert done.code == 0
    assert "Note: Vectors cannot be kept" in done.err


def run_samekind(
    *arguments: str | Path, home: Path, **how: object
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "samekind", *map(str, arguments)],
        env={"SAMEKIND_HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        **how,  # type: ignore[call-overload]
    )


def test_a_sentence_and_nothing_else_reaches_a_real_shell(tmp_path: Path) -> None:
    done = run_samekind("ask", tmp_path / "nowhere", home=tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("samekind: There is no file or folder")
    assert len(done.stderr.splitlines()) == 1


def test_json_is_all_that_is_printed(labelled: Path, tmp_path: Path) -> None:
    done = run_samekind(
        "simulate", labelled, "--labels", "side", "--questions", "6", "--json", home=tmp_path
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["orientation"] == "side"
    assert len(done.stdout.splitlines()) == 1


def test_closed_input_means_finish(table: Path, tmp_path: Path) -> None:
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run(
        [shell, "-c", f'exec "{sys.executable}" -m samekind ask "{table}" <&-'],
        env={"SAMEKIND_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "0 answers are saved" in done.stdout
