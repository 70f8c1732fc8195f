"""``samekind bench``: run a suite of benchmarks, row by row; an interrupted suite is resumed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say, show_json, show_table
from samekind.errors import InputError, SamekindError
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.simulation.suite import Run, Suite

Names = list[str] | None
MAX_SHOWN_POINTS = 6
"""Points of a curve that are printed when a run has finished."""


def bench(
    suite: Annotated[
        str | None, typer.Argument(help="A TOML file, or a name from --list.", metavar="SUITE")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Folder with the files of sets; default: SAMEKIND_DATA.")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Append rows to this file; default: SUITE.jsonl.")
    ] = None,
    only: Annotated[Names, typer.Option(help="Only these systems, such as live,random.")] = None,
    sets: Annotated[Names, typer.Option(help="Only these sets.")] = None,
    people: Annotated[Names, typer.Option(help="Only these simulated people.")] = None,
    seeds: Annotated[Names, typer.Option(help="Other seeds than the suite's.")] = None,
    workers: Annotated[int, typer.Option(help="Number of processes that run in parallel.")] = 1,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Stop all runs after this time.")
    ] = None,
    overrides: Annotated[
        Names,
        typer.Option("--with", metavar="NAME=VALUE", help=r"Replace a key of \[base]; repeatable."),
    ] = None,
    commit: Annotated[str, typer.Option(help="Commit to record, without a git clone.")] = "",
    show_list: Annotated[bool, typer.Option("--list", help="List the suites.")] = False,
    as_json: options.Json = False,
) -> None:
    """Run a suite of benchmarks with simulated people; finished runs are not repeated."""
    from samekind.parameters import parse_assignments
    from samekind.simulation.suite_file import open_suite

    if show_list:
        _show_suites(as_json)
        return
    if suite is None:
        raise InputError(
            "Expected a suite: a TOML file, or a name that `samekind bench --list` shows."
        )
    changed = parse_assignments(overrides or [])
    plan = open_suite(suite, changed)
    every = plan.runs(
        separated(only), _numbers(seeds) if seeds else None, separated(sets), separated(people)
    )
    file = rows or Path(f"{plan.name}.jsonl")
    until = None if limit_seconds is None else time.time() + limit_seconds
    tell = note if as_json else say
    counts = _carried_out(plan, every, file, data, workers, until, commit, changed, tell)
    if as_json:
        show_json({"suite": plan.name, "rows": str(file), "runs": len(every), **counts})
    elif file.exists():
        say(f"Tables and curves:  samekind report {file} --out {plan.name}-report")
    if counts["failed"]:
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
    tell: Callable[[str], None],
) -> dict[str, int]:
    """Do the runs that are missing, write each row at once, and return how many of each there are.

    `tell` is called with a line about each run.
    """
    from samekind.simulation.provenance import command_line
    from samekind.simulation.provenance import commit as current_commit
    from samekind.simulation.rows import append_row, check_rows_file, finished, read_rows
    from samekind.simulation.workers import outcomes, prepared

    kept = read_rows(file) if file.exists() else None
    if kept is not None:
        check_rows_file(kept)
        if kept.problem:
            note(kept.problem)
    done = finished(kept.rows if kept is not None else [])
    todo = [run for run in every if run.name not in done]
    before = len(every) - len(todo)
    tell(f"{plan.name}: {plural(len(every), 'run')}, {before} finished before.")
    notes: dict[str, Any] = {
        "command": command_line("samekind", sys.argv[1:]),
        "commit": commit or current_commit(),
        **({"overrides": changed} if changed else {}),
    }
    left_out = failed = ended = 0
    for name, said, some, usable in prepared(todo, data):
        note(
            f"{name}: {said}"
            if usable
            else f"{name} is left out, {plural(len(some), 'run')}: {said}"
        )
        if not usable:
            left_out += len(some)
            todo = [run for run in todo if run not in some]
    found = outcomes(todo, workers=workers, data=data, until=until, notes=notes)
    with progress_bar("Running") as progress:
        progress(0, len(todo))
        for number, outcome in enumerate(found, start=1):
            progress(number, len(todo))
            if outcome.row is None:
                failed += 1
                note(f"{number}/{len(todo)} {outcome.run} failed: {outcome.problem}")
                continue
            append_row(file, outcome.row)
            ended += bool(outcome.row["complete"])
            tell(f"{number}/{len(todo)} {outcome.run}: {summary(outcome.row)}")
    left = len(todo) - ended - failed
    failed += left_out
    tell(f"{plural(ended, 'run')} finished, {failed} failed, {left} left.")
    return {"before": before, "finished": ended, "failed": failed, "left": left}


def summary(row: dict[str, Any]) -> str:
    """Summarise a finished run: a score along its curve, and the seconds."""
    curve = row["curve"]
    metric = "heldout_acc" if "heldout_acc" in curve[-1] else "ari"
    step = max(1, -(-len(curve) // MAX_SHOWN_POINTS))
    some = [*curve[:-1:step], curve[-1]]
    points = ", ".join(f"{point[metric]:.3f} at {point['questions']}" for point in some)
    short = "" if row["complete"] else "; cut short"
    if "stopped" in row.get("protocol", {}):
        short = f"; gave up after {row['questions']} answers"
    return f"{metric} {points}; {row['seconds']:.1f} s{short}"


def separated(words: Sequence[str] | None) -> list[str]:
    """Split names that were given one by one or separated by commas.

    >>> separated(["live,random", "cobras"])
    ['live', 'random', 'cobras']
    """
    return [name.strip() for word in words or () for name in word.split(",") if name.strip()]


def _numbers(words: Sequence[str]) -> list[int]:
    try:
        return [int(word) for word in separated(words)]
    except ValueError:
        raise InputError(f"Expected whole numbers as seeds, got {', '.join(words)}.") from None


def _show_suites(as_json: bool) -> None:
    from samekind.simulation.suite_file import open_suite, shipped

    rows = []
    for name in shipped():
        try:
            plan = open_suite(name)
            rows.append((name, len(plan.runs()), " ".join(plan.about.split())))
        except SamekindError as problem:  # a suite that cannot be opened must not hide the others
            rows.append((name, 0, f"Cannot be run here: {problem}"))
    if as_json:
        show_json({name: {"runs": runs, "about": about} for name, runs, about in rows})
        return
    shown = ((name, f"{runs:,}" if runs else "", about) for name, runs, about in rows)
    show_table(("suite", "runs", "description"), shown)
