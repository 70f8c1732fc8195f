"""One simulated person on one labelled set: the row that benchmarks and ``simulate`` report."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samekind.errors import InputError, UnknownName
from samekind.evaluation import Curve, Scores
from samekind.items import Collection
from samekind.oracles import Matched, Noisy, Truth, Unsure
from samekind.pile import encoded_pile
from samekind.protocols import Oracle, Progress
from samekind.registry import make_method
from samekind.session import Session
from samekind.simulate import Run, run
from samekind.sources import LabelledSet

PERSONS = ("shown", "matched")
"""Who answers: one who looks at the items shown, or the published IDC protocol (all labels)."""


@dataclass(frozen=True)
class Experiment:
    """What to simulate. The learner sees the items; only the oracle and the scores see labels.

    Parameters
    ----------
    orientation : the label column that the simulated person has in mind.
    method, strategy, encoder : names from ``samekind list``; encoder None takes the default.
    questions : the budget. noise : share of wrong answers. groups : their number, if it is given.
    refit_every : answers per refit; each refit gives a row of the curve.
    person : "shown" answers from the items shown; "matched" from all labels, as published for IDC,
        to be compared with such figures only. unsure : share of questions that get no answer.
    """

    orientation: str
    method: str = "live"
    strategy: str = "live"
    encoder: str | None = None
    questions: int = 50
    noise: float = 0.0
    seed: int = 0
    groups: int | None = None
    refit_every: int = 5
    person: str = "shown"
    unsure: float = 0.0

    def __post_init__(self) -> None:
        if self.person not in PERSONS:
            raise UnknownName("person", self.person, PERSONS)
        for what, share in (("noise", self.noise), ("share of unsure", self.unsure)):
            if not 0 <= share <= 1:
                raise InputError(f"The {what} must be from 0 to 1; {share} came.")

    def run(
        self,
        labelled: LabelledSet,
        *,
        mapping: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        on_refit: Callable[[Session, int], None] | None = None,
    ) -> dict[str, Any]:
        """Simulate, and return everything that one wants to know as plain JSON.

        `on_refit` is called, with the number of answers so far, wherever the curve gets a row:
        before the first question, after each refit, and at the end.
        """
        truth, heldout_truth = labelled.truth(self.orientation, mapping)
        pile = encoded_pile(labelled.collection, encoder=self.encoder, progress=progress)
        truth = truth[_kept(labelled.collection, pile.collection)]
        heldout = None
        if labelled.held_out is not None and heldout_truth is not None:
            more = pile.vectors_of(labelled.held_out, progress)
            heldout, heldout_truth = more.X, heldout_truth[more.positions]
        session = Session(
            pile.collection,
            pile.X,
            clusterer=make_method(self.method, self.groups),
            strategy=self.strategy,
            seed=self.seed,
            refit_every=self.refit_every,
            budget=self.questions,
        )
        oracle = self._oracle(truth, session)
        scorer = _Scorer(truth, heldout, heldout_truth, on_refit)
        scorer.note(session, 0)
        log = run(session, oracle, self.questions, on_refit=scorer.note)
        if log.told != scorer.told:
            session.refit()
            scorer.note(session, log.told)
        return self._report(labelled.name, pile.encoded.encoder.name, session, scorer, log)

    def _oracle(self, truth: Any, session: Session) -> Oracle:
        """Who answers. The matching, where there is one, is made on the first groups and kept."""
        oracle: Oracle = Truth(truth)
        if self.person == "matched":
            oracle = Matched(truth, session.clustering.labels)
        oracle = Noisy(oracle, self.noise, self.seed) if self.noise else oracle
        return Unsure(oracle, self.unsure, self.seed) if self.unsure else oracle

    def _report(
        self, name: str, encoder: str, session: Session, scorer: _Scorer, log: Run
    ) -> dict[str, Any]:
        return {
            "set": name,
            "orientation": self.orientation,
            "encoder": encoder,
            "method": self.method,
            "strategy": self.strategy,
            "seed": self.seed,
            "noise": self.noise,
            "person": self.person,
            "unsure": self.unsure,
            "items": len(session.collection),
            "questions": log.told,
            "choices": session.progress()["choices"],
            "conflicts": len(session.constraints.conflicts),
            "groups_given": self.groups,
            "curve": [{**_rounded(row), **_no_heldout(row)} for row in scorer.curve.rows],
            "ask_seconds": _latency(log.ask_seconds),
            "tell_seconds": _latency(log.tell_seconds),
            "refit_seconds": _latency(log.refit_seconds),
            "peak_memory_mb": peak_memory_mb(),
        }


class _Scorer:
    """Scores the groups after every refit: on all items, those not asked, held-out ones."""

    def __init__(
        self,
        truth: Any,
        heldout: Any,
        heldout_truth: Any,
        watch: Callable[[Session, int], None] | None = None,
    ) -> None:
        self.truth, self.heldout, self.heldout_truth = truth, heldout, heldout_truth
        self.watch = watch
        self.curve = Curve()
        self.told = 0

    def note(self, session: Session, told: int) -> None:
        """Add a row to the curve."""
        asked = np.zeros(len(self.truth), dtype=bool)
        asked[[i for answer in session.answers for i in answer.question.items()]] = True
        found = None if self.heldout is None else session.predict(self.heldout)
        truth = None if self.heldout is None else self.heldout_truth
        scores = Scores.of(
            self.truth,
            session.clustering.labels,
            asked=asked,
            heldout_truth=truth,
            heldout_labels=found,
        )
        row = {**scores.row(), "groups": session.clustering.n_groups}
        self.curve = self.curve.with_row(told, row)
        self.told = told
        if self.watch is not None:
            self.watch(session, told)


def peak_memory_mb() -> float:
    """The most memory that this process has held, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {"p50": 0.0, "p95": 0.0}
    p50, p95 = np.percentile(seconds, [50, 95])
    return {"p50": round(float(p50), 5), "p95": round(float(p95), 5)}


def _rounded(row: Mapping[str, float]) -> dict[str, float]:
    return {
        key: value if isinstance(value, int) else round(float(value), 4)
        for key, value in row.items()
    }


def _no_heldout(row: Mapping[str, float]) -> dict[str, None]:
    """The key is always there, so that who reads a curve need not ask whether it is."""
    return {} if "heldout_acc" in row else {"heldout_acc": None}


def _kept(before: Collection, after: Collection) -> Any:
    """Positions, in the collection as labelled, of the items that could be encoded."""
    if len(before) == len(after):
        return slice(None)
    return [before.position(id) for id in after.ids()]
