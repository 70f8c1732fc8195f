"""``samekind export``: the groups as a table or folders, or the orientation as a small file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.console import note, progress_bar, say
from samekind.errors import InputError

SUFFIX = ".orientation"
"""That of `samekind.exports.orientation_file`, named here so that help needs no heavy import."""
TARGET = f"A new .csv, .json, .parquet or {SUFFIX} file, or a folder."


def export(
    path: Annotated[str, typer.Argument(help="A folder, a table, or a set (tiles, digits).")],
    target: Annotated[Path | None, typer.Argument(help=TARGET)] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, json, parquet, folders or orientation.")
    ] = None,
    mode: Annotated[str, typer.Option(help="For folders: copy or link.")] = "copy",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only show the plan.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take an export into folders back.")] = False,
    orientation: Annotated[
        str | None,
        typer.Option(
            help="Which of your groupings. Without a target it goes, as a small file, to "
            f"NAME{SUFFIX}, for `samekind predict`."
        ),
    ] = None,
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
    """Take the groups home: a table, one folder per group, or a file that sorts other items."""
    from samekind.cli.results import check_free, write_groups
    from samekind.exports import undo_export
    from samekind.workspace.pile import Request

    target, name = named_target(target, orientation)
    if undo:
        say(undo_export(target).describe())
        return
    check_free(target)
    request = Request(path, name, encoder, method, groups=groups, ledger=ledger, on_notice=note)
    if format == "orientation" or (format is None and target.suffix == SUFFIX):
        from samekind.exports.placements import check_new
        from samekind.workspace.orientation import write_orientation

        check_new([target])
        with progress_bar("Encoding") as progress:
            pile, session = request.reopen(progress)
        say(write_orientation(pile, session, target))
        return
    with progress_bar("Encoding") as progress:
        _, session = request.reopen(progress)
    write_groups(session, target, format, mode, yes=yes)


def named_target(target: Path | None, orientation: str | None) -> tuple[Path, str]:
    """Where to write, and which grouping: one of the two may say both.

    >>> named_target(None, "colour")[0].name, named_target(None, "by/colour.orientation")[1]
    ('colour.orientation', 'main')
    """
    if target is not None:
        return target, orientation or "main"
    if orientation is None:
        raise InputError(
            f"Where to? Give a new file or folder: groups.csv, sorted, or main{SUFFIX}, which "
            "sorts other items."
        )
    if orientation.endswith(SUFFIX):  # a file was named instead of a grouping
        return Path(orientation), "main"
    from samekind.exports.names import safe_name

    return Path(safe_name(orientation, "main") + SUFFIX), orientation
