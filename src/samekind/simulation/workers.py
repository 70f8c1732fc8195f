"""Many runs, one after the other or in parallel; each outcome is yielded as it arrives."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

from samekind.compute import n_threads
from samekind.errors import InputError, SamekindError
from samekind.simulation.datasets import dataset_for
from samekind.simulation.runner import Limit, run_one
from samekind.simulation.suite import Run

Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The result of a run: a row, or a problem in words."""

    run: Run
    row: Row | None = None
    problem: str = ""


def outcomes(
    runs: Sequence[Run],
    *,
    workers: int = 1,
    data: str | None = None,
    until: float | None = None,
    notes: Mapping[str, Any] = {},
) -> Iterator[Outcome]:
    """Yield outcomes as they arrive. Runs that there was no time to start have none.

    Parameters
    ----------
    workers : parallel processes. data : folder of the sets. until : when all runs must have ended.
    notes : see :func:`~samekind.simulation.runner.run_one`.
    """
    if workers < 1:
        raise InputError(f"Expected at least 1 worker, got {workers}. Give --workers 1 or more.")
    if workers == 1:
        for run in runs:
            yield from _outcome(run, partial(run_in_time, run, data, until, notes))
        return
    # Threads of many processes would compete; a variable that is set already takes precedence.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, n_threads() // workers)))
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_warnings) as pool:
        begun: dict[Future[Row | None], Run] = {
            pool.submit(run_in_time, run, data, until, notes): run for run in runs
        }
        try:
            for future in as_completed(begun):
                yield from _outcome(begun[future], future.result)
        except BaseException:  # stopping the suite must not wait for the runs still planned
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def prepared(
    runs: Sequence[Run], data: str | None
) -> Iterator[tuple[str, str, tuple[Run, ...], bool]]:
    """Encode each set before its runs start.

    Yields the set, a sentence, its runs, and whether it can be used. Sets whose arrays are taken as
    they are need no preparation.
    """
    wanted: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        held_out, encoder, items = run.settings.held_out, run.settings.encoder, run.settings.items
        if encoder != "none":
            wanted.setdefault((run.set, held_out, encoder, items), []).append(run)
    for (name, *_), some in wanted.items():
        try:
            found = dataset_for(name, data, some[0].settings)
        except SamekindError as problem:
            yield name, str(problem), tuple(some), False
        else:
            sentence = f"{len(found.X):,} items by {found.encoder} ({found.reason})"
            yield name, sentence, tuple(some), True


def run_in_time(
    run: Run, data: str | None, until: float | None, notes: Mapping[str, Any]
) -> Row | None:
    """Do one run, in this process or in a worker; None when there is no time to start it."""
    limit = Limit(until)
    return None if limit.forbids() else run_one(run, data, limit, notes)


def _ignore_warnings() -> None:
    """Silence the warnings of methods, which a suite would print a thousand times."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _outcome(run: Run, result: Callable[[], Row | None]) -> Iterator[Outcome]:
    """The outcome of a run; one that fails must not end the others."""
    try:
        row = result()
    except SamekindError as problem:
        yield Outcome(run, problem=str(problem))
    except Exception:
        yield Outcome(run, problem=traceback.format_exc())
    else:
        if row is not None:
            yield Outcome(run, row)
