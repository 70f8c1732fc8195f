"""``samekind list``: everything that can be named on the command line."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import say, screen, show_table
from samekind.errors import InputError


def list_all(
    method: Annotated[
        str | None, typer.Option(help="Describe this method: its parameters, strategy and paper.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="Describe this strategy: its parameters and paper.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List strategies, methods, encoders, sets and the files that can be opened."""
    from samekind.parameters import describe

    if method is not None and strategy is not None:
        raise InputError("Expected --method or --strategy, got both. Omit one of them.")
    if method is not None:
        found = describe("method", method)
    elif strategy is not None:
        found = describe("strategy", strategy)
    else:
        _show_all(as_json)
        return
    typer.echo(json.dumps(found)) if as_json else _show_member(found)


def _show_member(found: dict[str, Any]) -> None:
    """Print a method or strategy with its parameters."""
    from samekind.parameters import written

    say(f"{found['name']}: {found['line']}")
    if "strategy" in found:
        say(f"Strategy: {found['strategy_words']}.")
    if found["paper"]:
        say(f"Paper: {found['paper']}")
    if not found["parameters"]:
        say("It has no parameters.")
        return
    screen.print()
    show_table(
        ("parameter", "value", "default", "description"),
        (
            (each["name"], each["words"], written(each["default"]), each["line"])
            for each in found["parameters"]
        ),
    )
    if "strategy" in found:
        screen.print()
        say(f"Set one:  samekind ask PATH --method {found['name']} --with NAME=VALUE")


def _show_all(as_json: bool) -> None:
    """Print every name with one line of description."""
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
