"""Suites: what a file asks for, and the runs that it means."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from samekind.errors import UnknownName
from samekind.simulation.settings import Settings

HOW = {"device", "verbose", "compile"}
"""Parameters that say how a result is computed, not which: they do not make it another run."""
ALWAYS = ("method", "strategy", "questions")
"""Settings that a digest holds whatever their values; others only where they are not usual."""
WHO = ("person", "noise", "unsure")
NEWER = ("score_at", "refits_from", "encoder", "groups")
"""Settings that the first suites did not have; in the names of their runs they do not occur."""


@dataclass(frozen=True)
class Person:
    """A simulated person of a suite.

    Parameters
    ----------
    kind : how they answer. noise, unsure : shares of wrong answers, and of questions left open.
    parameters : whatever else their kind wants to know.
    """

    name: str
    kind: str = "shown"
    noise: float = 0.0
    unsure: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Person:
        """The one person of settings that say who answers by themselves.

        >>> Person.of(Settings(noise=0.05)).name
        'wrong-5'
        """
        parts = [] if settings.person == "shown" else [settings.person]
        parts += [f"wrong-{100 * settings.noise:g}"] if settings.noise else []
        parts += [f"unsure-{100 * settings.unsure:g}"] if settings.unsure else []
        name = "+".join(parts) or "perfect"
        return cls(name, settings.person, settings.noise, settings.unsure)


@dataclass(frozen=True)
class Run:
    """One run of a suite: a system and a person on a set, with a seed."""

    suite: str
    set: str
    orientation: str
    system: str
    person: Person
    seed: int
    settings: Settings

    @property
    def name(self) -> str:
        """What tells it from all other runs; changed settings make another run.

        Settings that have their usual value are no part of the digest, so a setting that is added
        to the house later leaves the names of earlier runs as they are.
        """
        kept = {
            of.name: getattr(self.settings, of.name)
            for of in fields(Settings)
            if of.name not in (*WHO, "parameters")
            and (of.name in ALWAYS or getattr(self.settings, of.name) != getattr(USUAL, of.name))
        }
        person = {key: value for key, value in asdict(self.person).items() if key != "name"}
        digest = _digest([self.set, kept, self._parameters(), person])
        parts = (self.suite, self.set, self.orientation, self.system, self.person.name)
        return "/".join(map(str, (*parts, self.settings.questions, self.seed, digest)))

    @property
    def first_name(self) -> str | None:
        """What the same run was called by the first runner; None: it had no such run."""
        kept = asdict(self.settings)
        if any(kept.pop(key) != getattr(USUAL, key) for key in NEWER):
            return None
        if self.person != Person.of(self.settings):
            return None
        for key in (*WHO, "strategy_with"):  # these came later and were left out where usual
            if kept[key] == getattr(USUAL, key):
                del kept[key]
        digest = _digest([self.set, {**kept, "parameters": self._parameters()}])
        parts = (self.suite, self.system, self.orientation, self.settings.questions)
        return "/".join(map(str, (*parts, self.seed, digest)))

    def is_in(self, done: Collection[str]) -> bool:
        """Whether one of these names of finished runs is its own."""
        return self.name in done or (self.first_name or "") in done

    def __str__(self) -> str:
        who = f"{self.system}, {self.person.name}, seed {self.seed}"
        return f"{self.set} {self.orientation}, {who}"

    def _parameters(self) -> dict[str, Any]:
        return {
            # Weights to start from are known by their file's name, wherever the file lies.
            key: Path(value).name if key == "start" else value
            for key, value in self.settings.parameters.items()
            if key not in HOW
        }


USUAL = Settings()


@dataclass(frozen=True)
class Stage:
    """A set of a suite: its orientations, who answers there, and the settings of each system.

    Parameters
    ----------
    systems : for each name its settings, one per number of questions.
    people : who answers; empty: the person that each of the settings names.
    """

    set: str
    orientations: tuple[str, ...]
    systems: Mapping[str, tuple[Settings, ...]]
    people: tuple[Person, ...] = ()

    def people_of(self, settings: Settings) -> tuple[Person, ...]:
        """Who answers in runs with these settings."""
        return self.people or (Person.of(settings),)


@dataclass(frozen=True)
class Suite:
    """What a file asks for.

    Parameters
    ----------
    stages : the sets, each with what is run on it.
    compare_with : the system that differences are taken to.
    curve_at : numbers of questions that a report shows.
    published : figures to compare with.
    """

    name: str
    stages: tuple[Stage, ...]
    seeds: tuple[int, ...]
    compare_with: str
    curve_at: tuple[int, ...] = ()
    about: str = ""
    published: tuple[Mapping[str, Any], ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """What is compared."""
        return tuple(dict.fromkeys(name for stage in self.stages for name in stage.systems))

    @property
    def sets(self) -> tuple[str, ...]:
        """What it is compared on."""
        return tuple(stage.set for stage in self.stages)

    @property
    def people(self) -> tuple[str, ...]:
        """Who answers."""
        return tuple(dict.fromkeys(run.person.name for run in self.runs(seeds=[0])))

    def runs(
        self,
        only: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        sets: Sequence[str] = (),
        people: Sequence[str] = (),
    ) -> tuple[Run, ...]:
        """The runs, seed by seed, so that a suite cut short has all systems of the first seeds."""
        _check("system", only, self.systems)
        _check("set", sets, self.sets)
        if people:
            _check("person", people, self.people)
        found = (
            Run(self.name, stage.set, orientation, system, person, seed, settings)
            for seed in (self.seeds if seeds is None else seeds)
            for stage in self.stages
            if not sets or stage.set in sets
            for orientation in stage.orientations
            for system, each in stage.systems.items()
            if not only or system in only
            for settings in each
            for person in stage.people_of(settings)
        )
        return tuple(run for run in found if not people or run.person.name in people)


def _check(what: str, wanted: Sequence[str], known: Iterable[str]) -> None:
    for name in wanted:
        if name not in known:
            raise UnknownName(f"{what} of the suite", name, known)


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
