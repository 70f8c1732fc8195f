"""``samekind learn``: train an encoder on a pile of pictures, after an estimate of its cost."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import at_terminal, note, notes, progress_bar, say, show_json
from samekind.errors import InputError, UnknownName
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.bulk.training import TrainingJob
    from samekind.encoders.learned.training import Learning, Target
    from samekind.encoders.learned.weights import Kept
    from samekind.training.progress import TrainingReport

MINUTES = 10.0
"""Default training time."""
METHODS = ("simclr", "byol", "cc", "tcl", "propos")
"""Those of `samekind.encoders.learned.encoder`, repeated so that --help needs no heavy import."""


def learn(
    path: Annotated[
        str, typer.Argument(help="Pictures: a folder, a table, shards (.tar, .parquet), or a set.")
    ],
    encoder: Annotated[str, typer.Option(help=f"Method: {', '.join(METHODS)}.")] = "simclr",
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help=f"Train this long; default: {MINUTES:g}.")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(min=0.01, help="Instead: train up to this epoch.")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=2, help="Number of groups, for cc, tcl and propos.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=16, max=512, help="Side of the pictures in pixels.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Default: the fastest available.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed starts another training.")] = 0,
    on: Annotated[
        str, typer.Option(help="Where: local, ray (a cluster started here), or ray://HOST:PORT.")
    ] = "local",
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that train together, with --on ray.")
    ] = 1,
    yes: options.Yes = False,
    as_json: options.Json = False,
) -> None:
    """Train an encoder on your own pictures, without answers. Stop and resume any time."""
    if encoder not in METHODS:
        raise UnknownName("encoder that learns", encoder, METHODS)
    if minutes is not None and epochs is not None:
        raise InputError("Expected --minutes or --epochs, got both. Omit one of them.")
    if on == "local" and workers > 1:
        raise InputError(
            f"Expected --on ray for {workers} workers, got --on local. Or start them with "
            f"torchrun --nproc-per-node {workers} -m samekind learn ..."
        )
    from samekind.bulk.training import TrainingJob, is_sharded
    from samekind.workspace.pile import check_source

    check_source(path)
    minutes = MINUTES if minutes is None and epochs is None else minutes
    job = TrainingJob(path, encoder, minutes, epochs, groups, size, device, seed)
    kept = _train_here(job, yes, as_json) if on == "local" else _train_on(job, on, workers)
    if kept is None:
        return
    if as_json:
        show_json({**asdict(kept), "path": str(kept.path)})
    else:
        asked = {"groups": groups, "size": size, "device": device, "seed": seed or None}
        given = [f"--{name} {v}" for name, v in asked.items() if v]
        show_next_steps(kept, path, given, sharded=is_sharded(path))


def _train_here(job: TrainingJob, yes: bool, as_json: bool) -> Kept | None:
    """Train in this process, and with the others of ``torchrun``, of which the first one talks."""
    from samekind.bulk.training import open_training_pile
    from samekind.encoders.learned.plan import choose
    from samekind.encoders.learned.training import Learning
    from samekind.training.distributed import World
    from samekind.training.progress import Monitor
    from samekind.workspace.notices import skipped_notices

    leads = World.expected().rank == 0
    with progress_bar("Listing") as progress:
        pile = open_training_pile(job.source, progress if leads else None)
    choice = choose(
        job.encoder, pile, groups=job.groups, size=job.size, device=job.device, seed=job.seed
    )
    if leads:
        note(f"{plural(len(pile), 'picture')} in {pile.name}.")
    bar = Bar()
    monitor = Monitor(report=bar, every=5 if choice.device == "cpu" else 50)
    with progress_bar("Reading") as progress:
        learning = Learning.chosen(
            choice, pile, monitor=monitor, progress=progress if leads else None
        )
    target = learning.target(minutes=job.minutes, epochs=job.epochs)
    if target.left:
        learning.seconds_per_epoch()  # measured by all processes together
    if not leads:
        learning.run(target)
        return None
    for notice in skipped_notices((*pile.skipped, *learning.skipped)):
        note(notice)
    announce(learning, target)
    alone = learning.learner.world.size == 1
    if target.left and alone and not (yes or _agreed()):
        show_json({"trained": False}) if as_json else say("Nothing was trained.")
        return None
    return _run(learning, target, bar)


def _train_on(job: TrainingJob, on: str, workers: int) -> Kept:
    """Train on a Ray cluster."""
    from samekind.bulk.training import train_on_ray

    note(f"Training on {plural(workers, 'worker')} of the Ray cluster {on!r}.")
    return train_on_ray(job, on, workers)


class Bar:
    """A progress bar on stderr, with the epoch and the loss."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._learning: Learning | None = None

    def over(self, learning: Learning, target: Target) -> Any:
        """Return a context in which the bar is shown, if stderr is a terminal."""
        from contextlib import nullcontext

        if not notes.is_terminal:
            return nullcontext()
        from rich.progress import Progress

        self._learning, self._shown = learning, Progress(console=notes, transient=True)
        self._task = self._shown.add_task("Training", total=target.epochs, completed=target.begun)
        return self._shown

    def __call__(self, told: TrainingReport) -> None:
        """Update the bar."""
        if self._learning is None:
            return
        done, loss = self._learning.begun, told.parts.get("loss", float("nan"))
        text = f"Training, epoch {done:.1f}, loss {loss:.3f}"
        self._shown.update(self._task, completed=done, description=text)


def announce(learning: Learning, target: Target) -> None:
    """Say what will be done, how long it takes and what to expect."""
    from samekind.encoders.learned.plan import duration
    from samekind.encoders.learned.weights import count

    for reason in learning.choice.reasons:
        note(reason)
    if not target.left:
        note(
            f"{count(target.begun)} epochs are trained already. To continue, add --minutes, "
            f"or more --epochs than that."
        )
        return
    note(learning.forecast(target))
    left = duration(target.left * learning.seconds_per_epoch())
    if target.resumed:
        note(f"Resumes at epoch {count(target.begun)} of {count(target.epochs)}: {left} left.")
    elif target.begun:
        note(
            f"Continues the finished training from epoch {count(target.begun)} to "
            f"{count(target.epochs)}: {left}."
        )
    note("Ctrl-C stops it; the same command resumes it.")


def show_next_steps(
    kept: Kept, path: str, options: Sequence[str], *, sharded: bool = False
) -> None:
    """Print where the network is stored, and what to type next.

    `options` lead back to the same training.
    """
    from samekind.encoders.learned.plan import duration

    again = f"{shlex.quote(path)} --encoder {kept.encoder}"
    say(f"{kept.describe()} ({duration(kept.seconds)}).")
    say(f"Saved in {kept.path}.")
    if sharded:
        say(f"Embed with it:       samekind embed {again} --out vectors.lance")
    else:
        say(f"Group with it:       samekind cluster {again}")
        say(f"Answer with it:      samekind ask {again}")
        say(f"Group without it:    samekind cluster {shlex.quote(path)}")
    say(f"Train longer:        samekind learn {' '.join([again, *options])} --minutes M")


def _run(learning: Learning, target: Target, bar: Bar) -> Kept:
    try:
        with bar.over(learning, target):
            return learning.run(target)
    except KeyboardInterrupt:
        from samekind.encoders.learned.weights import count

        note(
            f"\nStopped at epoch {count(learning.begun)} of {count(target.epochs)}. "
            "The same command resumes it."
        )
        raise typer.Exit(130) from None


def _agreed() -> bool:
    """Ask for confirmation, if somebody is at the terminal."""
    return not at_terminal() or typer.confirm("Start?", default=True, err=True)
