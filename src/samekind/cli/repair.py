"""``samekind repair``: save what is whole of a damaged ledger."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from samekind.cli import options
from samekind.cli.console import say, show_json, waiting
from samekind.user_paths import is_there


def repair(
    ledger: Annotated[str, typer.Argument(help="The damaged file with your answers.")],
    to: Annotated[
        Path | None, typer.Option(help="The new file. By default NAME.repaired beside the old one.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Save all whole answers of a damaged ledger to a new file, and say what is missing."""
    from samekind.errors import InputError, StoreError
    from samekind.ledger.repair import repair as save

    if "://" in ledger:
        raise InputError(
            "Expected a ledger file, got the address of a database. Restore a backup of the "
            "database with the tools of PostgreSQL."
        )
    is_there(ledger, StoreError)  # what cannot be looked at is said first
    if to is not None:
        is_there(to, StoreError)
    with waiting("Reading"):
        saved = save(ledger, to)
    if as_json:
        show_json({**asdict(saved), "path": str(saved.path), "complete": saved.is_complete})
        return
    for line in saved.describe():
        say(line)
