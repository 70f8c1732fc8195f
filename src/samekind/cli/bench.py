"""``samekind bench``: run a suite of benchmarks, row by row, and go on where it stopped."""

from __future__ import annotations

import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.console import note, say
from samekind.errors import InputError, SamekindError

if TYPE_CHECKING:
    from samekind.simulation.suite import Run, Suite

Names = list[str] | None
SHOWN = 6
"""Points of a curve in the line of a finished run."""


def bench(
    suite: Annotated[
        str | None, typer.Argument(help="A TOML file, or a name from --list.", metavar="SUITE")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Folder with the files of sets (or SAMEKIND_DATA).")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Rows are added to this file (SUITE.jsonl).")
    ] = None,
    only: Annotated[Names, typer.Option(help="Only these systems: live,random.")] = None,
    sets: Annotated[Names, typer.Option(help="Only these sets.")] = None,
    people: Annotated[Names, typer.Option(help="Only these simulated people.")] = None,
    seeds: Annotated[Names, typer.Option(help="Instead of those of the suite: 0,1,2.")] = None,
    workers: Annotated[int, typer.Option(help="Runs side by side, each in a process.")] = 1,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Come to an end by then, for all runs.")
    ] = None,
    overrides: Annotated[
        Names,
        typer.Option("--with", metavar="KEY=VALUE", help="Replace a key of [base]; repeatable."),
    ] = None,
    commit: Annotated[str, typer.Option(help="Noted in the rows, for a copy without git.")] = "",
    show_list: Annotated[bool, typer.Option("--list", help="Show the suites there are.")] = False,
) -> None:
    """Run a suite of benchmarks with simulated people; what is done is not done again."""
    from samekind.simulation.suite_file import open_suite

    if show_list:
        _show_suites()
        return
    if suite is None:
        raise InputError(
            "Give a suite: a file, or one of those that `samekind bench --list` shows."
        )
    changed = parsed_overrides(overrides or [])
    plan = open_suite(suite, changed)
    every = plan.runs(
        separated(only), _numbers(seeds) if seeds else None, separated(sets), separated(people)
    )
    file = rows or Path(f"{plan.name}.jsonl")
    until = None if limit_seconds is None else time.time() + limit_seconds
    failed = _carried_out(plan, every, file, data, workers, until, commit, changed)
    if file.exists():
        say(f"Tables and curves:  samekind report {file} --out {plan.name}-report")
    if failed:
        raise typer.Exit(1)


def _carried_out(
    plan: Suite,
    every: Sequence[Run],
    file: Path,
    data: str | None,
    workers: int,
    until: float | None,
    commit: str,
    changed: dict[str, Any],
) -> int:
    """Do what is open and keep each row at once. Returns how many runs failed."""
    from samekind.simulation.provenance import command_line
    from samekind.simulation.provenance import commit as current_commit
    from samekind.simulation.rows import append_row, finished, read_rows
    from samekind.simulation.workers import outcomes, prepared

    kept = read_rows(file) if file.exists() else None
    if kept is not None and kept.problem:
        note(kept.problem)
    done = finished(kept.rows if kept is not None else [])
    todo = [run for run in every if not run.is_in(done)]
    say(f"{plan.name}: {_runs(len(every))}, {len(every) - len(todo)} there already.")
    notes: dict[str, Any] = {
        "command": command_line("samekind", sys.argv[1:]),
        "commit": commit or current_commit(),
        **({"overrides": changed} if changed else {}),
    }
    left_out = failed = ended = 0
    for name, said, some, usable in prepared(todo, data):
        note(f"{name}: {said}" if usable else f"{name} is left out, {_runs(len(some))}: {said}")
        if not usable:
            left_out += len(some)
            todo = [run for run in todo if run not in some]
    found = outcomes(todo, workers=workers, data=data, until=until, notes=notes)
    for number, outcome in enumerate(found, start=1):
        if outcome.row is None:
            failed += 1
            note(f"{number}/{len(todo)} {outcome.run} failed: {outcome.problem}")
            continue
        append_row(file, outcome.row)
        ended += bool(outcome.row["complete"])
        say(f"{number}/{len(todo)} {outcome.run}: {told(outcome.row)}")
    left = len(todo) - ended - failed
    failed += left_out
    say(f"{ended} runs finished, {failed} failed, {left} left for another time.")
    return failed


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def told(row: dict[str, Any]) -> str:
    """One finished run in words: its first score along the curve, answers and seconds."""
    curve = row["curve"]
    metric = "heldout_acc" if "heldout_acc" in curve[-1] else "ari"
    step = max(1, -(-len(curve) // SHOWN))
    some = [*curve[:-1:step], curve[-1]]
    points = ", ".join(f"{point[metric]:.3f} at {point['questions']}" for point in some)
    short = "" if row["complete"] else "; cut short"
    if "stopped" in row.get("protocol", {}):
        short = f"; gave up after {row['questions']} answers"
    return f"{metric} {points}; {row['seconds']:.1f} s{short}"


def separated(words: Sequence[str] | None) -> list[str]:
    """Names given one by one or with commas between them.

    >>> separated(["live,random", "cobras"])
    ['live', 'random', 'cobras']
    """
    return [name.strip() for word in words or () for name in word.split(",") if name.strip()]


def parsed_overrides(words: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE, where VALUE is written as in TOML; what is no TOML is a text.

    >>> parsed_overrides(["epochs=3", "start=weights.safetensors"])
    {'epochs': 3, 'start': 'weights.safetensors'}
    """
    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"{word!r} changes nothing. Give --with KEY=VALUE.")
        try:
            found[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key] = value
    return found


def _numbers(words: Sequence[str]) -> list[int]:
    try:
        return [int(word) for word in separated(words)]
    except ValueError:
        raise InputError(f"Seeds are whole numbers; {', '.join(words)} came.") from None


def _show_suites() -> None:
    from rich.table import Table
    from rich.text import Text

    from samekind.cli.console import screen
    from samekind.simulation.suite_file import open_suite, shipped

    table = Table("suite", "runs", "what it is for", box=None)
    for name in shipped():
        try:
            plan = open_suite(name)
        except SamekindError as problem:  # one that names what is not there must not hide the rest
            table.add_row(Text(name, "bold"), "", Text(f"Cannot be run here: {problem}"))
            continue
        about = Text(" ".join(plan.about.split()))
        table.add_row(Text(name, "bold"), f"{len(plan.runs()):,}", about)
    screen.print(table)
