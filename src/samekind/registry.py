"""Find strategies and methods by name, or by "package.module:Class"."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from samekind.errors import InputError, UnknownName

REGISTRIES: dict[str, tuple[str, str]] = {
    "strategy": ("samekind.strategies", "STRATEGIES"),
    "method": ("samekind.clusterers", "CLUSTERERS"),
}


def registered(kind: str) -> Mapping[str, str]:
    """All members of a registry: name to "package.module:Class"."""
    module, attribute = REGISTRIES[kind]
    found: Mapping[str, str] = getattr(import_module(module), attribute)
    return found


def find(kind: str, name: str) -> Any:
    """The class behind a registered name, or behind "package.module:Class".

    >>> find("strategy", "random").__name__
    'Random'
    """
    known = registered(kind)
    target = name if ":" in name else known.get(name)
    if target is None:
        raise UnknownName(kind, name, known)
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise InputError(
            f"{target!r} cannot be used as a {kind}: {problem}. Give it as package.module:Class."
        ) from problem


def make_method(name: str, n_groups: int | None = None) -> Any:
    """Create a method, with the number of groups if it is known and the method takes it."""
    from inspect import signature

    method = find("method", name)
    if not callable(getattr(method, "fit", None)):
        raise TypeError("it has no method fit")
    if n_groups is None:
        return method()
    if "n_clusters" not in signature(method).parameters:
        raise InputError(
            f"Expected no number of groups, because the method {name!r} finds it itself, got "
            f"{n_groups}. Omit the number, or choose another method."
        )
    return method(n_clusters=n_groups)


def first_line(kind: str, name: str) -> str:
    """The first line of a member's docstring."""
    return (find(kind, name).__doc__ or "").strip().splitlines()[0]
