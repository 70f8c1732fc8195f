"""Polish on one page: the live learner asks, and a deep network learns from the same answers.

    python recipes/polish.py --set cifar10 --data FOLDER --start features.safetensors
    python recipes/polish.py --set cifar10 --data FOLDER --start features.safetensors \
        --budgets 100 200 300 500 --noises 0 .05 --seeds 0 1 2 --rows polish.jsonl

500 questions are asked by the live learner, in turns, on features that were learnt without labels
(``recipes/learn.py``); nobody tells it the number of groups. Its groups are scored, then a network
is trained once on all answers, and its groups are scored too. Training and test pictures are one
pile, as in IDC. The second command does it for several budgets, shares of wrong answers and seeds;
a network is trained for each of them. The answers are kept in a file (``--answers``), so that
several methods, or another machine, can learn from the same ones: ``recipes/live.py`` asks for them
without pictures. A command that is repeated with the same ``--rows`` goes on with what is missing.
"""

from __future__ import annotations

import argparse
import inspect
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from arguments import idc_arguments, idc_settings, over, write
from live_grid import LiveGrid, dataset_of, network_features
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.evaluation import score
from samekind.registry import find
from samekind.simulation.rows import SCHEMA
from samekind.simulation.settings import Settings
from samekind.sources import open_cifar

SCORES = ("acc", "nmi", "ari")
NOT_RESULTS = ("monitor", "verbose", "random_state", "checkpoint")
"""Settings that a row does not keep."""


def main() -> None:
    wanted = idc_arguments(__doc__ or "", polish=True)
    wanted.budgets = wanted.budgets or [wanted.questions]
    wanted.noises = [wanted.noise] if wanted.noises is None else wanted.noises
    wanted.seeds = [wanted.seed] if wanted.seeds is None else wanted.seeds
    pile = open_cifar(wanted.set, wanted.data)
    images, _, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    Polishing(wanted, images, truth).execute()


class Polishing:
    """All trainings of one command."""

    def __init__(
        self, wanted: argparse.Namespace, images: NDArray[np.uint8], truth: NDArray[np.intp]
    ) -> None:
        self.wanted, self.images, self.truth = wanted, images, truth
        self.began = time.monotonic()
        self.curve: list[dict[str, Any]] = []
        self.grid = LiveGrid(
            wanted, len(images), wanted.set,
            lambda: dataset_of(wanted, network_features(wanted.start, images), truth),
        )  # fmt: skip

    def execute(self) -> None:
        """Ask where answers are missing, and train on those at each budget."""
        grid, done = self.grid, self.grid.done()
        for noise, seed in grid.runs():
            if any(grid.known(noise, seed, at) is None for at in grid.budgets):
                row = grid.write(grid.ask(noise, seed))
                self.curve += [self._about(row, point) for point in row["curve"]]
            for budget in grid.budgets:
                known = grid.known(noise, seed, budget)
                if known is None:
                    print(f"There were fewer than {budget} questions.", flush=True)
                    continue
                settings = self._settings(seed)
                name = grid.name(grid.run_of(noise, seed, self._plan(settings, budget)))
                if name in done:
                    continue
                if over(self.began, self.wanted.limit):
                    print("The time is over; repeat the command to go on.", flush=True)
                    return
                row = self._trained(noise, seed, budget, known, settings)
                self.curve.append(self._about(row, row["curve"][0]))
                if self.wanted.json:
                    write(self.wanted, self.wanted.method, self.curve)

    def _settings(self, seed: int) -> dict[str, Any]:
        method = find("method", self.wanted.method)
        told = argparse.Namespace(**{**vars(self.wanted), "seed": seed})
        return idc_settings(told, list(inspect.signature(method).parameters))

    def _plan(self, settings: Mapping[str, Any], budget: int) -> Settings:
        """The settings of a training as a suite would have them."""
        kept = {name: value for name, value in settings.items() if name not in NOT_RESULTS}
        if "start" in kept:
            kept["start"] = Path(kept["start"]).name
        return Settings(
            self.wanted.method, "live", budget, groups="unknown", held_out=False, parameters=kept
        )

    def _trained(
        self, noise: float, seed: int, budget: int, known: Constraints, settings: dict[str, Any]
    ) -> dict[str, Any]:
        """Train on some answers, score, and write a row."""
        started, wanted, grid = time.monotonic(), self.wanted, self.grid
        model = find("method", wanted.method)(n_clusters=None, **settings)
        model.fit(self.images, constraints=known)
        run = grid.run_of(noise, seed, self._plan(settings, budget))
        seconds = round(time.monotonic() - started, 1)
        if wanted.save_features:
            model.save_features(wanted.save_features)
        row = {
            "schema": SCHEMA, "run": grid.name(run), "suite": run.suite, "set": run.set,
            "orientation": run.orientation, "encoder": grid.features, "items": len(self.truth),
            "kinds": len(np.unique(self.truth)), "system": run.system, "method": wanted.method,
            "learner": getattr(model, "learner_name", wanted.method), "strategy": "live",
            "parameters": dict(run.settings.parameters), "groups_given": None,
            "person": run.person.name, "noise": noise, "unsure": wanted.unsure, "seed": seed,
            "budget": budget, "questions": budget, "seconds": seconds, "complete": True,
            "curve": [{"questions": budget, **self._scores(model, known), "seconds": seconds}],
            "protocol": {"asked_by": "live"},
        }  # fmt: skip
        return grid.write(row)

    def _scores(self, model: Any, known: Constraints) -> dict[str, Any]:
        """Scores of all items, of those nobody was asked about, and of the network alone."""
        rest = np.setdiff1d(np.arange(len(self.truth)), known.touched)
        alone = getattr(model, "predicted_labels_", model.labels_)
        found: dict[str, Any] = {"groups": len(np.unique(model.labels_))}
        for name, some, labels in (
            ("", slice(None), model.labels_),
            ("unasked_", rest, model.labels_),
            ("network_", slice(None), alone),
        ):
            scores = score(self.truth[some], labels[some])
            found |= {f"{name}{metric}": scores[metric] for metric in SCORES}
        return found

    def _about(self, row: Mapping[str, Any], point: Mapping[str, Any]) -> dict[str, Any]:
        return {**point, "learner": row["learner"], "noise": row["noise"], "seed": row["seed"]}


if __name__ == "__main__":
    main()
