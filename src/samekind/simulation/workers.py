"""Many runs: one after the other or side by side, each outcome handed over as it comes."""

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
from samekind.simulation.datasets import material_for
from samekind.simulation.runner import Limit, run_one
from samekind.simulation.suite import Run

Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How a run ended: with a row, or with a problem in words."""

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
    """The outcomes as they come. Runs that there was no time to begin have none.

    Parameters
    ----------
    workers : processes side by side. data : folder of the sets. until : by when all must end.
    notes : see :func:`~samekind.simulation.runner.run_one`.
    """
    if workers < 1:
        raise InputError(f"{workers} workers cannot do anything. Give --workers 1 or more.")
    if workers == 1:
        for run in runs:
            yield from _outcome(run, partial(begun_in_time, run, data, until, notes))
        return
    # Threads of many processes would wait for each other; who sets the variable knows better.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, n_threads() // workers)))
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_be_quiet) as pool:
        begun: dict[Future[Row | None], Run] = {
            pool.submit(begun_in_time, run, data, until, notes): run for run in runs
        }
        try:
            for future in as_completed(begun):
                yield from _outcome(begun[future], future.result)
        except BaseException:  # whoever stops the suite does not wait for all that was planned
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def prepared(
    runs: Sequence[Run], data: str | None
) -> Iterator[tuple[str, str, tuple[Run, ...], bool]]:
    """Encode each set before anybody waits for it.

    Yields the set, a sentence, its runs, and whether it can be used. Arrays that are taken as they
    are need no preparation.
    """
    wanted: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        held_out, encoder, items = run.settings.held_out, run.settings.encoder, run.settings.items
        if encoder != "none":
            wanted.setdefault((run.set, held_out, encoder, items), []).append(run)
    for (name, *_), some in wanted.items():
        try:
            found = material_for(name, data, some[0].settings)
        except SamekindError as problem:
            yield name, str(problem), tuple(some), False
        else:
            said = f"{len(found.X):,} items by {found.encoder} ({found.reason})"
            yield name, said, tuple(some), True


def begun_in_time(
    run: Run, data: str | None, until: float | None, notes: Mapping[str, Any]
) -> Row | None:
    """One run, here or in a process of its own; None when there is no time to begin it."""
    limit = Limit(until)
    return None if limit.forbids() else run_one(run, data, limit, notes)


def _be_quiet() -> None:
    """What methods remark is for people who use them; a suite would print it a thousand times."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _outcome(run: Run, result: Callable[[], Row | None]) -> Iterator[Outcome]:
    """A failed run must not take the others with it."""
    try:
        row = result()
    except SamekindError as problem:
        yield Outcome(run, problem=str(problem))
    except Exception:
        yield Outcome(run, problem=traceback.format_exc())
    else:
        if row is not None:
            yield Outcome(run, row)
