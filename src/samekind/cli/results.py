"""What the commands show and write: groups, contradictions, curves, exports, placed items."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from samekind.cli.console import note, progress_bar, say, screen
from samekind.cli.drawings import printable
from samekind.errors import ExportError, InputError, SourceError, VectorError
from samekind.workspace.pile import skipped_notices

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.pile import Pile

CURVE = ("questions", "acc", "nmi", "ari", "fm", "heldout_acc", "groups")


def show_groups(session: Session) -> None:
    """The groups with their sizes and a few of their items."""
    clustering = session.clustering
    count = "1 group" if clustering.n_groups == 1 else f"{clustering.n_groups} groups"
    say(f"{session.collection.name}: {count}")
    table = Table("group", "items", "for example", box=None)
    for number, size in sorted(clustering.sizes().items(), key=lambda pair: -pair[1]):
        examples = [session.collection.id(int(i)) for i in clustering.members(number)[:3]]
        more = ", ..." if size > len(examples) else ""
        table.add_row(
            Text(clustering.name(number)), f"{size:,}", Text(printable(", ".join(examples)) + more)
        )
    screen.print(table)


def show_contradictions(session: Session) -> None:
    """Which answers cannot all be true; none of them is lost."""
    for conflict in session.constraints.conflicts:
        numbers = " and ".join(str(answer.number) for answer in conflict.clash)
        say(
            f"Answers {numbers} contradict each other. Answer {conflict.answer.number} was set "
            "aside; nothing is lost, and you can change any of them on the page."
        )


def show_curve(result: dict[str, Any]) -> None:
    """How the scores grew with the questions."""
    columns = [c for c in CURVE if result["curve"][0].get(c) is not None]
    say(f"{result['set']}: {result['orientation']}, {result['method']} + {result['strategy']}")
    table = Table(*columns, box=None)
    for row in result["curve"]:
        table.add_row(*(str(row[column]) for column in columns))
    screen.print(table)


def show_shelves(shelves: dict[str, dict[str, str]]) -> None:
    """Everything that can be named on the command line, with a line on what it is for."""
    for title, members in shelves.items():
        table = Table("name", "what it is for", title=title, title_justify="left", box=None)
        for name, line in members.items():
            table.add_row(Text(name, "bold"), Text(line))
        screen.print(table)
        screen.print()


def write_groups(
    session: Session, target: Path, format: str | None, mode: str, *, yes: bool
) -> None:
    """Show what an export would do; do it when that was confirmed."""
    from samekind.exports import plan_export, run_export

    answered = frozenset(session.collection.id(int(i)) for i in session.constraints.touched)
    plan = plan_export(
        session.collection, session.clustering, target, format=format, mode=mode, answered=answered
    )
    if plan.conflicts:
        raise ExportError(" ".join(plan.conflicts))
    if not yes:
        say(plan.describe())
        asked = sys.stdin is not None and sys.stdin.isatty()
        if not (asked and typer.confirm("Do it?")):
            say("Nothing was written." if asked else "Nothing was written. Add --yes to do it.")
            return
    with progress_bar("Writing") as progress:
        report = run_export(plan, progress)
    say(report.describe())


def check_free(target: Path | None) -> None:
    """Refuse to overwrite a file before the work is done, not after."""
    if target is not None and target.expanduser().is_file():
        raise ExportError(f"{target} exists already. Choose another name.")


def place_others(pile: Pile, session: Session, new: str, out: Path | None) -> None:
    """Place other items into the groups: lines of id, number and name, or a table in a file."""
    from samekind.clustering import Clustering
    from samekind.exports import plan_export, run_export
    from samekind.sources import open_source

    if session.settings.get("polish"):
        raise InputError(
            f"The groups of {session.name!r} are polished: they rest on a network that is not kept "
            "for other items. Take the polish back on the page, then place them."
        )
    items = open_source(new)
    if items.kind != pile.collection.kind:
        raise InputError(
            f"{new!r} holds {items.kind} items, but {pile.collection.name!r} holds "
            f"{pile.collection.kind} items. Give items of the same sort."
        )
    with progress_bar("Encoding") as progress:
        more = pile.vectors_of(items, progress)
    for notice in skipped_notices((*items.skipped, *more.failed)):
        note(notice)
    if not len(more.X):
        raise SourceError(f"None of the {len(items)} items of {new!r} could be read.")
    if more.X.shape[1] != pile.X.shape[1]:
        raise VectorError(
            f"The vectors of {new!r} have {more.X.shape[1]} numbers, those of "
            f"{pile.collection.name!r} have {pile.X.shape[1]}. Give vectors made in the same way."
        )
    numbers = session.predict(more.X)
    names = session.clustering
    placed = items.take(more.positions.tolist())
    if out is None:
        for id, number in zip(placed.ids(), numbers.tolist(), strict=True):
            typer.echo(f"{id}\t{number}\t{names.name(number)}")
        return
    grouping = Clustering(numbers, more.X, names=dict(names.names))
    say(run_export(plan_export(placed, grouping, out)).describe())


def read_map(file: Path | None) -> dict[str, Any] | None:
    """The file {label: group} that makes an orientation out of a label column."""
    if file is None:
        return None
    advice = 'Give a JSON object such as {"cat": "animal", "rose": "plant"}.'
    try:
        mapping = json.loads(file.expanduser().read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"The map {str(file)!r} cannot be read: {problem.strerror}. {advice}"
        ) from problem
    except ValueError as problem:
        raise InputError(f"The map {str(file)!r} is not JSON: {problem}. {advice}") from problem
    if not isinstance(mapping, dict):
        raise InputError(f"The map {str(file)!r} is JSON, but no object. {advice}")
    for label, group in mapping.items():
        if isinstance(group, dict | list):
            raise InputError(
                f"The group of {label!r} in the map {str(file)!r} is not one word. {advice}"
            )
    return mapping
