"""``samekind learn``: let an encoder learn from a pile of pictures, after an honest estimate."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.console import note, notes, progress_bar, say
from samekind.errors import InputError, UnknownName

if TYPE_CHECKING:
    from samekind.encoders.learned.training import Learning, Target
    from samekind.encoders.learned.weights import Kept
    from samekind.training.progress import TrainingReport

MINUTES = 10.0
"""How long to learn when nobody says."""
METHODS = ("simclr", "byol", "cc", "tcl", "propos")
"""Those of `samekind.encoders.learned.encoder`, named here so that help needs no heavy import."""
WAYS = ", ".join(METHODS)


def learn(
    path: Annotated[str, typer.Argument(help="Pictures: a folder, a table, or a set (tiles).")],
    encoder: Annotated[str, typer.Option(help=f"What learns: {WAYS}.")] = "simclr",
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help=f"How long from now on; {MINUTES:g} if not said.")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(min=0.01, help="Looks at every picture in all, instead.")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=2, help="How many groups, for cc, tcl and propos.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=16, max=512, help="Pixels a side; else chosen for you.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Where; else the fastest there is.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed begins another training.")] = 0,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking back.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let a network learn from your own pictures, without answers; stop and go on as you like."""
    if encoder not in METHODS:
        raise UnknownName("encoder that learns", encoder, METHODS)
    if minutes is not None and epochs is not None:
        raise InputError("Say --minutes or --epochs, one of the two.")
    from samekind.encoders.learned.plan import choose
    from samekind.encoders.learned.training import Learning
    from samekind.sources import open_source
    from samekind.training.progress import Monitor
    from samekind.workspace.pile import check_source, skipped_notices

    check_source(path)
    collection = open_source(path)
    choice = choose(encoder, collection, groups=groups, size=size, device=device, seed=seed)
    note(f"{len(collection):,} pictures in {collection.name}.")
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
        say("Nothing was learnt.")
        return
    kept = _run(learning, target, bar)
    if as_json:
        typer.echo(json.dumps({**asdict(kept), "path": str(kept.path)}))
    else:
        asked = {"groups": groups, "size": size, "device": device, "seed": seed or None}
        tell(kept, path, [f"--{name} {value}" for name, value in asked.items() if value])


class Bar:
    """A bar on stderr while learning goes on, with the epoch and the loss."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._learning: Learning | None = None

    def over(self, learning: Learning, target: Target) -> Any:
        """Show it inside a ``with``; nothing where nobody looks at a terminal."""
        from contextlib import nullcontext

        if not notes.is_terminal:
            return nullcontext()
        from rich.progress import Progress

        self._learning, self._shown = learning, Progress(console=notes, transient=True)
        self._task = self._shown.add_task("Learning", total=target.epochs, completed=target.begun)
        return self._shown

    def __call__(self, told: TrainingReport) -> None:
        """Take a report of the training."""
        if self._learning is None:
            return
        done, loss = self._learning.begun, told.parts.get("loss", float("nan"))
        text = f"Learning, epoch {done:.1f}, loss {loss:.3f}"
        self._shown.update(self._task, completed=done, description=text)


def announce(learning: Learning, target: Target) -> None:
    """What will be done, what it will cost and what to expect, before it begins."""
    from samekind.encoders.learned.plan import duration
    from samekind.encoders.learned.weights import count

    for reason in learning.choice.reasons:
        note(reason)
    if not target.left:
        note(
            f"{count(target.begun)} epochs are learnt already. To go on, say --minutes, "
            f"or more --epochs than that."
        )
        return
    note(learning.forecast(target))
    left = duration(target.left * learning.seconds_per_epoch())
    if target.resumed:
        note(f"Resumes at epoch {count(target.begun)} of {count(target.epochs)}: {left} are left.")
    elif target.begun:
        note(
            f"Goes on from epoch {count(target.begun)}, where it was finished, to "
            f"{count(target.epochs)}: {left}."
        )
    note("Ctrl-C stops it; the same command then goes on where it stopped.")


def tell(kept: Kept, path: str, options: Sequence[str]) -> None:
    """Where the network is, and what to type next; `options` lead back to the same training."""
    from samekind.encoders.learned.plan import duration

    again = f"{shlex.quote(path)} --encoder {kept.encoder}"
    say(f"{kept.describe()} ({duration(kept.seconds)}).")
    say(f"Kept in {kept.path}.")
    say(f"Group with it:         samekind cluster {again}")
    say(f"Answer with it:        samekind ask {again}")
    say(f"Compare, without it:   samekind cluster {shlex.quote(path)}")
    say(f"Learn longer:          samekind learn {' '.join([again, *options])} --minutes M")


def _run(learning: Learning, target: Target, bar: Bar) -> Kept:
    try:
        with bar.over(learning, target):
            return learning.run(target)
    except KeyboardInterrupt:
        from samekind.encoders.learned.weights import count

        note(
            f"\nStopped at epoch {count(learning.begun)} of {count(target.epochs)}. "
            "Type the same command to go on."
        )
        raise typer.Exit(130) from None


def _agreed() -> bool:
    """Ask whoever sits at a terminal; a program is taken at its word."""
    asked = sys.stdin is not None and sys.stdin.isatty()
    return not asked or typer.confirm("Begin?", default=True, err=True)
