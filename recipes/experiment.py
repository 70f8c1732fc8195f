"""One run of PCL or OCC by answers, as their recipes begin, train, score and resume it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from arguments import Album, over, rounds_until, run_facts, strategy_of
from numpy.typing import NDArray

from samekind.clusterers.deep.epochs import EpochClusterer
from samekind.items import Collection
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.session import Session
from samekind.simulation.loop import LoopLog, run, run_in_one_go
from samekind.simulation.people import Truth

SHOWN = (
    "questions", "same", "epochs", "seconds",
    "acc", "network_acc", "test_acc", "test_nmi", "train_acc",
)  # fmt: skip
SAVE_SECONDS = 120
"""Time between two compact checkpoints."""
Scores = Callable[[Session], Mapping[str, float]]


class Experiment:
    """A session on pictures with labels, its curve, and the files that it leaves.

    A run that was interrupted goes on from ``--ledger`` and ``--checkpoint``: the answers are read
    from the one, the network from the other.

    Parameters
    ----------
    wanted : the command line. model : the method. scores : of the session, against labels.
    quota : questions per epoch.
    """

    def __init__(
        self,
        wanted: argparse.Namespace,
        model: EpochClusterer,
        collection: Collection,
        images: NDArray[np.uint8],
        truth: NDArray[np.intp],
        scores: Scores,
        *,
        quota: int,
    ) -> None:
        self.wanted, self.scores, self.began = wanted, scores, time.monotonic()
        self.truth, self.saved_at = truth, time.monotonic()
        self.curve: list[dict[str, float]] = self._earlier_curve()
        self.before = self.curve[-1]["seconds"] if self.curve else 0.0
        self.session = Session(
            collection,
            images,
            store=remembered(wanted.ledger),
            clusterer=model,
            strategy=strategy_of(wanted),
            seed=wanted.seed,
            refit_every=quota,
            ahead=quota,
            budget=wanted.questions,
        )
        self.album = Album(wanted, type(model).__name__, {wanted.orientation: truth})
        if not self.curve:
            self.note(self.session, 0)
            self.album.add(self.session, 0)

    def note(self, session: Session, told: int) -> None:
        """Score the groups; keep the row and print it."""
        row = {**self.scores(session), "questions": told, "refits": session.clustering.snapshot}
        row["epochs"] = session.model.n_epochs_
        if told:
            row["same"] = sum(a.choice == "same" for a in session.answers) / told
        row["seconds"] = round(self.before + time.monotonic() - self.began, 1)
        self.curve.append(row)
        print({k: round(v, 4) for k, v in row.items() if k in SHOWN}, flush=True)
        self._write()
        if time.monotonic() - self.saved_at > SAVE_SECONDS:
            self.save_training()

    def by_epochs(self) -> None:
        """Ask between epochs until the questions are spent, then train on to the last epoch."""
        session, wanted = self.session, self.wanted
        log = LoopLog(n_answers=len(session.answers))
        left = wanted.questions - log.n_answers
        if left > 0:
            run(session, Truth(self.truth), left, on_refit=self._every(wanted.score_every), log=log)
        while session.model.n_epochs_ < wanted.epochs and not over(self.began, wanted.seconds):
            # Several epochs at a time: nobody looks at the groups in between.
            missing = wanted.epochs - session.model.n_epochs_
            session.model.set_params(epochs=min(wanted.score_every, missing))
            session.refit()
            self.note(session, log.n_answers)
        if self.curve[-1]["refits"] != session.clustering.snapshot:
            self.note(session, log.n_answers)

    def by_rounds(self) -> None:
        """Ask in a few rounds, with one refit at the end of each."""
        told = 0
        for until in rounds_until(self.wanted):
            told = run_in_one_go(self.session, Truth(self.truth), told, until)
            self.note(self.session, told)

    def finish(self) -> None:
        """Write what the command line asked for."""
        wanted = self.wanted
        if wanted.save_features:
            self.session.model.save_features(wanted.save_features)
        self.save_training()
        self.album.add(self.session, int(self.curve[-1]["questions"]))
        self.album.save()
        self._write()

    def save_training(self) -> None:
        """Write a compact checkpoint, if a name was given."""
        if self.wanted.save_training:
            self.session.model.save_training(self.wanted.save_training)
        self.saved_at = time.monotonic()

    def _every(self, epochs: int) -> Callable[[Session, int], None]:
        """Score at each n-th refit only: scoring costs as much as a fifth of an epoch."""

        def note(session: Session, told: int) -> None:
            if session.clustering.snapshot % epochs == 0:
                self.note(session, told)

        return note

    def _earlier_curve(self) -> list[dict[str, float]]:
        """The curve of the run that this one goes on from."""
        path = self.wanted.json
        if not self.wanted.ledger or not path or not Path(path).exists():
            return []
        curve: list[dict[str, float]] = json.loads(Path(path).read_text())["curve"]
        return curve

    def _write(self) -> None:
        if self.wanted.ledger:
            remember(self.wanted.ledger, self.session)
        if self.wanted.json:
            model = self.session.model
            method: dict[str, Any] = {
                "method": type(model).__name__.lower(),
                "learner": model.learner_name,
            }
            result = {**run_facts(self.wanted), **method, "curve": self.curve, **self.curve[-1]}
            result["epochs_planned"] = self.wanted.epochs
            Path(self.wanted.json).write_text(json.dumps(result, default=str, indent=1))


def remembered(path: str | None) -> MemoryStore:
    """A store with the events of a file, if there is one; GPU machines often lack a database."""
    store = MemoryStore()
    if path and Path(path).exists():
        for line in Path(path).read_text(encoding="ascii").splitlines():
            event = json.loads(line)
            store.append("main", Event(event["kind"], event["data"], event["at"]))
    return store


def remember(path: str, session: Session) -> None:
    """Write the events of a session, one per line."""
    lines = [
        json.dumps({"kind": event.kind, "data": event.data, "at": event.at}) + "\n"
        for event in session.store.read(session.name)
    ]
    written = Path(path).with_suffix(".part")
    written.write_text("".join(lines), encoding="ascii")
    written.replace(path)
