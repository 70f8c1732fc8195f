"""``--json`` on every command that reports, exit codes as documented, and bars in terminals only."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from command_line import Cli, cli, table  # noqa: F401
from samekind.cli import console
from samekind.cli.main import app
from waiting import until

NOT_REPORTING = {"serve", "demo", "mcp"}
"""Commands that run until they are stopped."""


def commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Every command by its words."""
    found: dict[str, Any] = {}
    for name, each in (group or typer.main.get_command(app)).commands.items():
        words = f"{before}{name}"
        found |= commands(each, f"{words} ") if hasattr(each, "commands") else {words: each}
    return found


def test_every_command_that_reports_can_report_as_json() -> None:
    without = {
        words
        for words, command in commands().items()
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without <= NOT_REPORTING, without
    assert {"check", "bench", "predict", "repair", "plot curves"} <= set(commands())


def object_of(done: Any) -> dict[str, Any]:
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


def test_asking_talks_on_stderr_and_ends_with_one_object(cli: Cli, table: Path) -> None:
    done = cli("ask", table, "--json", typed="0\nq\n")
    found = object_of(done)
    assert (found["answers"], found["items"]) == (1, 40)
    assert sum(group["size"] for group in found["groups"]) == 40
    assert "Question 1" in done.err


def test_predicting_prints_or_writes_the_same_object(cli: Cli, table: Path, tmp_path: Path) -> None:
    cli("ask", table, typed="0\nq\n")
    by_session = object_of(cli("predict", table, table, "--json"))
    assert [row["id"] for row in by_session["items"]][:2] == ["row-0", "row-1"]
    assert object_of(cli("export", table, tmp_path / "o.orientation", "--json"))["files"] == 1
    printed = object_of(
        cli("predict", "--json", "--tolerance", 1, tmp_path / "o.orientation", table)
    )
    written = tmp_path / "placed.json"
    assert cli("predict", tmp_path / "o.orientation", table, "--json", written).code == 0
    assert json.loads(written.read_text()) == printed
    assert len(printed["items"]) == 40


def test_an_export_that_is_not_confirmed_says_so_as_json(
    cli: Cli, table: Path, tmp_path: Path
) -> None:
    cli("ask", table, typed="q\n")
    planned = cli("export", table, tmp_path / "folders", "--json")
    assert object_of(planned)["files"] == 0 and object_of(planned)["planned"] == 40
    assert "Add --yes" in planned.err
    assert object_of(cli("export", table, tmp_path / "folders", "--json", "--yes"))["files"] == 40
    undone = object_of(cli("export", table, tmp_path / "folders", "--undo", "--json"))
    assert (undone["removed"], undone["kept"]) == (40, {})


def test_a_repair_reports_what_is_missing(cli: Cli, table: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "mine.samekind"
    cli("ask", table, "--ledger", ledger, typed="0\n0\nq\n")
    found = object_of(cli("repair", ledger, "--json"))
    assert found["complete"] is True
    assert found["sessions"][0]["answers"] == 2
    assert sqlite3.connect(found["path"]).execute("select count(*) from events").fetchone()[0] > 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list"], 0),
        (["ask", "TABLE", "--groups", "0"], 2),
        (["cluster", "no-such-folder"], 3),
        (["cluster", "TABLE", "--method", "kmens"], 5),
        (["ask", "TABLE", "--ledger", "TABLE"], 8),
        (["export", "TABLE", "TABLE"], 14),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else str(value),
)
def test_exit_codes_are_those_of_the_documents(
    cli: Cli, table: Path, words: list[str], code: int
) -> None:
    given = [str(table) if word == "TABLE" else word for word in words]
    done = cli(*given)
    assert done.code == code, done.err
    assert bool(done.err) == bool(code)


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_in_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    shown, results = io.StringIO(), io.StringIO()
    here = Console(file=shown, force_terminal=terminal, width=80)
    monkeypatch.setattr(console, "notes", here)
    monkeypatch.setattr("sys.stdout", results)
    monkeypatch.setattr(console, "SECONDS_BEFORE_BAR", 0.0)

    def seen(title: str) -> None:
        until(lambda: not terminal or title in shown.getvalue())

    with console.progress_bar("Encoding", then="Grouping") as progress:
        seen("Grouping")
        progress(1, 3)
        seen("Encoding")
        console.say("a result")
        progress(3, 3)
    with console.waiting("Drawing"):
        seen("Drawing")
    assert bool(shown.getvalue()) == terminal
    assert results.getvalue() == "a result\n", "results are never mixed with progress"
    monkeypatch.setattr(console, "SECONDS_BEFORE_BAR", 60.0)
    before = shown.getvalue()
    with console.waiting("Quick work"):
        pass
    assert "Quick work" not in shown.getvalue().removeprefix(before)
