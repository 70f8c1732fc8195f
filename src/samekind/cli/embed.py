"""``samekind embed``: turn every item of a large source into a vector, here or on a cluster."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import note, notes, say, show_json
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.bulk.embedding import Outcome, StepProgress

MAX_NAMED_BROKEN = 5
"""Broken items that are named; the others are only counted."""
SECONDS_BETWEEN_LINES = 10.0
"""Between two lines of progress where there is no terminal."""
SECONDS_OF_PACE = 60.0
"""The rate is that of the last minute, so that a slow start is soon forgotten."""


def embed(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder of pictures or texts, Parquet or tar files, a table, vectors (.npy), "
            "or a URL such as s3://bucket/photos."
        ),
    ],
    out: Annotated[
        str, typer.Option(help="The store, a name that ends in .lance; continued if it exists.")
    ],
    encoder: options.Encoder = None,
    on: Annotated[
        str,
        typer.Option(help="local, ray (a cluster on this machine), or the address of a cluster."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Workers on the cluster; default: one per core.")
    ] = None,
    gpus: Annotated[
        float, typer.Option(min=0, help="GPUs for each worker, such as 1 or 0.5.")
    ] = 0.0,
    batch: Annotated[int, typer.Option(min=1, help="Items per step of the encoder.")] = 16,
    sample: Annotated[
        int, typer.Option(min=1, help="Random items that the encoder is fitted on.")
    ] = 10_000,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="A column of labels, neither compared nor shown; repeatable."),
    ] = None,
    seed: options.Seed = 0,
    retry_broken: Annotated[
        bool, typer.Option("--retry-broken", help="Try unreadable items of earlier calls again.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Turn the items of a large source into vectors, once. Stop and continue any time."""
    from samekind.bulk.embedding import Work
    from samekind.bulk.embedding import embed as run

    work = Work(encoder, on, workers, gpus, batch, sample, tuple(exclude or ()), seed, retry_broken)
    try:
        with step_progress() as progress:
            outcome = run(source, out, work, progress=progress)
    except KeyboardInterrupt:
        note("\nStopped. What is embedded is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    if as_json:
        show_json(asdict(outcome))
    else:
        show(outcome)


def show(outcome: Outcome) -> None:
    """Print what was done, and what to type next."""
    from samekind.workspace.notices import skipped_notices

    total = outcome.n_before + outcome.n_added
    if outcome.reason:
        note(f"Encoder: {outcome.reason}.")
    earlier = f", {outcome.n_before:,} of them from before" if outcome.n_before else ""
    say(f"{outcome.path}: {plural(total, 'vector')} by {outcome.encoder}{earlier}.")
    for notice in skipped_notices(outcome.left_out):
        note(notice)
    for item in outcome.broken[:MAX_NAMED_BROKEN]:
        note(f"Could not be read: {item.id}: {item.reason}")
    if len(outcome.broken) > MAX_NAMED_BROKEN:
        note(f"... and {len(outcome.broken) - MAX_NAMED_BROKEN:,} more could not be read.")
    if outcome.n_outdated:
        items = plural(outcome.n_outdated, "vector is", "vectors are")
        note(
            f"{items} of items that have changed or are gone since. To be rid of them, embed into "
            "a new store."
        )
    say(f"Sort them: samekind serve {shlex.quote(outcome.path)}")


@contextmanager
def step_progress() -> Iterator[StepProgress]:
    """Show progress on stderr: a bar at a terminal, else a line every few seconds."""
    if not notes.is_terminal:
        yield Lines()
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=notes, transient=True) as shown:
        yield Bars(shown)


class Bars:
    """One bar for each stage of the work, with the rate and the time left."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown
        self._tasks: dict[str, Any] = {}
        self._pace = Pace()

    def __call__(self, doing: str, done: int, total: int | None) -> None:
        """Update the bar of a stage."""
        if doing not in self._tasks:
            self._tasks[doing] = self._shown.add_task(doing, total=total, completed=done, rate="")
        rate = self._pace.rate(doing, done)
        words = f"{rate:,.0f}/s" if rate else ""
        self._shown.update(self._tasks[doing], completed=done, total=total, rate=words)


class Lines:
    """A line every few seconds, for a log."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._due = monotonic() + SECONDS_BETWEEN_LINES

    def __call__(self, doing: str, done: int, total: int | None) -> None:
        """Print a line if it is time for one."""
        rate = self._pace.rate(doing, done)
        if monotonic() < self._due:
            return
        self._due = monotonic() + SECONDS_BETWEEN_LINES
        of = "" if total is None else f" of {total:,}"
        left = f", {duration((total - done) / rate)} left" if total and rate else ""
        note(f"{doing}: {done:,}{of} ({rate:,.1f}/s{left})")


class Pace:
    """Items per second of the present stage, over the last minute."""

    def __init__(self) -> None:
        self._doing = ""
        self._moments: deque[tuple[float, int]] = deque()

    def rate(self, doing: str, done: int) -> float:
        """Return the rate, 0 if it is not known yet."""
        now = monotonic()
        if doing != self._doing:
            self._doing = doing
            self._moments.clear()
        if not self._moments or now >= self._moments[-1][0] + 0.1:
            self._moments.append((now, done))
        while len(self._moments) > 2 and self._moments[1][0] < now - SECONDS_OF_PACE:
            self._moments.popleft()
        start, before = self._moments[0]
        return (done - before) / (now - start) if now > start else 0.0


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(50), duration(600), duration(9000)
    ('50 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
