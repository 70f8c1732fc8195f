"""``samekind list``: everything that can be named on the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import say, screen, show_json, show_table
from samekind.errors import InputError, UnknownName

KINDS = ("method", "strategy", "encoder")


def list_all(
    name: Annotated[
        str | None, typer.Argument(help="Describe what has this name: its parameters and paper.")
    ] = None,
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

    if sum(each is not None for each in (name, method, strategy)) > 1:
        raise InputError("Expected NAME, --method or --strategy, got more. Omit the others.")
    if method is not None:
        found = describe("method", method)
    elif strategy is not None:
        found = describe("strategy", strategy)
    elif name is not None:
        _show_named(name, as_json)
        return
    else:
        _show_all(as_json)
        return
    show_json(found) if as_json else _show_member(found)


def _show_named(name: str, as_json: bool) -> None:
    """Print everything that has a name: a method and a strategy may share one."""
    from samekind.parameters import describe
    from samekind.registry import registered
    from samekind.sources import SETS
    from samekind.sources import describe as sources

    found = {kind: describe(kind, name) for kind in KINDS if name in registered(kind)}
    if name in SETS:
        found["set"] = {"name": name, "line": sources()[name]}
    if not found:
        raise UnknownName("name", name, {*SETS, *(n for kind in KINDS for n in registered(kind))})
    if as_json:
        show_json(found)
        return
    for place, (kind, member) in enumerate(found.items()):
        if place:
            screen.print()
        _show_member(member, kind)


def _show_member(found: dict[str, Any], kind: str = "") -> None:
    """Print a method, strategy, encoder or set with its parameters."""
    from samekind.parameters import written

    say(f"{kind.capitalize()} {found['name']}: {found['line']}".strip())
    if "parameters" not in found:
        return
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
    screen.print()
    if "strategy" in found:
        say(f"Set one:  samekind ask PATH --method {found['name']} --with NAME=VALUE")
    elif kind:
        say(f"Set one:  samekind ask PATH --{kind} {found['name']} --with {kind}.NAME=VALUE")


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
        show_json(known)
        return
    for title, members in known.items():
        show_table(("name", "description"), members.items(), title)
        screen.print()
