"""Suites: sets, systems and simulated people, and the runs that they make together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samekind.errors import InputError, UnknownName
from samekind.simulation.people import PARAMETERS
from samekind.simulation.rows import person_name
from samekind.simulation.settings import Settings

NOT_IN_DIGEST = {"device", "verbose", "compile"}
"""Parameters that change how a result is computed but not the result: they name no new run."""
ALWAYS_IN_DIGEST = ("method", "strategy", "questions")
"""Settings that a digest always holds; others only where they differ from the default."""
PERSON_KEYS = ("person", "noise", "unsure")
DEFAULTS = Settings()


PERSON_PARAMETERS: dict[str, tuple[str, ...]] = {
    **PARAMETERS,
    "drifting": (*PARAMETERS["drifting"], "second"),
    "two": (*PARAMETERS["two"], "second"),
    "replay": (*PARAMETERS["replay"], "record", "session"),
}
"""Parameters of each kind of person: `second` names a label column, `record` a ledger or a file of
answers, `session` a session of that ledger."""


@dataclass(frozen=True)
class Person:
    """A simulated person of a suite, by names: labels and answers are looked up when it runs.

    Parameters
    ----------
    kind : one of :data:`samekind.simulation.people.PERSONS`.
    noise, unsure : shares of wrong answers, and of questions answered "unsure".
    parameters : other parameters of the kind, see :data:`PERSON_PARAMETERS`.
    """

    name: str
    kind: str = "shown"
    noise: float = 0.0
    unsure: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise an error if there is no such person, or not with these parameters."""
        if self.kind not in PERSON_PARAMETERS:
            raise UnknownName("person", self.kind, PERSON_PARAMETERS)
        if "second" in self.parameters and "second" not in PERSON_PARAMETERS[self.kind]:
            raise InputError(
                f"The person {self.kind!r} has one orientation, got a second one: "
                f"{self.parameters['second']!r}. Use 'drifting' or 'two'."
            )
        for name in self.parameters:
            known = (*PERSON_PARAMETERS[self.kind], "noise", "unsure")
            if name not in known:
                raise UnknownName(f"parameter of the person {self.kind!r}:", name, known)
        for what, share in (("noise", self.noise), ("share of unsure", self.unsure)):
            if not 0 <= share <= 1:
                raise InputError(f"Expected a {what} from 0 to 1, got {share:g}.")
        if self.kind == "replay" and self.parameters.get("record") is None:
            raise InputError(
                "The person 'replay' needs a recorded session. Give a ledger or a .jsonl file."
            )

    @classmethod
    def of(cls, settings: Settings) -> Person:
        """The person that these settings describe.

        >>> Person.of(Settings(noise=0.05)).name
        'wrong-5'
        """
        name = person_name(settings.person, settings.noise, settings.unsure)
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
        """The unique name of the run; changed settings make another name.

        Settings with their default value are not part of the digest, so a setting that is added to
        the package later does not change the names of earlier runs.
        """
        kept = {
            key: value
            for key, value in vars(self.settings).items()
            if key not in (*PERSON_KEYS, "parameters")
            and (key in ALWAYS_IN_DIGEST or value != getattr(DEFAULTS, key))
        }
        person = {key: value for key, value in asdict(self.person).items() if key != "name"}
        digest = _digest([self.set, kept, self._parameters(), person])
        parts = (self.suite, self.set, self.orientation, self.system, self.person.name)
        return "/".join(map(str, (*parts, self.settings.questions, self.seed, digest)))

    def __str__(self) -> str:
        who = f"{self.system}, {self.person.name}, seed {self.seed}"
        return f"{self.set} {self.orientation}, {who}"

    def _parameters(self) -> dict[str, Any]:
        return {
            # Weights to start from are identified by file name, wherever the file is.
            key: Path(value).name if key == "start" else value
            for key, value in self.settings.parameters.items()
            if key not in NOT_IN_DIGEST
        }


@dataclass(frozen=True)
class Stage:
    """A set of a suite: its orientations, its people, and the settings of each system.

    Parameters
    ----------
    systems : settings by name of the system, one per number of questions.
    people : who answers; empty: the person that each of the settings describes.
    """

    set: str
    orientations: tuple[str, ...]
    systems: Mapping[str, tuple[Settings, ...]]
    people: tuple[Person, ...] = ()

    def people_of(self, settings: Settings) -> tuple[Person, ...]:
        """The people in runs with these settings."""
        return self.people or (Person.of(settings),)


@dataclass(frozen=True)
class Suite:
    """All runs of a benchmark.

    Parameters
    ----------
    stages : the sets, each with what is run on it.
    compare_with : the system that others are compared with.
    curve_at : numbers of questions that a report shows.
    published : published figures to compare with.
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
        """Names of the systems."""
        return tuple(dict.fromkeys(name for stage in self.stages for name in stage.systems))

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets."""
        return tuple(stage.set for stage in self.stages)

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people."""
        return tuple(dict.fromkeys(run.person.name for run in self.runs(seeds=[0])))

    def runs(
        self,
        only: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        sets: Sequence[str] = (),
        people: Sequence[str] = (),
    ) -> tuple[Run, ...]:
        """The runs, seed by seed, so that a suite cut short has all systems of the first seeds.

        Parameters
        ----------
        only, sets, people : names of systems, sets and people to keep; empty: all.
        """
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
