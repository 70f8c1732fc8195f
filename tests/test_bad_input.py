"""Bad input through the real command line: a clear sentence, its exit code, and nothing lost."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from command_line import Cli, cli, photos, table  # noqa: F401
from piles import clouds


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    X, kinds = clouds(40)
    file = tmp_path / "things.csv"
    rows = [
        f"{x[0]:.4f},{x[1]:.4f},{'left' if k else 'right'}" for x, k in zip(X, kinds, strict=True)
    ]
    file.write_text("\n".join(["width,height,side", *rows]))
    return file


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
    assert "at least 2 items" in done.err and "got 1" in done.err


def test_one_item_cannot_be_simulated(cli: Cli, tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", X=np.ones((1, 3)), kind=np.array(["a"]))
    done = cli("simulate", tmp_path / "one.npz")
    assert done.code == 2
    assert "got 1." in done.err


TOLD_THE_NUMBER = [
    *("propagation", "kmeans", "copkmeans", "pckmeans"),
    *("mpckmeans", "seeded", "constrained-seeded", "logistic"),
]
FIND_THE_NUMBER = ["cobra", "cobras"]


@pytest.mark.parametrize("command", ["ask", "cluster"])
@pytest.mark.parametrize("method", TOLD_THE_NUMBER)
def test_more_groups_than_items_cannot_be_made(
    cli: Cli, table: Path, command: str, method: str
) -> None:
    done = cli(command, table, "--groups", "99", "--method", method)
    assert done.code == 2
    assert "got 99" in done.err and "40 items" in done.err


@pytest.mark.parametrize("command", ["ask", "cluster"])
@pytest.mark.parametrize("method", FIND_THE_NUMBER)
def test_a_method_that_finds_the_number_of_groups_is_not_told_it(
    cli: Cli, table: Path, command: str, method: str
) -> None:
    done = cli(command, table, "--groups", "3", "--method", method)
    assert (done.code, done.out) == (2, "")
    assert f"{method!r} finds it itself, got 3" in done.err
    assert cli("cluster", table, "--method", method).code == 0


@pytest.mark.parametrize("method", TOLD_THE_NUMBER)
def test_as_many_groups_as_items_can_be_made(cli: Cli, table: Path, method: str) -> None:
    done = cli("cluster", table, "--groups", "40", "--method", method)
    assert done.code == 0, done.err


def test_more_groups_than_items_cannot_be_simulated(cli: Cli, labelled: Path) -> None:
    done = cli("simulate", labelled, "--labels", "side", "--groups", "99")
    assert done.code == 2
    assert "got 99" in done.err


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


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--person", "drift"], 5, "Did you mean 'drifting'?"),
        (["--person", "two"], 2, "needs a second orientation"),
        (["--person", "two", "--second", "digits"], 5, "Unknown orientation"),
        (["--person", "boundary", "--noise", "0.8"], 2, "got 0.8 and 0.5"),
        (["--person", "replay"], 2, "needs a recorded session"),
        (["--replay", "nowhere.samekind"], 3, "cannot be read"),
        (["--start", "4"], 5, "parameter of the person 'shown': 'start'"),
        (["--second", "digit"], 2, "has one orientation"),
    ],
)
def test_a_person_that_cannot_be_is_explained(
    cli: Cli, options: list[str], code: int, words: str
) -> None:
    done = cli("simulate", "digits", "--method", "kmeans", "--groups", "10", *options)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


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
        ('["left"]', "not an object"),
        ('{"left": "west"}', "'right'"),
        ('{"left": ["west"]}', "is not a single value"),
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
    assert "items in" not in done.err, "an unknown format fails before the items are encoded"


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
    assert "same kind" in done.err


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
        warnings.warn("Vectors cannot be stored.\nMake room.", RuntimeWarning, stacklevel=2)

    monkeypatch.setattr(FeatureCache, "add", refuse)
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "2")
    lines = [line for line in done.err.splitlines() if "Vectors" in line]
    assert lines == ["Note: Vectors cannot be stored. Make room."]
    assert "RuntimeWarning" not in done.err


def test_a_cache_that_cannot_be_written_only_costs_time(cli: Cli, photos: Path) -> None:
    home = photos.parent / "home"
    home.mkdir()
    (home / "cache").write_text("a file where a folder should be")
    done = cli("cluster", photos, "--encoder", "pixels", "--groups", "2")
    assert done.code == 0
    assert "Note: Vectors cannot be stored" in done.err


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
