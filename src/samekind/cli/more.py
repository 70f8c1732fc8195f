"""``samekind more``: use further items of a store of vectors for the questions."""

from __future__ import annotations

from typing import Annotated

import typer

from samekind.cli import options
from samekind.cli.console import progress_bar, say, show_json, show_table
from samekind.errors import InputError
from samekind.questions.wording import plural

MAX_SHOWN = 10
"""Items that are listed; the others are only counted."""


def more(
    path: Annotated[str, typer.Argument(help="A store of vectors (.lance), from samekind embed.")],
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Add the items that are most like this one; repeatable."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many to add.")] = 50,
    new: Annotated[
        bool, typer.Option("--new", help="Add some of the items that were embedded since.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Use further items for the questions: some like these, or some of those added since."""
    from samekind.bulk.more import find_more, find_new

    if bool(like) == new:
        raise InputError("Expected either --like ID or --new. Say which items you want more of.")
    if like:
        with progress_bar("Indexing all items") as progress:
            found = find_more(path, like, count, progress=progress)
    else:
        with progress_bar("Choosing") as progress:
            found = find_new(path, progress=progress)
    if as_json:
        distances = [float(distance) for distance in found.distances]
        show_json({"added": list(found.ids), "distances": distances})
        return
    if found.distances:
        rows = zip(found.ids[:MAX_SHOWN], (f"{d:.3g}" for d in found.distances), strict=False)
        show_table(("item", "distance"), rows)
    if not found.ids:
        used = f"The items most like these are used for the questions of {path} already."
        say(used if like else f"Nothing was added to {path} since its items were chosen.")
        return
    say(f"{plural(len(found.ids), 'item was', 'items were')} added to the questions of {path}.")
    say(f"Continue:  samekind ask {path}")
