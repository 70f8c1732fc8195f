"""What a session is made of: its items and vectors, its method and its strategy.

A ledger keeps the names and parameters of method and strategy, so that a session that is opened
again goes on as it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import signature
from math import isfinite
from typing import Any

import numpy as np

from samekind.errors import InputError, SamekindError
from samekind.items import Collection
from samekind.parameters import parameters_of, read_parameters
from samekind.protocols import Clusterer, QueryStrategy
from samekind.registry import find, make_method, registered, strategy_of, with_blocks

DEFAULT_METHOD = "live"
PARAMETERS = {"method": "parameters", "strategy": "strategy_parameters"}
"""Where the settings of a ledger keep the parameters."""
BY_HAND = "by hand"
"""Kept in place of the name of a method or strategy that a ledger cannot make again."""


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a session with their vectors; `encoded` has the encoder that made them."""

    collection: Collection
    X: Any
    encoded: Any = None

    def __post_init__(self) -> None:
        if len(self.collection):  # a ledger knows items by their ids alone: two must not share one
            self.collection.position(self.collection.id(0))

    @classmethod
    def of(cls, data: Any, X: Any, clusterer: Any, encoded: Any = None) -> Items:
        """Take a collection with its vectors, a pile, or data in memory, which is encoded."""
        if isinstance(data, Collection) and X is not None:
            return cls(data, X, encoded)
        if hasattr(data, "encoded") and hasattr(data, "collection"):
            return cls(data.collection, data.X if X is None else X, data.encoded)
        mixed = clusterer is None or isinstance(clusterer, str) or _weighs_blocks(clusterer)
        opening = import_module("samekind.workspace.given")  # only here: most bring vectors
        return cls(*opening.opened(data, X, mixed=mixed))


@dataclass(frozen=True, eq=False)
class Parts:
    """A method and a strategy, and the settings from which both can be made again."""

    clusterer: Any
    strategy: Any
    settings: dict[str, Any]

    @classmethod
    def of(
        cls,
        clusterer: Clusterer | str | None,
        strategy: QueryStrategy | str | None,
        kept: Mapping[str, Any],
        encoded: Any = None,
    ) -> Parts:
        """Take what was given, or else what the ledger keeps, or else the defaults.

        Settings change only where something else was given: opening a ledger writes nothing.
        """
        before = {name: value for name, value in kept.items() if value is not None}
        wanted = dict(before)
        if clusterer is not None or "method" not in before:
            clusterer = DEFAULT_METHOD if clusterer is None else clusterer
            wanted.pop("groups", None)
            wanted |= described("method", clusterer)
            if strategy is None and "method" in before:
                strategy = own_strategy(clusterer)  # that of another method does not fit
        method = _made("method", clusterer, wanted)
        if strategy is not None or "strategy" not in before:
            wanted |= described("strategy", strategy or own_strategy(method))
        if encoded is not None:
            method = with_blocks(method, encoded.blocks)
        usual = described("method", DEFAULT_METHOD) | described("strategy", own_strategy(method))
        changed = wanted != {**usual, **before} or not kept
        return cls(method, _made("strategy", strategy, wanted), wanted if changed else dict(kept))


def own_strategy(clusterer: Any) -> str:
    """The strategy that belongs to a method, given by its name or as an object.

    >>> own_strategy("cobras"), own_strategy("kmeans")
    ('cobras', 'live')
    """
    if isinstance(clusterer, str):
        return strategy_of(clusterer)
    named: str = getattr(type(clusterer), "strategy", None) or strategy_of(DEFAULT_METHOD)
    return named


def described(kind: str, made: Any) -> dict[str, Any]:
    """The settings from which a method or strategy can be made again.

    >>> from samekind import KMeans
    >>> described("method", KMeans(n_clusters=3))
    {'method': 'kmeans', 'parameters': {'n_clusters': 3}}
    """
    if isinstance(made, str):
        find(kind, made)  # an unknown name fails here
        return {kind: made, PARAMETERS[kind]: {}}
    target = f"{type(made).__module__}:{type(made).__qualname__}"
    name = next((name for name, found in registered(kind).items() if found == target), None)
    if name is None:
        return {kind: BY_HAND, PARAMETERS[kind]: {}}
    known = parameters_of(kind, name)
    values = {k: _plain(v) for k, v in _values(made).items()}
    given = {k: v for k, v in values.items() if k not in ("blocks", "random_state")}
    fresh = {k: _plain(v) for k, v in _values(type(made)()).items()}
    changed = {name: value for name, value in given.items() if value is not fresh[name]}
    changed = {k: v for k, v in changed.items() if not _equal(v, fresh[k])}
    if any(name not in known or not _is_plain(value) for name, value in changed.items()):
        return {kind: BY_HAND, PARAMETERS[kind]: {}}
    return {kind: name, PARAMETERS[kind]: changed}


def _made(kind: str, given: Any, settings: Mapping[str, Any]) -> Any:
    """The object that was given, or one that is made from its name in the settings."""
    if given is not None and not isinstance(given, str):
        _check(kind, given)
        return given
    name = str(settings[kind])
    if given is None and (name == BY_HAND or ":" in name):  # a file must not decide what is run
        word = "clusterer" if kind == "method" else kind
        raise InputError(
            f"Expected the {kind} with which this session began: a ledger keeps only those of "
            f"samekind. Give it again: Session(..., {word}=...)"
        )
    parameters = settings.get(PARAMETERS[kind]) or {}
    try:
        if kind == "method":
            return make_method(name, settings.get("groups"), parameters)
        return find(kind, name)(**read_parameters(name, parameters, kind=kind))
    except TypeError as problem:
        raise InputError(f"{name!r} cannot be used as a {kind}: {problem}.") from problem


def _check(kind: str, given: Any) -> None:
    """Check that an object can be the method or the strategy of a session."""
    word, does = ("clusterer", "fit") if kind == "method" else (kind, "propose")
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    if isinstance(given, type):
        raise InputError(
            f"Expected a {word} as an object, got the class {name}. Write {word}={name}()."
        )
    found = getattr(given, does, None)
    if not callable(found):
        raise InputError(
            f"Expected a {word} with a method {does!r}, or a name from `samekind list`, got "
            f"{given!r:.100}."
        )
    if kind == "method" and not (_takes_constraints(found) and hasattr(given, "get_params")):
        raise InputError(
            f"Expected a clusterer with get_params, whose fit takes constraints, got {name} of "
            f"{type(given).__module__}, which cannot learn from answers. Choose one from "
            "`samekind list`."
        )


def _takes_constraints(fit: Any) -> bool:
    taken = signature(fit).parameters.values()
    return any(each.name == "constraints" or each.kind is each.VAR_KEYWORD for each in taken)


def _values(made: Any) -> dict[str, Any]:
    if hasattr(made, "get_params"):
        found: dict[str, Any] = made.get_params(deep=False)
        return found
    return {f.name: getattr(made, f.name) for f in fields(made)} if is_dataclass(made) else {}


def _equal(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError, SamekindError):
        return False


def _plain(value: Any) -> Any:
    """Numbers of numpy as those of Python, and tuples as lists, as they are read back."""
    if isinstance(value, np.generic):
        return value.item()
    return list(map(_plain, value)) if isinstance(value, tuple | list) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, float) and not isfinite(value):
        return False  # there is no NaN and no infinity in JSON
    return value is None or isinstance(value, bool | int | float | str)


def _weighs_blocks(clusterer: Any) -> bool:
    if isinstance(clusterer, type) or not hasattr(clusterer, "get_params"):
        return False
    return "blocks" in clusterer.get_params()
