"""Run a suite of benchmarks from a TOML file, row by row, and report on it.

    python benchmarks/suite.py ablation-cifar100-4 --data FOLDER --out rows.jsonl --workers 3
    python benchmarks/suite.py --report rows.jsonl --suite ablation-cifar100-4

Each (variant, number of questions, orientation, seed) is one run and gives one line of JSON. Runs
whose line is in the file are not done again, so a suite can be continued at any time. The format
of suites is told in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import report as surroundings
from suite_format import Run, open_suite
from suite_report import report
from suite_run import Limit, run_one

from samekind.compute import n_threads
from samekind.errors import InputError, SamekindError

Row = Mapping[str, Any]


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, or 1 when a run failed, or 2 when the input was wrong."""
    wanted = arguments().parse_args(words)
    try:
        if wanted.report is not None:
            return reported(wanted)
        return carried_out(wanted)
    except SamekindError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code


def reported(wanted: argparse.Namespace) -> int:
    rows = read_rows(wanted.report)
    name = wanted.suite or wanted.file
    if name is None:
        raise InputError("A report needs its suite. Give --suite FILE.")
    overrides = parsed_overrides(wanted.overrides)
    if not wanted.overrides and rows:  # what was said on the command line of the runs
        overrides = dict(rows[-1].get("overrides", {}))
    print(report(open_suite(name, overrides), rows))
    return 0


def carried_out(wanted: argparse.Namespace) -> int:
    name = wanted.file or wanted.suite
    if name is None or wanted.out is None:
        raise InputError("Give the file of a suite and --out FILE for its rows.")
    overrides = parsed_overrides(wanted.overrides)
    suite = open_suite(name, overrides)
    done = {row["run"] for row in read_rows(wanted.out) if row["complete"]}
    every = suite.runs(wanted.only, wanted.seeds)
    open_runs = [run for run in every if run.name not in done]
    until = None if wanted.limit_seconds is None else time.time() + wanted.limit_seconds
    notes = {"commit": wanted.commit or surroundings.commit(), "overrides": overrides}
    print(f"{suite.name}: {len(every)} runs, {len(every) - len(open_runs)} there already")
    failed = finished = 0
    for outcome in outcomes(open_runs, wanted.workers, wanted.data, until, notes):
        if outcome is None:
            failed += 1
        else:
            append_row(wanted.out, outcome)
            finished += bool(outcome["complete"])
    left = len(open_runs) - finished - failed
    print(f"{finished} runs finished, {failed} failed, {left} left for another time")
    return 1 if failed else 0


def outcomes(
    runs: Sequence[Run], workers: int, data: str | None, until: float | None, notes: Row
) -> Iterator[Row | None]:
    """The rows as they come; None for a run that failed, whose reason is printed."""
    if workers < 1:
        raise InputError(f"{workers} workers cannot do anything. Give --workers 1 or more.")
    if workers == 1:
        for run in runs:
            yield from _outcome(run, partial(one, run, data, until, notes))
        return
    # Threads of many processes would wait for each other; who sets the variable knows better.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, n_threads() // workers)))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        begun: dict[Future[Row | None], Run] = {
            pool.submit(one, run, data, until, notes): run for run in runs
        }
        for future in as_completed(begun):
            yield from _outcome(begun[future], future.result)


def one(run: Run, data: str | None, until: float | None, notes: Row) -> Row | None:
    """One run, here or in a process of its own; None when there is no time to begin it."""
    limit = Limit(until)
    return None if limit.forbids() else run_one(run, data, limit, notes)


def _outcome(run: Run, result: Callable[[], Row | None]) -> Iterator[Row | None]:
    """A failed run must not take the others with it: its reason is printed, and it is counted."""
    try:
        row = result()
    except SamekindError as problem:
        print(f"{run.name} failed: {problem}", file=sys.stderr)
        yield None
    except Exception:
        print(f"{run.name} failed:\n{traceback.format_exc()}", file=sys.stderr)
        yield None
    else:
        if row is not None:
            yield row


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a file; a line that was cut off by a kill is passed over."""
    if not file.exists():
        return []
    rows = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"{file.name}: line {number} is cut off and left out", file=sys.stderr)
    return rows


def append_row(file: Path, row: Row) -> None:
    """Add a line, also after one that was cut off."""
    with file.open("a+b") as rows:
        if rows.tell():
            rows.seek(-1, 2)
            if rows.read(1) != b"\n":
                rows.write(b"\n")
        rows.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def parsed_overrides(words: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE, where VALUE is written as in TOML; what is no TOML is a text."""
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


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("file", nargs="?", metavar="SUITE", help="a TOML file, or a name from benchmarks/suites")
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--out", type=Path, default=None, metavar="FILE", help="rows are added to this file")
    add("--only", nargs="+", default=(), metavar="VARIANT", help="only these variants")
    add("--seeds", nargs="+", type=int, default=None, help="instead of those of the suite")
    add("--limit-seconds", type=float, default=None, help="come to an end by then, for all runs")
    add("--workers", type=int, default=1, help="runs side by side, each in its own process")
    add(
        "--with",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace a key of [base]; may be given several times",
    )
    add("--commit", default="", help="noted in the rows, for a copy without git")
    add("--report", type=Path, default=None, metavar="FILE", help="report on these rows instead")
    add("--suite", default=None, help="the suite of the report")
    return parser


if __name__ == "__main__":
    sys.exit(main())
