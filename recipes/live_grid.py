"""The live learner on learnt features, at several budgets, with careful and careless people.

One run asks up to the largest budget and is scored at each of them, as a person would answer: one
question after the other, with more and more answers between two refits. Its answers at each budget
can be kept in a file, so that a network learns from the same ones, here or on another machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.session import Session
from samekind.simulation.datasets import Dataset, open_dataset
from samekind.simulation.provenance import command_line, commit, provenance
from samekind.simulation.rows import append_row, finished, read_rows
from samekind.simulation.runner import Runner
from samekind.simulation.settings import Settings
from samekind.simulation.suite import Person, Run
from samekind.sources import LabelledSet, open_cifar, vectors_collection

SUITE = "features"
BUDGETS = (100, 200, 300, 500)
NOISES = (0.0, 0.05)
"""Shares of wrong answers."""
REFITS: Mapping[str, Any] = {
    "questions_per_refit": 5, "refits_from": {"50": 10, "200": 25},
}  # fmt: skip
"""Answers between refits, as in the suite ``live``."""
Floats = NDArray[np.float32]
Links = list[list[Any]]


def grid_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs to make, and where to keep them."""
    add = parser.add_argument
    add("--budgets", type=int, nargs="+", default=None, help="numbers of questions")
    add("--noises", type=float, nargs="+", default=None, help="shares of wrong answers")
    add("--seeds", type=int, nargs="+", default=None)
    add("--limit", type=float, default=None, help="seconds after which no run begins")
    add("--rows", type=Path, default=None, help="rows are appended to this file, each run once")
    add("--answers", type=Path, default=None, help="file of answers: read, and added to")


def open_features(wanted: argparse.Namespace) -> Dataset:
    """The vectors that questions are about, and the kinds of their items.

    ``--vectors`` is a set of vectors that comes with the package, taken as it is, or a file (.npz)
    of ``recipes/learn.py --vectors``: ``q`` times ``scale``, or ``X``, brought to length 1. Its
    kinds are its own ``label``, else those of ``--set``. Without it, features of the pictures of
    ``--set`` by the network ``--start``.
    """
    if not wanted.vectors and not wanted.start:
        raise InputError("Expected features to ask about, got none. Give --vectors or --start.")
    if not wanted.vectors:
        images, _, labels = open_cifar(wanted.set, wanted.data).whole(wanted.orientation)
        return dataset_of(wanted, network_features(wanted.start, images[: wanted.items]), labels)
    if not Path(wanted.vectors).exists():
        return open_dataset(wanted.vectors, wanted.data, False, "none", wanted.items or 0)
    with np.load(wanted.vectors, allow_pickle=False) as kept:
        X = kept["X"] if "X" in kept else kept["q"] * kept["scale"].astype(np.float32)
        labels = kept["label"].astype(np.intp) if "label" in kept else None
    if labels is None:
        labels = open_cifar(wanted.set, wanted.data).whole(wanted.orientation)[2]
    if len(X) != len(labels):
        raise InputError(
            f"Expected as many vectors as {wanted.set} has items, {len(labels)}, got {len(X)}. "
            "Name the set that the features were learnt from."
        )
    return dataset_of(wanted, X[: wanted.items], labels)


def network_features(start: str, images: NDArray[np.uint8]) -> Floats:
    """Features of pictures by a network of ``recipes/learn.py --out``."""
    from samekind.training.selflearn import LearntNetwork

    return LearntNetwork.load(start).features(images)


def dataset_of(wanted: argparse.Namespace, X: NDArray[Any], labels: NDArray[np.intp]) -> Dataset:
    """Vectors at length 1 as a set with one orientation."""
    X = X.astype(np.float32)
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    collection = vectors_collection(wanted.set, unit, features_name(wanted))
    labelled = LabelledSet(wanted.set, collection, {wanted.orientation: labels[: len(X)]})
    return Dataset(labelled, unit, None, features_name(wanted), "vectors of length 1")


def features_name(wanted: argparse.Namespace) -> str:
    """The file of the features, without its folder and ending: of both its forms the same."""
    return Path(getattr(wanted, "vectors", None) or wanted.start).stem


class LiveGrid:
    """The runs of one command.

    Parameters
    ----------
    wanted : the command line: set, orientation, person, unsure, commit and the grid.
    n_items, name : of what is asked about. opened : the same with its vectors, if there is
        something left to ask.
    """

    def __init__(
        self, wanted: argparse.Namespace, n_items: int, name: str, opened: Callable[[], Dataset]
    ) -> None:
        self.wanted, self.n_items, self.set, self._opened = wanted, n_items, name, opened
        self.budgets = tuple(sorted(wanted.budgets or BUDGETS))
        self.noises = tuple(NOISES if wanted.noises is None else wanted.noises)
        self.seeds = tuple((0, 1, 2) if wanted.seeds is None else wanted.seeds)
        self.features = features_name(wanted)
        self.answers: dict[str, Links] = {}
        if wanted.answers and wanted.answers.exists():
            self.answers = json.loads(wanted.answers.read_text())
        if "links" in self.answers:
            raise InputError(
                f"Expected answers of several runs in {wanted.answers.name}, got an earlier form "
                "that holds one. Name another file."
            )

    @cached_property
    def dataset(self) -> Dataset:
        """What is asked about."""
        return self._opened()

    def runs(self) -> Iterator[tuple[float, int]]:
        """Share of wrong answers and seed of each run, all shares of a seed before the next."""
        for seed in self.seeds:
            for noise in self.noises:
                yield noise, seed

    def run_of(self, noise: float, seed: int, settings: Settings) -> Run:
        """A run by its names."""
        who = self.person(noise)
        return Run(SUITE, self.set, self.wanted.orientation, settings.method, who, seed, settings)

    def live_run(self, noise: float, seed: int) -> Run:
        """The run of the live learner up to the largest budget."""
        most = self.budgets[-1]
        settings = Settings(
            "live", "live", most, score_at=self.budgets, groups="unknown", held_out=False, **REFITS
        )
        return self.run_of(noise, seed, settings)

    def person(self, noise: float) -> Person:
        """Who answers."""
        wanted = self.wanted
        return Person.of(Settings(person=wanted.person, noise=noise, unsure=wanted.unsure))

    def ask(self, noise: float, seed: int) -> dict[str, Any]:
        """Ask the questions of one run, keep its answers, and return its row."""
        run = self.live_run(noise, seed)

        def keep(session: Session, told: int) -> None:
            self.answers[self.key(noise, seed, told)] = links_of(session.constraints)

        runner = Runner(run, self.dataset, on_record=keep)
        runner.execute()
        if self.wanted.answers:
            written = self.wanted.answers.with_suffix(".part")
            written.write_text(json.dumps(self.answers))
            written.replace(self.wanted.answers)
        row = {**runner.row(), "run": self.name(run), "complete": True}
        return {**row, "protocol": runner.protocol()}

    def known(self, noise: float, seed: int, questions: int) -> Constraints | None:
        """The answers of a run at a budget, if they were kept."""
        links = self.answers.get(self.key(noise, seed, questions))
        if links is None:
            return None
        rows = zip(*links[:2], map(bool, links[2]), strict=True)
        return Constraints.from_links(self.n_items, rows)

    def key(self, noise: float, seed: int, questions: int) -> str:
        """The place of the answers of a run in the file."""
        where = (self.features, self.set, self.wanted.orientation, self.person(noise).name)
        return "/".join([*where, str(seed), str(questions)])

    def name(self, run: Run) -> str:
        """The name of a run on these features."""
        return f"{run.name}/{self.features}"

    def done(self) -> set[str]:
        """The runs that the file of rows has already."""
        path = self.wanted.rows
        return finished(read_rows(path).rows) if path and path.exists() else set()

    def write(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Print the points of a row, and append it with its provenance, if a file was named."""
        for point in row["curve"]:
            shown = {k: round(point[k], 4) for k in ("acc", "nmi", "ari") if k in point}
            about = {"learner": row["learner"], "noise": row["noise"], "seed": row["seed"]}
            print({**about, "questions": point["questions"], **shown}, flush=True)
        command = command_line(f"python recipes/{Path(sys.argv[0]).name}", sys.argv[1:])
        whole = {**row, **provenance(command, self.wanted.commit or commit())}
        if self.wanted.rows:
            append_row(self.wanted.rows, whole)
        return whole


def links_of(known: Constraints) -> Links:
    """All that a learner is told: pairs, and whether they are the same."""
    links = known.links()
    return [links.a.tolist(), links.b.tolist(), links.same.astype(int).tolist()]
