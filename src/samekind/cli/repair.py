"""``samekind repair``: save what is whole of a damaged ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.console import say


def repair(
    ledger: Annotated[str, typer.Argument(help="The damaged file with your answers.")],
    to: Annotated[
        Path | None, typer.Option(help="The new file. By default NAME.repaired beside the old one.")
    ] = None,
) -> None:
    """Save all whole answers of a damaged ledger to a new file, and say what is missing."""
    from samekind.errors import InputError
    from samekind.ledger.repair import repair as save

    if "://" in ledger:
        raise InputError(
            "Expected a ledger file, got the address of a database. Restore a backup of the "
            "database with the tools of PostgreSQL."
        )
    for line in save(ledger, to).describe():
        say(line)
