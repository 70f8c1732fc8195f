"""``samekind list``: everything that can be named on the command line."""

from __future__ import annotations

import json

import typer

from samekind.cli import options
from samekind.cli.console import screen, show_table


def list_all(as_json: options.Json = False) -> None:
    """List strategies, methods, encoders, sets and the files that can be opened."""
    from samekind.encoders import describe as encoders
    from samekind.registry import first_line, registered
    from samekind.sources import SETS
    from samekind.sources import describe as sources

    found = sources()
    known = {
        "strategies": {name: first_line("strategy", name) for name in registered("strategy")},
        "methods": {name: first_line("method", name) for name in registered("method")},
        "encoders": encoders(),
        "sets": {name: line for name, line in found.items() if name in SETS},
        "paths": {name: line for name, line in found.items() if name not in SETS},
    }
    if as_json:
        typer.echo(json.dumps(known))
        return
    for title, members in known.items():
        show_table(("name", "description"), members.items(), title)
        screen.print()
