"""Read a suite from a TOML file. The format: docs/how-to/run-the-benchmark.md."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from samekind.errors import InputError, SourceError, UnknownName
from samekind.evaluation import METRICS
from samekind.registry import strategy_of
from samekind.simulation.settings import KINDS, Settings
from samekind.simulation.suite import PERSON_KEYS, PERSON_PARAMETERS, Person, Stage, Suite
from samekind.simulation.suite_checks import (
    check_encoder,
    check_keys,
    check_list,
    check_share,
    check_strategy,
    check_tables,
    check_value,
    checked_parameters,
    parameter_names,
)
from samekind.sources import CIFAR_SETS, SETS

TOP = ("about", "set", "orientations", "seeds", "compare_with", "curve_at")
TABLES = ("base", "variant", "published", "person")
OF_A_SET = ("orientations", "people", "questions", "encoder", "items", "held_out", "score_at")
PUBLISHED = ("variant", "set", "orientation", "source", "note", "difference", *METRICS)
Table = Mapping[str, Any]


def shipped() -> dict[str, Path]:
    """The suites that come with the package, by name."""
    folder = Path(str(files("samekind.simulation").joinpath("suites")))
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


def open_suite(file: str | Path, overrides: Table | None = None) -> Suite:
    """Read a suite from its file, or by the name of one that comes with the package.

    Parameters
    ----------
    overrides : keys of [base] to replace, also where a set has its own value.
    """
    path = Path(file)
    known = shipped()
    if not path.is_file() and str(file) in known:
        path = known[str(file)]
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as problem:
        raise SourceError(
            f"There is no suite {str(file)!r}. Give a file, or one of: {', '.join(known)}."
        ) from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SourceError(f"{path.name} is not TOML: {problem}. Correct that line.") from problem
    return parsed(path.stem, content, overrides or {})


def parsed(name: str, content: Table, overrides: Table) -> Suite:
    """A suite from the content of its file."""
    check_keys(f"{name}: the top of the file", content, (*TOP, *TABLES))
    for key in ("set", "base"):
        if key not in content:
            raise InputError(f"{name}: the key {key!r} is missing. Add it at the top of the file.")
    check_tables(name, {"base": content["base"]})
    for table in ("variant", "person"):
        check_tables(name, content.get(table, {}), table)
    check_list(name, "seeds", content.get("seeds", []), int)
    check_list(name, "curve_at", content.get("curve_at", []), int)
    people = {each: _person(name, each, of) for each, of in content.get("person", {}).items()}
    stages = tuple(
        _stage(name, each, table, content, people, overrides)
        for each, table in _sets(name, content).items()
    )
    systems = stages[0].systems
    suite = Suite(
        name=name,
        stages=stages,
        seeds=tuple(content.get("seeds", (0,))),
        compare_with=content.get("compare_with", next(iter(systems))),
        curve_at=tuple(content.get("curve_at", ())),
        about=content.get("about", ""),
        published=tuple(content.get("published", ())),
    )
    if suite.compare_with not in systems:
        raise UnknownName("variant in compare_with", suite.compare_with, systems)
    for figure in suite.published:
        check_keys(f"{name}: [[published]]", figure, PUBLISHED)
        if figure.get("variant") not in systems:
            raise UnknownName("variant in [[published]]", str(figure.get("variant")), systems)
    return suite


def _sets(name: str, content: Table) -> dict[str, Table]:
    """The sets with their tables: tables [set.NAME], or one name at the top."""
    wanted = content["set"]
    tables = wanted if isinstance(wanted, dict) else {str(wanted): {}}
    if not tables:
        raise InputError(f"{name}: there is no set. Add a table [set.NAME].")
    common = {"orientations": content["orientations"]} if "orientations" in content else {}
    known = (*CIFAR_SETS, *(each for each in SETS if each not in CIFAR_SETS))
    check_tables(name, tables, "set")
    for each, table in tables.items():
        if each not in known:
            raise UnknownName("set", each, known)
        check_keys(f"{name}: [set.{each}]", table, OF_A_SET)
        if not table.get("orientations", common.get("orientations")):
            raise InputError(
                f"{name}: the key 'orientations' is missing for the set {each!r}. Add it to "
                f"[set.{each}], or at the top of the file."
            )
        check_list(f"{name}: [set.{each}]", "people", table.get("people", []), str)
        named = table.get("orientations", common.get("orientations"))
        check_list(f"{name}: [set.{each}]", "orientations", named, str)
    return {each: {**common, **table} for each, table in tables.items()}


def _person(suite: str, name: str, table: Table) -> Person:
    where = f"{suite}: [person.{name}]"
    kind = str(table.get("kind", "shown"))
    if kind not in PERSON_PARAMETERS:
        raise UnknownName(f"kind of person in {where}", kind, PERSON_PARAMETERS)
    check_keys(where, table, ("kind", "noise", "unsure", *PERSON_PARAMETERS[kind]))
    shares = {key: table.get(key, 0.0) for key in ("noise", "unsure")}
    for key, value in shares.items():
        check_share(where, key, value)
    rest = {key: value for key, value in table.items() if key not in ("kind", *shares)}
    return Person(name, kind, float(shares["noise"]), float(shares["unsure"]), rest)


def _stage(
    suite: str, name: str, table: Table, content: Table, people: Mapping[str, Person], over: Table
) -> Stage:
    """The systems and people on one set."""
    own = {key: value for key, value in table.items() if key not in ("orientations", "people")}
    base = {**content["base"], **own, **over}
    for key in PERSON_KEYS if people else ():
        if any(key in each for each in (base, *content.get("variant", {}).values())):
            raise InputError(
                f"{suite}: {key!r} is set in [base] or in a variant, but the suite has people. "
                "Set it in [person.NAME]."
            )
    wanted = table.get("people", list(people))
    for each in wanted:
        if each not in people:
            raise UnknownName(f"person in [set.{name}]", each, people)
    tables = content.get("variant") or {"base": {}}
    return Stage(
        name,
        tuple(table["orientations"]),
        {each: _settings(suite, each, base, differs) for each, differs in tables.items()},
        tuple(people[each] for each in wanted),
    )


def _settings(suite: str, variant: str, base: Table, differs: Table) -> tuple[Settings, ...]:
    """The settings of a variant, one for each number of questions."""
    where = f"{suite}: [variant.{variant}]"
    merged = {**base, **differs}
    method = str(merged.get("method", Settings.method))
    merged.setdefault("strategy", strategy_of(method))
    known = (*KINDS, *parameter_names(method))
    check_keys(where, differs, known)
    check_keys(f"{suite}: [base] (for the method {method!r})", base, known)
    check_strategy(where, merged)
    budgets = merged.pop("questions", 0)
    protocol = {key: merged.pop(key) for key in KINDS if key in merged}
    parameters = checked_parameters(where, method, merged)
    found = []
    for questions in budgets if isinstance(budgets, list) else [budgets]:
        wanted = {**protocol, "questions": questions}
        for key, value in wanted.items():
            check_value(where, key, value)
        check_encoder(wanted.get("encoder", Settings.encoder))
        wanted = {k: tuple(v) if isinstance(v, list) else v for k, v in wanted.items()}
        found.append(Settings(**wanted, parameters=parameters))
    return tuple(found)
