"""``samekind learn``: train an encoder on a pile of pictures, after an estimate of its cost."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import at_terminal, note, notes, progress_bar, say
from samekind.errors import InputError, UnknownName
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.encoders.learned.training import Learning, Target
    from samekind.encoders.learned.weights import Kept
    from samekind.training.progress import TrainingReport

MINUTES = 10.0
"""Default training time."""
METHODS = ("simclr", "byol", "cc", "tcl", "propos")
"""Those of `samekind.encoders.learned.encoder`, repeated so that --help needs no heavy import."""


def learn(
    path: Annotated[str, typer.Argument(help="Pictures: a folder, a table, or a set (tiles).")],
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
    yes: options.Yes = False,
    as_json: options.Json = False,
) -> None:
    """Train an encoder on your own pictures, without answers. Stop and resume any time."""
    if encoder not in METHODS:
        raise UnknownName("encoder that learns", encoder, METHODS)
    if minutes is not None and epochs is not None:
        raise InputError("Expected --minutes or --epochs, got both. Omit one of them.")
    from samekind.encoders import default_cache
    from samekind.encoders.learned.plan import choose
    from samekind.encoders.learned.training import Learning
    from samekind.sources import open_source
    from samekind.training.progress import Monitor
    from samekind.workspace.pile import check_source, skipped_notices

    check_source(path)
    with progress_bar("Listing") as progress:
        collection = open_source(path, cache=default_cache(), progress=progress)
    choice = choose(encoder, collection, groups=groups, size=size, device=device, seed=seed)
    note(f"{plural(len(collection), 'picture')} in {collection.name}.")
    bar = Bar()
    monitor = Monitor(report=bar, every=5 if choice.device == "cpu" else 50)
    with progress_bar("Reading") as progress:
        learning = Learning.chosen(choice, collection, monitor=monitor, progress=progress)
    for notice in skipped_notices((*collection.skipped, *learning.skipped)):
        note(notice)
    if minutes is None and epochs is None:
        minutes = MINUTES
    target = learning.target(minutes=minutes, epochs=epochs)
    announce(learning, target)
    if target.left and not (yes or _agreed()):
        say("Nothing was trained.")
        return
    kept = _run(learning, target, bar)
    if as_json:
        typer.echo(json.dumps({**asdict(kept), "path": str(kept.path)}))
    else:
        asked = {"groups": groups, "size": size, "device": device, "seed": seed or None}
        show_next_steps(kept, path, [f"--{name} {v}" for name, v in asked.items() if v])


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


def show_next_steps(kept: Kept, path: str, options: Sequence[str]) -> None:
    """Print where the network is stored, and what to type next.

    `options` lead back to the same training.
    """
    from samekind.encoders.learned.plan import duration

    again = f"{shlex.quote(path)} --encoder {kept.encoder}"
    say(f"{kept.describe()} ({duration(kept.seconds)}).")
    say(f"Saved in {kept.path}.")
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
