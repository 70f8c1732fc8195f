"""Checks of a suite before anything runs: keys, types of values, names."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from samekind.errors import InputError, UnknownName, did_you_mean
from samekind.parameters import parameters_of
from samekind.registry import find
from samekind.simulation.settings import GROUPS, HELD_OUT, KINDS, Settings

PERSONS = ("shown", "matched")
"""People who need no table [person.NAME]."""
NOT_IN_A_FILE = {"random_state", "monitor", "objective", "checkpoint"}
"""Constructor parameters that the runner sets, that TOML cannot express, or that runs cannot share.
"""
WANTED: dict[type, str] = {
    int: "a non-negative whole number",
    str: "a text",
    float: "a non-negative number",
    dict: "a table like { shown = 3 }",
    list: "a list",
    object: 'true, false or "given"',
}


def parameter_names(method: str) -> tuple[str, ...]:
    """The constructor parameters of a method that a file may set."""
    names = inspect.signature(find("method", method)).parameters
    return tuple(name for name in names if name not in NOT_IN_A_FILE)


def checked_parameters(where: str, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of a method; raise an error if a value has the wrong type."""
    known = parameters_of("method", method)
    found = {}
    for key, written in given.items():
        value = tuple(written) if isinstance(written, list) else written
        try:
            found[key] = known[key].read(value) if key in known else value
        except InputError as problem:
            raise InputError(f"{where}: {problem}") from None
    return found


def check_keys(where: str, table: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Raise an error for the first unknown key."""
    names = list(allowed)
    for key in table:
        if key not in names:
            hint = did_you_mean(key, names)
            raise InputError(
                f"{where} has the unknown key {key!r}.{hint} Allowed: {', '.join(sorted(names))}."
            )


def check_value(where: str, key: str, value: Any) -> None:
    """Raise an error if a value has the wrong type."""
    kind = KINDS[key]
    right = isinstance(value, (int, float) if kind is float else kind)
    right = right and (kind is object or not isinstance(value, bool))
    if kind is object:
        right = any(value is allowed or value == allowed == "given" for allowed in HELD_OUT)
    if kind is list:
        right = right and all(isinstance(v, str if key == "without" else int) for v in value)
    if not right or (kind in (int, float) and value < 0) or (key == "score_every" and value < 1):
        raise _unusable(where, key, value, WANTED[kind])
    if key == "refits_from" and not all(k.isdecimal() and _count(v) for k, v in value.items()):
        raise _unusable(where, key, value, "a table like { 50 = 10, 200 = 25 }")
    if key == "groups" and value not in GROUPS:
        raise UnknownName(f"value of groups in {where}", value, GROUPS)


def check_list(where: str, key: str, value: Any, of: type) -> None:
    """Raise an error unless the value is a list of texts or of whole numbers."""
    right = isinstance(value, list | tuple) and all(isinstance(v, of) for v in value)
    if not right or any(isinstance(v, bool) for v in value):
        raise _unusable(where, key, value, f"a list of {'texts' if of is str else 'whole numbers'}")


def check_tables(where: str, tables: Any, within: str = "") -> None:
    """Raise an error unless all of these are tables."""
    for key, table in tables.items() if isinstance(tables, dict) else [("", tables)]:
        if not isinstance(table, dict):
            name = ".".join(filter(None, (within, key)))
            raise InputError(f"{where}: expected a table [{name}], got {name} = {table!r}.")


def check_share(where: str, key: str, value: Any) -> None:
    """Raise an error unless the value is from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _unusable(where, key, value, "a number from 0 to 1")


def check_strategy(where: str, merged: Mapping[str, Any]) -> None:
    """Raise an error for an unknown strategy, parameter of it, or person."""
    strategy = find("strategy", str(merged["strategy"]))
    given = merged.get("strategy_with", {})
    check_value(where, "strategy_with", given)
    check_keys(f"{where}: strategy_with", given, inspect.signature(strategy).parameters)
    if given:
        strategy(**given)  # raises its own errors
    person = merged.get("person", Settings.person)
    if person not in PERSONS:
        raise UnknownName("person", str(person), PERSONS)


def check_encoder(name: str) -> None:
    """Raise an error for an unknown encoder."""
    if name not in ("none", "default"):
        from samekind.encoders import make_encoder

        make_encoder(name)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _unusable(where: str, key: str, value: Any, wanted: str) -> InputError:
    return InputError(f"{where}: expected {key} to be {wanted}, got {value!r}.")
