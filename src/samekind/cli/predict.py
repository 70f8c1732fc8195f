"""``samekind predict``: sort other items, by a session or by an orientation file alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say, screen, show_json, show_table
from samekind.cli.export import NoFormulas
from samekind.errors import InputError
from samekind.questions.wording import plural
from samekind.user_paths import expanded, is_regular_file

if TYPE_CHECKING:
    from samekind.exports.orientation_file import OrientationFile
    from samekind.exports.placements import Placements
    from samekind.items import Collection
    from samekind.workspace.pile import Request

PILE_SUFFIXES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".txt")
"""Files that hold a pile; any other file is taken for an orientation file."""
MAX_NAMED_STRANGERS = 20
"""Items that fit no group and are named; the others are only counted."""
PRINTED = Path("-")
"""In place of a file: standard output."""


class PredictCommand(TyperCommand):
    """The command, whose ``--json`` needs no file, as that of all other commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; ``--json`` at the end or before another option prints."""
        given: list[str] = []
        for word, after in zip(args, [*args[1:], "--"], strict=True):
            given.append(word)
            if word == "--json" and after.startswith("-") and after != str(PRINTED):
                given.append(str(PRINTED))
        return super().parse_args(ctx, given)


def predict(
    path: Annotated[
        str,
        typer.Argument(help="A grouping file, or the folder, table or set that you sorted."),
    ],
    new: options.NewItems = None,
    out: options.LabelsOut = None,
    csv: Annotated[Path | None, typer.Option(help="Write a new .csv file, a row per item.")] = None,
    json: Annotated[
        Path | None,
        typer.Option(help="Print one JSON object; with FILE, write it to a new .json file."),
    ] = None,
    copy_to: Annotated[
        Path | None, typer.Option(help="Copy the files into a new folder, by group.")
    ] = None,
    link_to: Annotated[
        Path | None, typer.Option(help="Link the files into a new folder, by group.")
    ] = None,
    no_formulas: NoFormulas = False,
    tolerance: Annotated[
        float, typer.Option(min=0.1, help="Above 1, fewer items are reported to fit no group.")
    ] = 1.0,
    on: options.On = "local",
    workers: options.Workers = None,
    orientation: options.Orientation = "main",
    encoder: options.Encoder = None,
    method: options.Method = None,
    groups: options.Groups = None,
    ledger: options.Ledger = None,
) -> None:
    """Sort other items into the groups that you made, without asking any questions."""
    from samekind.exports.orientation_file import OrientationFile
    from samekind.exports.placements import check_new, check_table
    from samekind.sources import is_vector_store
    from samekind.workspace.pile import Request, check_source

    path, new = in_order(path, new, orientation)
    as_json, json = json == PRINTED, None if json == PRINTED else json
    targets = {"--csv": csv, "--json": json, "--copy-to": copy_to, "--link-to": link_to}
    given = [option for option, target in targets.items() if target is not None]
    if is_vector_store(new):
        place_vectors(path, new, out, given, tolerance, on=on, workers=workers, as_json=as_json)
        return
    check_new([out, *targets.values()])
    check_source(new)
    if not is_orientation(path):
        check_table(out)
        check_session_targets(path, given)
        request = Request(path, orientation, encoder, method, None, groups, None, ledger, note)
        place_by_session(request, new, out, as_json, no_formulas=no_formulas)
        return
    if out is not None:
        raise InputError(
            f"Expected no --out with the grouping file {path!r}. Use --csv, --json, --copy-to "
            "or --link-to instead."
        )
    items, placements = place_by_file(OrientationFile.load(path), new, encoder, tolerance)
    tell = note if as_json else say
    write_placements(items, placements, targets, tell, no_formulas=no_formulas)
    show_placements(placements, as_json=as_json, listed=not given)


def in_order(path: str, new: str | None, orientation: str) -> tuple[str, str]:
    """Return what sorts and what is sorted; ``--orientation FILE`` may name the former."""
    if new is not None:
        return path, new
    if not is_orientation(orientation):
        raise InputError(f"Expected the items to sort, got only {path!r}. Add them.")
    return orientation, path


def check_session_targets(path: str, given: Sequence[str]) -> None:
    """Raise when an option was given that needs an orientation file."""
    if given:
        raise InputError(
            f"Expected a grouping file for {given[0]}, got {path!r}. Make one: samekind "
            f"export {path} FILE.orientation. Or use --out FILE."
        )


def is_orientation(path: str) -> bool:
    """Whether a path is, or is named like, an orientation file."""
    from samekind.exports.orientation_file import SUFFIX

    place = expanded(path)
    if place.suffix.lower() == SUFFIX:
        return not place.is_dir()
    return is_regular_file(place) and place.suffix.lower() not in PILE_SUFFIXES


def place_by_session(
    request: Request, new: str, out: str | None, as_json: bool, *, no_formulas: bool = False
) -> None:
    """Place items by a session: lines of id, number and name, or a table in a file."""
    from samekind.exports import plan_export, run_export
    from samekind.workspace.notices import skipped_notices
    from samekind.workspace.predict import place_others

    with progress_bar("Encoding", then="Grouping") as progress:
        pile, session = request.reopen(progress)
    with progress_bar("Encoding", then="Placing") as progress:
        items, clustering = place_others(pile, session, new, progress)
    for notice in skipped_notices(items.skipped):
        note(notice)
    written = None
    if out is not None:
        written = run_export(plan_export(items, clustering, out, no_formulas=no_formulas))
    placed = zip(items.ids(), clustering.labels.tolist(), strict=True)
    rows = [{"id": id, "group": group, "name": clustering.name(group)} for id, group in placed]
    if as_json:
        show_json({"collection": items.name, "orientation": session.name, "items": rows})
    elif written is not None:
        say(written.describe())
    else:
        for row in rows:
            typer.echo("\t".join(map(str, row.values())))


def place_by_file(
    file: OrientationFile, new: str, encoder: str | None, tolerance: float
) -> tuple[Collection, Placements]:
    """Place items by an orientation file."""
    from samekind.encoders import default_cache
    from samekind.sources import open_source
    from samekind.workspace.notices import skipped_notices
    from samekind.workspace.predict import place_items

    note(f"{file.describe()}.")
    for sentence in file.notes:
        note(f"Note: {sentence}")
    with progress_bar("Listing") as progress:
        items = open_source(new, cache=default_cache(), progress=progress)
    with progress_bar("Encoding", then="Placing") as progress:
        placements = place_items(
            file, items, encoder=encoder, tolerance=tolerance, progress=progress
        )
    for notice in skipped_notices(placements.skipped):
        note(notice)
    return items, placements


def place_vectors(
    path: str,
    vectors: str,
    out: str | None,
    given: Sequence[str],
    tolerance: float,
    *,
    on: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Place all rows of a store of vectors by an orientation file, and say what was done."""
    from samekind.cli.embed import step_progress
    from samekind.exports.orientation_file import OrientationFile
    from samekind.workspace.predict import place_store

    if given or out is None or not is_orientation(path):
        options = ", ".join(given) or ("no --out" if out is None else "--out")
        raise InputError(
            f"Expected a grouping file and --out LABELS.parquet or .lance for the vectors "
            f"{vectors!r}, got {path!r} and {options}."
        )
    file = OrientationFile.load(path)
    note(f"{file.describe()}.")
    for sentence in file.notes:
        note(f"Note: {sentence}")
    if file.outside:
        note(
            "Note: vectors do not tell what they miss of an item. Whether an item fits is judged "
            "by its distance alone."
        )
    with step_progress() as report:
        progress = partial(report, "Sorting")
        done = place_store(
            file, vectors, out, on=on, workers=workers, tolerance=tolerance, progress=progress
        )
    sizes, names = done.labels.sizes(), done.labels.names()
    strangers = sizes.pop(0, 0)
    if as_json:
        groups = [{"number": k, "name": names[k], "size": size} for k, size in sizes.items()]
        counts = {"rows": done.before + done.added, "before": done.before, "fit_none": strangers}
        show_json({"labels": str(done.labels.path), **counts, "groups": groups})
        return
    for number, size in sizes.items():
        note(f"{size:,} in {names[number]}")
    missing = plural(strangers, "item fits", "items fit")
    note(f"{missing} no group." if strangers else "Every item fits a group.")
    earlier = f", {done.before:,} of them by an earlier run" if done.before else ""
    if not done.added:
        earlier = ": nothing was left to do"
    say(f"{done.labels.path}: {plural(done.before + done.added, 'row')}{earlier}.")


def write_placements(
    items: Collection,
    placements: Placements,
    targets: Mapping[str, Path | None],
    tell: Callable[[str], None] = say,
    *,
    no_formulas: bool = False,
) -> None:
    """Write tables and folders, by option; items that fit no group get a folder of their own."""
    from samekind.exports import plan_export, run_export

    if csv := targets["--csv"]:
        placements.write_csv(csv, no_formulas=no_formulas)
        tell(f"{csv}: {plural(len(placements.items), 'row')}.")
        formulas = placements.formula_note(no_formulas=no_formulas)
        if formulas:
            tell(f"Note: {formulas}")
    if json := targets["--json"]:
        placements.write_json(json)
        tell(f"{json}: {plural(len(placements.items), 'item')}.")
    for option, mode in (("--copy-to", "copy"), ("--link-to", "link")):
        target = targets[option]
        if target is None:
            continue
        placed = items.take([items.position(item.id) for item in placements.items])
        plan = plan_export(placed, placements.clustering(), target, format="folders", mode=mode)
        with progress_bar("Writing") as progress:
            tell(run_export(plan, progress).describe())


def show_placements(placements: Placements, *, as_json: bool, listed: bool) -> None:
    """Print the placements as JSON, or as lines if they are to be listed, and a summary."""
    if as_json:
        show_json(placements.as_plain())
        return
    if listed:
        show_lines(placements)
    show_summary(placements)


def show_lines(placements: Placements) -> None:
    """Print a line per item: a table for a person, tab-separated cells for a program."""
    if screen.is_terminal:
        rows = (
            (i.id, i.group, i.name, f"{i.confidence:.2f}", "" if i.fits else "fits no group")
            for i in placements.items
        )
        show_table(("item", "group", "name", "confidence", ""), rows)
        return
    for item in placements.items:
        fits = "fits" if item.fits else "fits-none"
        cells = (item.id, item.group, item.name, f"{item.confidence:.2f}", fits)
        typer.echo("\t".join(map(str, cells)))


def show_summary(placements: Placements) -> None:
    """Print on stderr how many items each group got, and which items fit none."""
    counts = Counter((item.group, item.name) for item in placements.items if item.fits)
    for (_, name), count in sorted(counts.items()):
        note(f"{count:,} in {name}")
    strangers = placements.strangers
    if not strangers:
        note("Every item fits a group.")
        return
    note(f"{plural(len(strangers), 'item fits', 'items fit')} no group:")
    for item in strangers[:MAX_NAMED_STRANGERS]:
        note(f"  {item.id} (nearest: {item.name}; {item.strangeness:.1f} times the limit)")
    if len(strangers) > MAX_NAMED_STRANGERS:
        note(f"  ... and {len(strangers) - MAX_NAMED_STRANGERS:,} more.")
