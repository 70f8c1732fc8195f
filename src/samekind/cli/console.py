"""Output of the command line: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

from samekind.errors import SamekindError

if TYPE_CHECKING:
    from samekind.protocols import Progress

screen = Console()
notes = Console(stderr=True)
SECONDS_BEFORE_BAR = 0.5
"""What is done by then shows no bar."""


def printable(text: str) -> str:
    """Replace control characters: a file name or a text must not control the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "?" for c in text)


def say(text: str) -> None:
    """Print a line of the result. Brackets in file names are never taken for markup."""
    screen.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a notice on stderr."""
    notes.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def show_json(content: object) -> None:
    """Print one JSON object."""
    import json

    sys.stdout.write(json.dumps(content) + "\n")


def complain(problem: SamekindError) -> None:
    """Print an error."""
    notes.print("samekind:", style="bold red", end=" ")
    note(str(problem))


def show_table(columns: Iterable[str], rows: Iterable[Iterable[object]], title: str = "") -> None:
    """Print a table; the cells are never taken for markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title or None, title_justify="left", box=None)
    for row in rows:
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    screen.print(table)


def at_terminal() -> bool:
    """Whether somebody can be asked: stdin is a terminal."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


@contextmanager
def progress_bar(title: str, then: str = "") -> Iterator[Progress]:
    """Show a progress bar on stderr where there is something to wait for, after half a second.

    A total of 0 means that it is not known yet. Nothing is shown where stderr is no terminal.

    Parameters
    ----------
    then : what is done before and after the counted part, shown as a bar without an end.
    """
    from rich.progress import Progress as Bar

    # Results that go to a file must not be redirected to the terminal of the bar.
    bar = Bar(console=notes, transient=True, redirect_stdout=screen.is_terminal)
    start = Timer(SECONDS_BEFORE_BAR, bar.start)
    start.daemon = True

    def show(words: str, done: int, total: int) -> None:
        known = bar.tasks[0] if bar.tasks else None
        if known is None and notes.is_terminal:
            start.start()
        if known is None or (known.description, known.total) != (words, total or None):
            for old in bar.task_ids:  # a total that is known cannot be forgotten
                bar.remove_task(old)
            bar.add_task(words, total=total or None)
        bar.update(bar.task_ids[0], completed=done)

    def step(done: int, total: int) -> None:
        ended = total and done >= total
        if not ended or (bar.tasks and not then):
            show(title, done, total)
        elif then:
            show(then, 0, 0)

    try:
        if then:
            show(then, 0, 0)
        yield step
    finally:
        start.cancel()
        if start.is_alive():
            start.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show on stderr that something is being done whose length is not known."""
    with progress_bar(title, then=title):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings of samekind as one line on stderr, and hide those of other packages.

    With ``python -W ...`` warnings are shown as Python shows them.
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
