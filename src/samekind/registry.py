"""A name, or "package.module:Class", to an object: how strategies and methods are found."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from samekind.errors import InputError, UnknownName

SHELVES: dict[str, tuple[str, str]] = {
    "strategy": ("samekind.strategies", "STRATEGIES"),
    "method": ("samekind.clusterers", "CLUSTERERS"),
}


def shelf(kind: str) -> Mapping[str, str]:
    """All members of a shelf: name to "package.module:Class"."""
    module, attribute = SHELVES[kind]
    members: Mapping[str, str] = getattr(import_module(module), attribute)
    return members


def find(kind: str, name: str) -> Any:
    """The class behind a name of a shelf, or behind "package.module:Class".

    >>> find("strategy", "random").__name__
    'Random'
    """
    members = shelf(kind)
    target = name if ":" in name else members.get(name)
    if target is None:
        raise UnknownName(kind, name, members)
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise InputError(
            f"{target!r} cannot be used as a {kind}: {problem}. Give it as package.module:Class."
        ) from problem


def make_method(name: str, n_groups: int | None = None) -> Any:
    """A method, told how many groups there are if that is known and the method asks for it."""
    from inspect import signature

    method = find("method", name)
    if not callable(getattr(method, "fit", None)):
        raise TypeError("it has no method fit")
    if n_groups is None:
        return method()
    if "n_clusters" not in signature(method).parameters:
        raise InputError(
            f"The method {name!r} finds the number of groups itself; {n_groups} came. Leave the "
            "number out, or choose another method."
        )
    return method(n_clusters=n_groups)


def first_line(kind: str, name: str) -> str:
    """What a member is for, from its docstring."""
    return (find(kind, name).__doc__ or "").strip().splitlines()[0]
