"""The tables and the figure of IDC in one process: many trainings from one start.

    python recipes/idc.py --grid all --set cifar20 --data FOLDER --start FILE --json idc.json

Table 3 chooses the items in four ways, Table 4 leaves losses out, Figure 4 varies the number M of
questions and the number T of groups that a question offers. The features are read once, the
questions of a strategy are asked once, and every training begins from the features again, so a
curve over M is one list of questions of which the first M are answered. The file is written after
each training; a command that is repeated with the same file goes on with what is missing. In small
and without a GPU, with the vectors that come with the package: ``--vectors cifar20-frozen``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from arguments import over, person, run_facts
from numpy.typing import NDArray

from samekind.clusterers.deep.idc import IDC
from samekind.constraints import Constraints
from samekind.evaluation import score
from samekind.items import Collection
from samekind.questions import Answer
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.rows import SCHEMA, person_name
from samekind.training.backbone_file import backbone_facts

ALL = ("pos", "neg", "reg")
LOSSES = (("pos",), ("neg",), ("reg",), ("pos", "neg"), ("pos", "reg"), ("neg", "reg"), ALL)
"""The lines of Table 4."""
SELECTIONS = ("value-hard", "value-hard-rep", "value", "value-random")
"""The lines of Table 3, and items drawn at random."""
OFFERED = 5
"""T of the tables."""
SCORES = ("acc", "nmi", "ari")
FACTS = ("method", "backbone", "stem", "channels", "size", "groups", "epochs")
"""Of the start, as far as its file says so."""
SUITE = "idc-grid"
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Line:
    """One line of a table or curve: how items are chosen and shown, and what is learnt by."""

    strategy: str = "value"
    offered: int = OFFERED
    losses: tuple[str, ...] = ALL

    @property
    def name(self) -> str:
        """As in the name of its run."""
        return f"{self.strategy}, {self.offered} offered, {'+'.join(self.losses)}"


def lines_of(grid: str, step: int) -> dict[Line, tuple[int, ...]]:
    """The lines of a grid, each with the numbers of questions at which it is scored.

    `step` is the unit of M: 100 as published, where the tables have five of them.
    """
    usual = (0, 5 * step)
    points: dict[Line, set[int]] = {}

    def want(line: Line, at: Sequence[int] = usual) -> None:
        points.setdefault(line, set()).update(at)

    if grid == "table2":
        want(Line())
    if grid in ("table3", "all"):
        for strategy in SELECTIONS:
            want(Line(strategy))
    if grid in ("figure4", "all"):
        want(Line(), [step * k for k in range(8)])
        for offered in range(1, 8):
            want(Line(offered=offered))
    if grid in ("table4", "all"):
        for losses in LOSSES:
            want(Line(losses=losses))
    return {line: tuple(sorted(at)) for line, at in points.items()}


class Begun:
    """The groups before any answer, for sessions that differ in what they ask.

    A session makes a copy of its clusterer and fits it; this one was fitted before.
    """

    def __init__(self, model: IDC) -> None:
        self.found = (model.labels_.copy(), model.space_, model.membership_)

    def __sklearn_clone__(self) -> Begun:
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """There is nothing to choose."""
        return {}

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Begun:
        """Nothing is learnt."""
        self.labels_, self.space_, self.membership_ = self.found
        return self


class Grid:
    """All runs of one command on one set, from one start.

    Parameters
    ----------
    wanted : the command line. settings : parameters of IDC that were told.
    images : pictures, or vectors.
    """

    def __init__(
        self,
        wanted: argparse.Namespace,
        settings: Mapping[str, Any],
        images: NDArray[Any],
        collection: Collection,
        truth: Ints,
    ) -> None:
        self.wanted, self.settings = wanted, dict(settings)
        self.images, self.collection, self.truth = images, collection, truth
        self.began = time.monotonic()
        self.lines = lines_of(wanted.grid, wanted.step)
        path = wanted.json and Path(wanted.json)
        self.rows: dict[str, dict[str, Any]] = {}
        if path and path.exists():
            self.rows = {row["run"]: row for row in json.loads(path.read_text())}

    @property
    def name(self) -> str:
        """The name of the set."""
        return str(self.wanted.vectors or self.wanted.set)

    def execute(self) -> None:
        """Train and score everything that is missing, while there is time."""
        for seed in self.wanted.seeds:
            model: IDC | None = None
            for who in self.wanted.people:
                for line, profile, at in self._missing(who, seed):
                    if over(self.began, self.wanted.limit):
                        print("The time is over; repeat the command to go on.", flush=True)
                        return
                    if model is None:
                        model = IDC(random_state=seed, **self.settings).fit(self.images)
                        begun = Begun(model)
                        asked: dict[Any, Sequence[Answer]] = {}
                    key = (who, line.strategy, line.offered)
                    if key not in asked:
                        asked[key] = self._answers(begun, line, who, seed)
                    self._point(model, begun, line, profile, who, seed, asked[key][:at], at)

    def _missing(self, who: str, seed: int) -> Iterator[tuple[Line, str, int]]:
        """Trainings that the file does not have yet, the most important first."""
        ordered = sorted(self.lines, key=lambda line: line != Line())
        for profile in self.wanted.profiles:
            for line in ordered:
                row = self.rows.get(self._run(line, profile, who, seed), {"curve": ()})
                there = {point["planned"] for point in row["curve"]}
                for at in sorted(self.lines[line], key=lambda m: (m != 5 * self.wanted.step, m)):
                    if at not in there:
                        yield line, profile, at

    def _answers(self, begun: Begun, line: Line, who: str, seed: int) -> Sequence[Answer]:
        """The answers to questions chosen at once; the first M are those to M questions."""
        asking = (line.strategy, line.offered)
        counts = [at for one, at in self.lines.items() if (one.strategy, one.offered) == asking]
        most = max(map(max, counts))
        strategy = find("strategy", line.strategy)(shown=line.offered)
        session = Session(
            self.collection, self.images, clusterer=cast(Any, begun), strategy=strategy, seed=seed,
            refit_every=most + 1, ahead=most, budget=most,
        )  # fmt: skip
        chosen = argparse.Namespace(**{**vars(self.wanted), "person": who, "seed": seed})
        run(session, person(chosen, self.truth, begun.found[0]), most)
        return session.answers

    def _point(
        self, model: IDC, begun: Begun, line: Line, profile: str, who: str, seed: int,
        answers: Sequence[Answer], at: int,
    ) -> None:  # fmt: skip
        """Train on some answers, score, and keep the row."""
        started = time.monotonic()
        known = Constraints.from_answers(len(self.truth), answers)
        model.set_params(profile=profile, losses=line.losses)
        labels, alone = begun.found[0], begun.found[0]
        if answers:
            model.fit(self.images, constraints=known)
            labels, alone = model.labels_, model.predicted_labels_
        rest = np.setdiff1d(np.arange(len(self.truth)), known.touched)
        point: dict[str, Any] = {"questions": len(answers), "planned": at}
        for name, some, groups in (
            ("", slice(None), labels), ("network_", slice(None), alone), ("unasked_", rest, labels),
        ):  # fmt: skip
            found = score(self.truth[some], groups[some])
            point |= {name + metric: found[metric] for metric in SCORES}
        point["seconds"] = round(time.monotonic() - started, 1)
        self._keep(model, line, profile, who, seed, answers, point)

    def _keep(
        self, model: IDC, line: Line, profile: str, who: str, seed: int,
        answers: Sequence[Answer], point: dict[str, Any],
    ) -> None:  # fmt: skip
        """Add a point to its row, print it and write the file."""
        name, wanted = self._run(line, profile, who, seed), self.wanted
        row = self.rows.get(name) or self._new_row(model, line, profile, who, seed)
        row["curve"] = sorted([*row["curve"], point], key=lambda p: p["planned"])
        row["questions"] = row["budget"] = row["curve"][-1]["questions"]
        row["seconds"] = round(sum(p["seconds"] for p in row["curve"]), 1)
        if point["planned"] == 5 * wanted.step:
            choices = [answer.choice for answer in answers]
            row["choices"] = {choice: choices.count(choice) for choice in sorted(set(choices))}
        self.rows[name] = row
        shown = ("questions", "acc", "network_acc", "network_nmi", "network_ari", "seconds")
        print(name, {key: round(point[key], 4) for key in shown}, flush=True)
        if wanted.json:
            written = Path(wanted.json).with_suffix(".part")
            written.write_text(json.dumps(list(self.rows.values()), indent=1, default=str))
            written.replace(wanted.json)

    def _new_row(self, model: IDC, line: Line, profile: str, who: str, seed: int) -> dict[str, Any]:
        """The row of a run before its first point, in the format of ``samekind bench``."""
        wanted, facts = self.wanted, backbone_facts(self.wanted.start)
        about = run_facts(wanted)
        given = {key: value for key, value in self.settings.items() if key != "monitor"}
        given |= {"profile": profile, "losses": list(line.losses)}
        if wanted.start:
            given["start"] = Path(wanted.start).name
        network = {key: facts[key] for key in FACTS if key in facts}
        start = str(facts.get("method") or ("features" if wanted.start else "simclr"))
        return {
            "schema": SCHEMA, "run": self._run(line, profile, who, seed), "suite": SUITE,
            "set": self.name, "orientation": wanted.orientation, "items": len(self.truth),
            "system": line.name, "learner": model.learner_name, "method": "idc",
            "strategy": line.strategy, "strategy_with": {"shown": line.offered},
            "parameters": given, "groups_given": given["n_clusters"],
            "person": person_name(who, wanted.noise, wanted.unsure), "noise": wanted.noise,
            "unsure": wanted.unsure, "seed": seed, "curve": [], "complete": True,
            "protocol": {"start": start, "features": network, "offered": line.offered},
            **{key: about[key] for key in ("command", "commit", "when", "machine", "versions")},
        }  # fmt: skip

    def _run(self, line: Line, profile: str, who: str, seed: int) -> str:
        wanted = self.wanted
        start = Path(wanted.start).stem if wanted.start else "simclr"  # also of frozen vectors
        whom = person_name(who, wanted.noise, wanted.unsure)
        return "/".join([SUITE, self.name, start, profile, whom, line.name, str(seed)])
