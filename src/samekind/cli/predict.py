"""``samekind predict``: place other items by a session, or by an orientation file alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.console import note, progress_bar, say, screen
from samekind.errors import InputError

if TYPE_CHECKING:
    from samekind.exports.orientation_file import OrientationFile
    from samekind.exports.placements import Placements
    from samekind.items import Collection

TABLES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".txt")
"""Files that hold a pile; any other file is taken for an orientation."""
MOST_NAMED = 20
"""Items that fit no group and are named; of the others only the number is told."""


def predict(
    path: Annotated[
        str,
        typer.Argument(help="An orientation file, or the folder, table or set that you sorted."),
    ],
    new: Annotated[str, typer.Argument(help="Other items of the same sort: a folder or table.")],
    out: Annotated[Path | None, typer.Option(help="A new .csv, .json or .parquet file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="A new .csv file, one row per item.")] = None,
    json: Annotated[Path | None, typer.Option(help="A new .json file.")] = None,
    copy_to: Annotated[
        Path | None, typer.Option(help="A new folder: one folder per group, with copies.")
    ] = None,
    link_to: Annotated[Path | None, typer.Option(help="The same, with links.")] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.1, help="More than 1 lists fewer items that fit no group.")
    ] = 1.0,
    orientation: Annotated[str, typer.Option(help="Which of your groupings of a pile.")] = "main",
    encoder: Annotated[
        str | None, typer.Option(help="How items become vectors; see `list`.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="What groups the items; see `list`.")] = None,
    groups: Annotated[int | None, typer.Option(min=1, help="How many groups, if you know.")] = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", help="File (or database address) that keeps the answers."),
    ] = None,
) -> None:
    """Place other items into the groups that you made, without asking anything."""
    from samekind.cli.results import check_free, place_others
    from samekind.exports.orientation_file import OrientationFile
    from samekind.exports.placements import check_new
    from samekind.workspace.pile import Request, check_source

    check_free(out)
    targets = {"--csv": csv, "--json": json, "--copy-to": copy_to, "--link-to": link_to}
    if is_orientation(path):
        if out is not None:
            raise InputError("With an orientation file say --csv, --json, --copy-to or --link-to.")
        check_new([csv, json, copy_to, link_to])
        check_source(new)
        file = OrientationFile.load(path)
        items, placements = _placements(file, new, encoder, tolerance)
        write_placed(items, placements, csv=csv, json=json, copy_to=copy_to, link_to=link_to)
        if not any(targets.values()):
            show_placed(placements)
        show_summary(placements)
        return
    given = [option for option, target in targets.items() if target is not None]
    if given:
        raise InputError(
            f"{given[0]} needs an orientation file; {path!r} is none. Make one: samekind export "
            f"{path} FILE.orientation. Or say --out FILE."
        )
    check_source(new)
    request = Request(
        path, orientation, encoder, method, groups=groups, ledger=ledger, on_notice=note
    )
    with progress_bar("Encoding") as progress:
        pile, session = request.reopen(progress)
    place_others(pile, session, new, out)


def is_orientation(path: str) -> bool:
    """Whether this is, or is called like, an orientation file, and no pile."""
    from samekind.exports.orientation_file import SUFFIX

    place = Path(path).expanduser()
    if place.suffix.lower() == SUFFIX:
        return not place.is_dir()
    return place.is_file() and place.suffix.lower() not in TABLES


def _placements(
    file: OrientationFile, new: str, encoder: str | None, tolerance: float
) -> tuple[Collection, Placements]:
    """Apply an orientation to a folder or table; says what it is and what is skipped."""
    from samekind.sources import open_source
    from samekind.workspace.pile import skipped_notices
    from samekind.workspace.predict import place_items

    note(f"{file.describe()}.")
    for sentence in file.notes:
        note(f"Note: {sentence}")
    items = open_source(new)
    with progress_bar("Encoding") as progress:
        placements = place_items(
            file, items, encoder=encoder, tolerance=tolerance, progress=progress
        )
    for notice in skipped_notices(placements.skipped):
        note(notice)
    return items, placements


def write_placed(
    items: Collection,
    placements: Placements,
    *,
    csv: Path | None = None,
    json: Path | None = None,
    copy_to: Path | None = None,
    link_to: Path | None = None,
) -> None:
    """Write tables and folders; what fits no group gets a folder of its own."""
    from samekind.exports import plan_export, run_export

    if csv is not None:
        placements.write_csv(csv)
        say(f"{csv}: {len(placements.items):,} rows.")
    if json is not None:
        placements.write_json(json)
        say(f"{json}: {len(placements.items):,} items.")
    for target, mode in ((copy_to, "copy"), (link_to, "link")):
        if target is None:
            continue
        placed = items.take([items.position(item.id) for item in placements.items])
        plan = plan_export(placed, placements.clustering(), target, format="folders", mode=mode)
        with progress_bar("Writing") as progress:
            say(run_export(plan, progress).describe())


def show_placed(placements: Placements) -> None:
    """A line for each item: a table for a person, or cells between tabs for a program."""
    if not screen.is_terminal:
        for item in placements.items:
            fits = "fits" if item.fits else "fits-none"
            cells = (item.id, item.group, item.name, f"{item.confidence:.2f}", fits)
            typer.echo("\t".join(map(str, cells)))
        return
    from rich.table import Table
    from rich.text import Text

    from samekind.cli.drawings import printable

    table = Table("item", "group", "name", "confidence", "", box=None)
    for item in placements.items:
        table.add_row(
            Text(printable(item.id)),
            str(item.group),
            Text(printable(item.name)),
            f"{item.confidence:.2f}",
            "" if item.fits else "fits no group",
        )
    screen.print(table)


def show_summary(placements: Placements) -> None:
    """Beside the result: how many came where, and which items fit no group."""
    counts: dict[tuple[int, str], int] = {}
    for item in placements.items:
        if item.fits:
            counts[item.group, item.name] = counts.get((item.group, item.name), 0) + 1
    for (_, name), count in sorted(counts.items()):
        note(f"{count:,} in {name}")
    strangers = placements.strangers
    if not strangers:
        note("Every item fits a group.")
        return
    note(f"{len(strangers):,} fit no group:")
    for item in strangers[:MOST_NAMED]:
        note(f"  {item.id} (nearest: {item.name}; {item.strangeness:.1f} times the limit)")
    if len(strangers) > MOST_NAMED:
        note(f"  ... and {len(strangers) - MOST_NAMED} more.")
