"""Paths as people name them: homes that do not exist, closed folders, long and odd names."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Cli, cli, photos, table  # noqa: F401
from samekind import Session
from samekind.errors import InputError
from samekind.exports import undo_export
from samekind.ledger.repair import repair
from samekind.ledger.store import open_store
from samekind.sources import open_source
from samekind.workspace.locations import ledger_file, ledger_path

NOBODY = "~nobody-of-this-name/p"


@pytest.mark.parametrize(
    "words",
    [
        ("ask", NOBODY),
        ("ask", "{table}", "--ledger", NOBODY),
        ("repair", NOBODY),
        ("repair", "{table}", "--to", NOBODY),
        ("export", NOBODY, "x.csv"),
        ("export", "{table}", NOBODY),
        ("export", "{table}", NOBODY, "--undo"),
        ("predict", NOBODY, "{table}"),
        ("predict", "{table}", NOBODY),
        ("cluster", NOBODY),
        ("cluster", "{table}", "--out", f"{NOBODY}.csv"),
        ("import", "{table}", NOBODY),
        ("serve", "tiles", "--allow", NOBODY),
        ("report", f"{NOBODY}.jsonl", "--out", "x"),
        ("plot", "evolution", "tiles", "--out", f"{NOBODY}.png"),
    ],
)
def test_the_home_of_nobody_is_said_in_a_sentence(
    cli: Cli, table: Path, words: tuple[str, ...]
) -> None:
    done = cli(*(word.format(table=table) for word in words))
    assert done.code == 2 and "Expected the name of a user after ~" in done.err


def test_sessions_are_not_saved_to_the_home_of_nobody() -> None:
    session = Session([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    for use in (session.save, Session.load, undo_export):
        with pytest.raises(InputError, match="Expected the name of a user after ~"):
            use(NOBODY)


def lock(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what is in a folder unreachable, also for the administrator, who may see everything."""
    plain_stat = os.stat

    def stat(path: object, *more: object, **options: object) -> object:
        if isinstance(path, str | Path) and folder in Path(os.path.abspath(path)).parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return plain_stat(path, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", stat)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ask", "{closed}/p"), 3),
        (("ask", "{table}", "--ledger", "{closed}/p"), 7),
        (("repair", "{closed}/p"), 7),
        (("repair", "{table}", "--to", "{closed}/p"), 7),
        (("import", "{table}", "{closed}/p.csv"), 3),
        (("predict", "{closed}/p", "{table}"), 3),
        (("predict", "{table}", "{closed}/p"), 3),
        (("export", "{table}", "{closed}/p.csv"), 14),
        (("export", "{table}", "{closed}/p", "--undo"), 14),
        (("cluster", "{table}", "--out", "{closed}/p.csv"), 14),
        (("plot", "evolution", "tiles", "--out", "{closed}/p.png"), 14),
    ],
)
def test_a_folder_that_may_not_be_searched_is_said_before_any_work(
    cli: Cli,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    code: int,
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    lock(closed, monkeypatch)
    done = cli(*(word.format(table=table, closed=closed) for word in words))
    assert done.code == code, done
    assert "cannot be looked at: Permission denied" in done.err and done.out == ""


def test_folders_of_every_length_have_a_ledger(
    cli: Cli, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["x" * 229, "x" * 230, "x" * 255, "ü" * 127]
    for name in names:
        place = photos.with_name(name)
        photos.rename(place)
        done = cli("ask", place, typed="q\n")
        assert done.code == 0, done.err
        place.rename(photos)
    short, *long = (ledger_file(photos.with_name(name)) for name in names)
    assert short.name.startswith("x" * 229 + "-"), "ledgers that exist keep their name"
    assert all(len(os.fsencode(file.name)) < 130 and file.is_file() for file in long)
    assert len(set(long)) == 3


def test_the_name_of_a_ledger_leaves_room_for_its_log(cli: Cli, table: Path) -> None:
    for name, code in (("x" * 200, 0), ("x" * 250, 7), ("x" * 300, 7)):
        done = cli("ask", table, "--ledger", table.with_name(name), typed="q\n")
        assert done.code == code, done.err
        assert not code or "Expected a shorter name" in done.err or "too long" in done.err
    assert ledger_path("sqlite:///some/where.db") == Path("some/where.db")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_folder_whose_name_is_not_unicode_is_sorted(cli: Cli, photos: Path) -> None:
    place = os.fsencode(photos.parent) + b"/p\xff"
    os.rename(photos, place)
    done = cli("ask", os.fsdecode(place), typed="q\n")
    assert done.code == 0, done.err
    file = ledger_file(os.fsdecode(place))
    assert file.is_file() and file.name.isascii()
    assert cli("export", os.fsdecode(place), photos.with_name("x.csv")).code == 0


def test_all_other_folders_keep_their_ledger(tmp_path: Path) -> None:
    for name in ("photos", "Ümlaut und 猫"):
        place = str((tmp_path / name).resolve())
        key = hashlib.sha256(place.encode()).hexdigest()[:8]
        assert ledger_file(tmp_path / name).name == f"{name.replace(' ', '-')}-{key}.samekind"


def test_a_link_to_itself_is_no_pile(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = cli("ask", tmp_path / "loop")
    assert done.code == 3 and "There is no file or folder" in done.err


@pytest.mark.parametrize("opened", [open_store, repair, open_source], ids=lambda f: f.__name__)
def test_the_home_of_nobody_is_named_in_python_too(opened: Callable[[str], object]) -> None:
    with pytest.raises(InputError, match="without a home folder"):
        opened(NOBODY)
