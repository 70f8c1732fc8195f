"""How the command line speaks: results to stdout, everything else to stderr, in plain lines."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console as Screen

from samekind.cli.drawings import printable
from samekind.errors import SamekindError

if TYPE_CHECKING:
    from samekind.protocols import Progress

screen = Screen()
notes = Screen(stderr=True)


def say(text: str) -> None:
    """A line of the result. Brackets in file names are never taken for styles."""
    screen.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """A line beside the result, on stderr."""
    notes.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def complain(problem: SamekindError) -> None:
    """What went wrong, in one sentence."""
    notes.print("samekind:", style="bold red", end=" ")
    note(str(problem))


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr that appears only when there is something to wait for."""
    from rich.progress import Progress as Bar

    bar = Bar(console=notes, transient=True)
    task: list[Any] = []

    def step(done: int, total: int) -> None:
        if not task and done >= total:
            return
        if not task:
            task.append(bar.add_task(title, total=total))
            if notes.is_terminal:
                bar.start()
        bar.update(task[0], completed=done, total=total)

    try:
        yield step
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Our own warnings as one line on stderr; those of other packages are not for this person.

    Who runs ``python -W ...`` gets the warnings of Python as they are.
    """

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        note(f"Note: {' '.join(str(message).split())}")

    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("once", category=RuntimeWarning, module="samekind")
            warnings.showwarning = show
        yield
