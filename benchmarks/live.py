"""The suite `live`: how good groups are after few answers, some of them wrong, on eight sets.

    python benchmarks/live.py --data FOLDER --out rows.jsonl --workers 2
    python benchmarks/live.py --sets digits --methods live placement --seeds 0 --out rows.jsonl
    python benchmarks/live.py --report --out rows.jsonl

Each (set, orientation, method, seed, share of wrong answers) is a run and gives one line of JSON.
Runs whose line is in the file are not done again, so the suite can be continued at any time; with
``--same-commit`` only lines of the present commit count. The number of groups is not given, except
to the yardstick `margin`. A method is one of the short names, or METHOD+STRATEGY of the package's
own: ``--methods live+placement``. Sets and budgets: live_sets.py; schedule of refits: live_run.py.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache as remembered
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import report as surroundings
from live_figure import draw
from live_report import latest, report
from live_run import SYSTEMS, Row, Task, missing, run_task
from live_sets import PLANS, Material, open_material, plan_of

from samekind.errors import SamekindError, SourceError

ROWS = surroundings.HERE / "live.jsonl"
FIGURE = surroundings.HERE.parent / "docs" / "pictures" / "live-curves.png"


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, 1 when a run failed, or the code of wrong input."""
    wanted = arguments().parse_args(words)
    try:
        if wanted.report:
            return reported(wanted)
        return carried_out(wanted)
    except SamekindError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--sets", nargs="+", default=list(PLANS), metavar="SET", help=", ".join(PLANS))
    add("--orientations", nargs="+", default=[], help="only these")
    add("--methods", nargs="+", default=list(SYSTEMS), metavar="NAME", help=", ".join(SYSTEMS))
    add("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    add("--noise", type=float, nargs="+", help="shares of wrong answers; else those of each set")
    add("--questions", type=int, help="a smaller budget for every set")
    add("--refit-every", type=int, help="answers between refits, instead of the schedule")
    add("--data", type=Path, help="folder with the files of the sets")
    add("--cache", type=Path, help="folder that keeps what encoders have read")
    add("--out", type=Path, default=ROWS, help="file of rows")
    add("--workers", type=int, default=1, help="runs side by side")
    add("--same-commit", action="store_true", help="only rows of this commit count as done")
    add("--report", action="store_true", help="tables of the rows in --out; nothing is run")
    add("--figure", type=Path, default=FIGURE, help="with --report: the curves are drawn here")
    return parser


def reported(wanted: argparse.Namespace) -> int:
    rows = [row for row in latest(read_rows(wanted.out)) if row["set"] in wanted.sets]
    if not rows:
        raise SourceError(f"{str(wanted.out)!r} has no rows of these sets. Run the suite first.")
    print(report(rows))
    draw(rows, wanted.figure)
    return 0


def carried_out(wanted: argparse.Namespace) -> int:
    """Do the runs that are open, one after the other or side by side; keep each row at once."""
    here = surroundings.commit()
    done = {
        (*_key(row), row["budget"], row["refit_every"])
        for row in read_rows(wanted.out)
        if not wanted.same_commit or row["commit"] == here
    }
    tasks = [task for task in planned(wanted) if (*task.key, *_manner(task, wanted)) not in done]
    print(f"{len(tasks)} runs are open.", flush=True)
    failed = 0
    for number, (task, row) in enumerate(_finished(tasks, wanted), start=1):
        if isinstance(row, str):
            failed += 1
            print(f"{number}/{len(tasks)} {task} failed:\n{row}", file=sys.stderr, flush=True)
            continue
        with wanted.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, **surroundings.surroundings(), "commit": here}) + "\n")
        print(f"{number}/{len(tasks)} {told(task, row)}", flush=True)
    return 1 if failed else 0


def planned(wanted: argparse.Namespace) -> list[Task]:
    """All runs, seed by seed, so that a suite cut short has every line with fewer seeds."""
    systems = []
    for system in wanted.methods:
        reason = missing(system)
        if reason:
            print(f"{system} is left out. {reason}", file=sys.stderr)
        else:
            systems.append(system)
    return [
        Task(name, orientation, system, seed, noise)
        for seed in wanted.seeds
        for name in wanted.sets
        for orientation in plan_of(name).columns
        if not wanted.orientations or orientation in wanted.orientations
        for noise in wanted.noise or plan_of(name).noise
        for system in systems
    ]


def _manner(task: Task, wanted: argparse.Namespace) -> tuple[int, int | None]:
    """What else makes another run of a task: budget and schedule."""
    return wanted.questions or plan_of(task.set).questions, wanted.refit_every


def _finished(
    tasks: Sequence[Task], wanted: argparse.Namespace
) -> Iterator[tuple[Task, Row | str]]:
    """Rows as they come; the words of the error instead of a row that failed."""
    for name in dict.fromkeys(task.set for task in tasks):  # encode before anybody waits for it
        material = _material(name, wanted.data, wanted.cache)
        print(f"{name}: {len(material.X)} items by {material.encoder} ({material.reason})")
    if wanted.workers <= 1:
        for task in tasks:
            yield task, _carried_out(task, wanted)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(wanted.workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_carried_out, task, wanted): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _carried_out(task: Task, wanted: argparse.Namespace) -> Row | str:
    try:
        material = _material(task.set, wanted.data, wanted.cache)
        return run_task(task, material, questions=wanted.questions, refit_every=wanted.refit_every)
    except Exception:  # one run must not end the others
        return traceback.format_exc()


@remembered
def _material(name: str, data: Path | None, cache: Path | None) -> Material:
    """The vectors of a set, shared by all runs of a process."""
    return open_material(name, data, cache)


def read_rows(file: Path) -> list[Row]:
    """The rows of this suite in a file, in order; none when there is no file."""
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [row for line in lines if line and (row := json.loads(line))["benchmark"] == "live"]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("set", "orientation", "system", "seed", "noise"))


def told(task: Task, row: Row) -> str:
    """One run in words."""
    metric = plan_of(task.set).metric
    points = ", ".join(f"{point[metric]:.3f} at {point['questions']}" for point in row["curve"])
    refit = row["refit_seconds"]["p50"]
    return f"{task}: {metric} {points}; {row['seconds']:.0f} s, refit {refit:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
