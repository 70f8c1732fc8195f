"""``samekind export``: the groups as a table or folders, or the orientation as a small file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli import options
from samekind.cli.console import at_terminal, note, progress_bar, say, show_json, waiting
from samekind.errors import ExportError, InputError

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.albums import Subgroups
    from samekind.workspace.exports import ExportRequest
    from samekind.workspace.pile import Pile

SUFFIX = ".orientation"
"""That of `samekind.exports.orientation_file`, repeated so that --help needs no heavy import."""


NoFormulas = Annotated[
    bool,
    typer.Option(
        "--no-formulas",
        help="In CSV files: put an apostrophe before cells that a spreadsheet would calculate.",
    ),
]


def export(
    path: options.Source,
    target: Annotated[
        Path | None,
        typer.Argument(help=f"A new .csv, .json, .parquet or {SUFFIX} file, or a new folder."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, json, parquet, coco, label-studio, fiftyone, argilla, cleanlab, folders, "
            "albums, imagefolder, xmp or orientation; default: by the suffix."
        ),
    ] = None,
    mode: Annotated[str, typer.Option(help="For folders: copy or link the files.")] = "copy",
    no_formulas: NoFormulas = False,
    yes: options.Yes = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo an export into folders.")] = False,
    orientation: Annotated[
        str | None,
        typer.Option(
            help=f"Name of the grouping. Without TARGET it is written to NAME{SUFFIX}, a small "
            "file for `samekind predict`."
        ),
    ] = None,
    encoder: options.Encoder = None,
    method: options.Method = None,
    groups: options.Groups = None,
    ledger: options.Ledger = None,
    as_json: options.Json = False,
) -> None:
    """Export the groups as a table or folders, or as a file that sorts other items."""
    from samekind.exports.placements import check_new
    from samekind.exports.plan import format_of
    from samekind.workspace.exports import ExportRequest
    from samekind.workspace.pile import Request

    target, name = named_target(target, orientation)
    if undo:
        undo_folders(target, as_json)
        return
    if format != "xmp":  # sidecars may be written into the folder of the pictures
        check_new([target])
    as_orientation = format == "orientation" or (format is None and target.suffix == SUFFIX)
    if not as_orientation:
        format = format_of(target, format)  # an unknown format fails early
    request = Request(path, name, encoder, method, None, groups, None, ledger, note)
    with progress_bar("Encoding", then="Grouping") as progress:
        pile, session = request.reopen(progress)
    if as_orientation:
        write_orientation(pile, session, target, as_json=as_json)
        return
    subgroups = None
    if format == "albums":
        from samekind.workspace.albums import opener, subgroups_of

        subgroups = subgroups_of(session, pile, opener(request, session.store))
    wanted = ExportRequest(format, mode, target, str(target), no_formulas)
    write_groups(session, wanted, yes=yes, subgroups=subgroups, as_json=as_json)


def undo_folders(target: Path, as_json: bool) -> None:
    """Undo an export into folders, and say what was removed."""
    from samekind.exports import undo_export

    with waiting("Removing"):
        undone = undo_export(target)
    if not as_json:
        say(undone.describe())
        return
    kept = {str(path): reason for path, reason in undone.kept}
    show_json({"target": str(undone.target), "removed": len(undone.done), "kept": kept})


def write_orientation(pile: Pile, session: Session, target: Path, *, as_json: bool = False) -> None:
    """Write the file that sorts other items, and say what it holds."""
    from samekind.workspace.orientation import orientation_of

    file = orientation_of(pile, session)
    size = file.save(target)
    if as_json:
        show_json({"target": str(target), "files": 1, "bytes": size, "notes": list(file.notes)})
        return
    say(f"{target}: {size / 1e6:.2f} MB.")
    say(f"{file.describe()}.")
    for sentence in file.notes:
        say(f"Note: {sentence}")
    say(f"Sort other items with it:  samekind predict {target} NEW")


def write_groups(
    session: Session,
    wanted: ExportRequest,
    *,
    yes: bool,
    subgroups: Subgroups | None = None,
    as_json: bool = False,
) -> None:
    """Write the groups. Many files are shown first and written once that is confirmed."""
    from samekind.exports import run_export
    from samekind.workspace.exports import plan

    planned = plan(session, wanted, subgroups)
    if planned.conflicts:
        raise ExportError(" ".join(planned.conflicts))
    if not (yes or planned.is_one_file):
        if as_json:
            show_json({"target": str(planned.target), "files": 0, "planned": len(planned.files)})
            note("Nothing was written. Add --yes to write it.")
            return
        say(planned.describe())
        asked = at_terminal()
        if not (asked and typer.confirm("Write it?")):
            say("Nothing was written." if asked else "Nothing was written. Add --yes to write it.")
            return
    with progress_bar("Writing") as progress:
        report = run_export(planned, progress)
    if as_json:
        written = {"target": str(report.target), "files": len(report.done)}
        show_json(written | {"groups": session.clustering.n_groups})
        return
    say(report.describe())


def named_target(target: Path | None, orientation: str | None) -> tuple[Path, str]:
    """Return where to write, and which grouping; either of the two can determine both.

    >>> named_target(None, "colour")[0].name, named_target(None, "by/colour.orientation")[1]
    ('colour.orientation', 'main')
    """
    if target is not None:
        return target, orientation or "main"
    if orientation is None:
        raise InputError(
            "Expected a new file or folder to write to, got none. Name one, such as groups.csv, "
            f"sorted, or main{SUFFIX}, which sorts other items."
        )
    if orientation.endswith(SUFFIX):  # a file was named instead of a grouping
        return Path(orientation), "main"
    from samekind.exports.names import safe_name

    return Path(safe_name(orientation, "main") + SUFFIX), orientation
