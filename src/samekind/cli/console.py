"""Output of the command line: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console

from samekind.errors import SamekindError

if TYPE_CHECKING:
    from samekind.protocols import Progress

screen = Console()
notes = Console(stderr=True)


def printable(text: str) -> str:
    """Replace control characters: a file name or a text must not control the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "?" for c in text)


def say(text: str) -> None:
    """Print a line of the result. Brackets in file names are never taken for markup."""
    screen.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a notice on stderr."""
    notes.print(printable(text), markup=False, highlight=False, soft_wrap=True)


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
def progress_bar(title: str) -> Iterator[Progress]:
    """Show a progress bar on stderr, as soon as there is something to wait for.

    A total of 0 means that it is not known yet.
    """
    from rich.progress import Progress as Bar

    bar = Bar(console=notes, transient=True)
    task: list[Any] = []

    def step(done: int, total: int) -> None:
        if not task and total and done >= total:
            return
        if not task:
            task.append(bar.add_task(title, total=total or None))
            if notes.is_terminal:
                bar.start()
        bar.update(task[0], completed=done, total=total or None)

    try:
        yield step
    finally:
        if bar.live.is_started:
            bar.stop()


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
