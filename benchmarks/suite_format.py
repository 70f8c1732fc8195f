"""Suites: what a TOML file asks for, checked, and the runs that it means."""

from __future__ import annotations

import hashlib
import inspect
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from samekind.errors import InputError, SourceError, UnknownName
from samekind.registry import find
from samekind.sources.cifar import CIFAR_SETS

HERE = Path(__file__).parent / "suites"
SETS = (*CIFAR_SETS, "tiles", "digits")
PERSONS = ("shown", "matched")
TOP = ("about", "set", "orientations", "seeds", "compare_with", "curve_at")
TABLES = ("base", "variant", "published")
PUBLISHED = ("variant", "orientation", "source", "note", "difference")
METRICS = ("acc", "nmi", "ari", "fm")
"""Scores of a curve, in the order of tables; ``fm`` (Fowlkes-Mallows) is PCL's F."""
NOT_IN_A_FILE = {"random_state", "watch", "objective", "checkpoint"}
"""Constructor parameters that the runner sets, or that cannot be written down."""
LATER: dict[str, Any] = {"strategy_with": {}, "person": "shown", "noise": 0.0, "unsure": 0.0}
"""Keys that were added after the first rows were kept, and what they were before."""
HOW = {"device", "verbose", "compile"}
"""Parameters that say how a result is computed, not which: they do not make it another run."""


@dataclass(frozen=True)
class Settings:
    """One way to run: the protocol, and the parameters of the method's constructor.

    Parameters
    ----------
    method, strategy : names of ``samekind list``, or package.module:Class.
    questions : the budget.
    questions_per_refit : answers between two refits; refit_at : numbers of answers instead.
    first_refits : refits before the first question. refits : go on after the last question until
        there have been so many in all.
    score_every : refits between two scores; the first and the last state are always scored.
    held_out : keep the test part apart (PCL); false trains on and scores all of it (OCC).
    items : only the first so many items to train on; 0: all.
    without : parts of the loss that are left out.
    strategy_with : parameters of the strategy, such as how many groups a question shows.
    person : ``shown`` answers from the items shown, ``matched`` from all labels, as published for
        IDC. noise, unsure : shares of wrong answers, and of questions left open.
    parameters : of the method's constructor.
    """

    method: str = "pcl"
    strategy: str = "pcl"
    questions: int = 0
    questions_per_refit: int = 0
    refit_at: tuple[int, ...] = ()
    first_refits: int = 0
    refits: int = 0
    score_every: int = 1
    held_out: bool = True
    items: int = 0
    without: tuple[str, ...] = ()
    strategy_with: Mapping[str, Any] = field(default_factory=dict)
    person: str = "shown"
    noise: float = 0.0
    unsure: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Numbers of answers after which the method learns again; the last is the budget."""
        step = self.questions_per_refit or max(1, self.questions)
        at = self.refit_at or range(step, self.questions, step)
        return (
            *(n for n in at if n < self.questions),
            *([self.questions] if self.questions else []),
        )


KINDS: dict[str, type] = {
    name: {
        "tuple[int, ...]": list,
        "tuple[str, ...]": list,
        "Mapping[str, Any]": dict,
        "str": str,
        "int": int,
        "float": float,
        "bool": bool,
    }[str(of.type)]
    for name, of in Settings.__dataclass_fields__.items()
    if name != "parameters"
}
"""Keys of [base] and of variants that are not parameters of the method, and what they hold."""


@dataclass(frozen=True)
class Run:
    """One run of a suite."""

    suite: str
    set: str
    variant: str
    orientation: str
    seed: int
    settings: Settings

    @property
    def name(self) -> str:
        """What tells it from all other runs; changed settings make another run."""
        kept = asdict(self.settings)
        for key, value in LATER.items():  # rows from before there was such a key keep their name
            if kept[key] == value:
                del kept[key]
        kept["parameters"] = {
            # Weights to start from are known by their file's name, wherever the file lies.
            key: Path(value).name if key == "start" else value
            for key, value in self.settings.parameters.items()
            if key not in HOW
        }
        text = json.dumps([self.set, kept], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        parts = (self.suite, self.variant, self.orientation, self.settings.questions)
        return "/".join(map(str, (*parts, self.seed, digest)))


@dataclass(frozen=True)
class Suite:
    """What a file asks for.

    Parameters
    ----------
    variants : for each name its settings, one per number of questions.
    compare_with : the variant that differences are taken to.
    curve_at : numbers of questions that the report shows.
    published : figures to compare with.
    """

    name: str
    set: str
    orientations: tuple[str, ...]
    seeds: tuple[int, ...]
    variants: Mapping[str, tuple[Settings, ...]]
    compare_with: str
    curve_at: tuple[int, ...] = ()
    about: str = ""
    published: tuple[Mapping[str, Any], ...] = ()

    def runs(self, only: Sequence[str] = (), seeds: Sequence[int] | None = None) -> tuple[Run, ...]:
        """The runs, seed by seed, so that a suite cut short has all variants of the first seeds."""
        for name in only:
            if name not in self.variants:
                raise UnknownName("variant", name, self.variants)
        return tuple(
            Run(self.name, self.set, variant, orientation, seed, settings)
            for seed in (self.seeds if seeds is None else seeds)
            for orientation in self.orientations
            for variant, each in self.variants.items()
            if not only or variant in only
            for settings in each
        )


def open_suite(file: str | Path, overrides: Mapping[str, Any] | None = None) -> Suite:
    """Read a suite from its file, or by name from the folder ``suites``.

    Parameters
    ----------
    overrides : keys of [base] that are replaced.
    """
    path = Path(file)
    if not path.exists() and (HERE / f"{file}.toml").exists():
        path = HERE / f"{file}.toml"
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as problem:
        known = ", ".join(sorted(p.stem for p in HERE.glob("*.toml")))
        raise SourceError(
            f"There is no suite {str(file)!r}. Give a file, or one of: {known}."
        ) from problem
    except tomllib.TOMLDecodeError as problem:
        raise SourceError(f"{path.name} is not TOML: {problem}. Mend that place.") from problem
    return parsed(path.stem, content, overrides or {})


def parsed(name: str, content: Mapping[str, Any], overrides: Mapping[str, Any]) -> Suite:
    """A suite from the content of its file."""
    _check_keys(f"{name}: the top of the file", content, (*TOP, *TABLES))
    for key in ("set", "orientations", "base"):
        if key not in content:
            raise InputError(f"{name}: the key {key!r} is missing. Add it at the top of the file.")
    if content["set"] not in SETS:
        raise UnknownName("set", str(content["set"]), SETS)
    base = {**content["base"], **overrides}
    tables = content.get("variant") or {"base": {}}
    variants = {each: _settings(name, each, base, differs) for each, differs in tables.items()}
    suite = Suite(
        name=name,
        set=content["set"],
        orientations=tuple(content["orientations"]),
        seeds=tuple(content.get("seeds", (0,))),
        variants=variants,
        compare_with=content.get("compare_with", next(iter(variants))),
        curve_at=tuple(content.get("curve_at", ())),
        about=content.get("about", ""),
        published=tuple(content.get("published", ())),
    )
    if suite.compare_with not in variants:
        raise UnknownName("variant in compare_with", suite.compare_with, variants)
    for figure in suite.published:
        _check_keys(f"{name}: [[published]]", figure, (*PUBLISHED, *METRICS))
        if figure.get("variant") not in variants:
            raise UnknownName("variant in [[published]]", str(figure.get("variant")), variants)
    return suite


def parameters_of(method: str) -> tuple[str, ...]:
    """The constructor parameters of a method that a file may set."""
    names = inspect.signature(find("method", method)).parameters
    return tuple(name for name in names if name not in NOT_IN_A_FILE)


def _settings(
    suite: str, variant: str, base: Mapping[str, Any], differs: Mapping[str, Any]
) -> tuple[Settings, ...]:
    """The settings of a variant, one for each number of questions."""
    merged = {**base, **differs}
    method = str(merged.get("method", Settings.method))
    known = (*KINDS, *parameters_of(method))
    _check_keys(f"{suite}: [variant.{variant}]", differs, known)
    _check_keys(f"{suite}: [base] (for the method {method!r})", base, known)
    _check_strategy(f"{suite}: [variant.{variant}]", merged)
    budgets = merged.pop("questions", 0)
    protocol = {key: merged.pop(key) for key in KINDS if key in merged}
    parameters = {key: tuple(v) if isinstance(v, list) else v for key, v in merged.items()}
    found = []
    for questions in budgets if isinstance(budgets, list) else [budgets]:
        wanted = {**protocol, "questions": questions}
        for key, value in wanted.items():
            _check_kind(f"{suite}: [variant.{variant}]", key, value)
        wanted = {k: tuple(v) if isinstance(v, list) else v for k, v in wanted.items()}
        found.append(Settings(**wanted, parameters=parameters))
    return tuple(found)


def _check_strategy(where: str, merged: Mapping[str, Any]) -> None:
    """Whether there is such a strategy, it takes these parameters, and there is such a person."""
    strategy = find("strategy", str(merged.get("strategy", Settings.strategy)))
    given = merged.get("strategy_with", {})
    _check_kind(where, "strategy_with", given)
    _check_keys(f"{where}: strategy_with", given, inspect.signature(strategy).parameters)
    if given:
        strategy(**given)  # says by itself what it cannot take
    person = merged.get("person", Settings.person)
    if person not in PERSONS:
        raise UnknownName("person", str(person), PERSONS)


def _check_keys(where: str, table: Mapping[str, Any], allowed: Iterable[str]) -> None:
    names = list(allowed)
    for key in table:
        if key not in names:
            close = get_close_matches(key, names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"{where} has the key {key!r}, which means nothing here.{hint} "
                f"Allowed: {', '.join(sorted(names))}."
            )


def _check_kind(where: str, key: str, value: Any) -> None:
    kind = KINDS[key]
    right = isinstance(value, (int, float) if kind is float else kind)
    right = right and (kind is bool or not isinstance(value, bool))
    if not right or (kind in (int, float) and value < 0) or (key == "score_every" and value < 1):
        wanted = {int: "a whole number, not negative", bool: "true or false", str: "a text"}
        wanted |= {float: "a number, not negative", dict: "a table like { shown = 3 }"}
        raise InputError(
            f"{where}: {key} = {value!r} cannot be used. Give {wanted.get(kind, 'a list')}."
        )
