"""One simulated person on one labelled set: the row that benchmarks and ``simulate`` report."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samekind.errors import InputError, UnknownName
from samekind.evaluation import Curve, Scores
from samekind.items import Collection
from samekind.ledger.recordings import recorded_answers
from samekind.protocols import Oracle, Progress
from samekind.questions import UNSURE
from samekind.registry import make_method
from samekind.session import Session
from samekind.simulation.loop import Run, run
from samekind.simulation.people import PERSONS, Truth, judged_labels, other_labels, person_named
from samekind.sources import LabelledSet
from samekind.workspace.pile import Pile, encoded_pile


@dataclass(frozen=True)
class Experiment:
    """What to simulate. The learner sees the items; only the oracle and the scores see labels.

    Parameters
    ----------
    orientation : the label column that the simulated person has in mind.
    method, strategy, encoder : names from ``samekind list``; encoder None takes the default.
    questions : the budget. noise : share of wrong answers. groups : their number, if it is given.
    refit_every : answers per refit; each refit gives a row of the curve.
    person : one of
        :data:`samekind.simulation.people.PERSONS`. "shown" answers from the items shown;
        "matched" from all labels, as published for IDC, to be compared with such figures only.
    unsure : share of questions that get no answer.
    second : the label column of the other orientation, of "drifting" and of "two". Who drifts is
        scored against it; of two people the first counts, and rows tell of both.
    replay, replay_session : what was recorded and the name of the session, for "replay".
    person_with : what else the person takes: see :data:`samekind.simulation.people.PARAMETERS`.
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
    second: str | None = None
    replay: str | None = None
    replay_session: str | None = None
    person_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.person not in PERSONS:
            raise UnknownName("person", self.person, PERSONS)
        if (self.person == "replay") != (self.replay is not None):
            raise InputError(
                "A recorded session and the person 'replay' go together; "
                f"{self.replay!r} and {self.person!r} came. Give both."
            )
        if self.second is not None and self.person not in ("drifting", "two"):
            raise InputError(
                f"The person {self.person!r} has one orientation; a second one came as well, "
                f"{self.second!r}. Take 'drifting' or 'two'."
            )
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
        pile = encoded_pile(labelled.collection, encoder=self.encoder, progress=progress)
        session = Session(
            pile.collection,
            pile.X,
            clusterer=make_method(self.method, self.groups),
            strategy=self.strategy,
            seed=self.seed,
            refit_every=self.refit_every,
            budget=self.questions,
        )
        kept = _kept(labelled.collection, pile.collection)
        oracle = self._oracle(labelled, mapping, kept, session)
        truth = judged_labels(oracle)
        if truth is None:
            truth = labelled.truth(self.orientation, mapping)[0][kept]
        heldout = self._held_out(labelled, mapping, pile, progress)
        scorer = _Scorer(truth, *heldout, on_refit, other_labels(oracle))
        scorer.note(session, 0)
        log = run(session, oracle, self.questions, on_refit=scorer.note)
        if log.told != scorer.told:
            session.refit()
            scorer.note(session, log.told)
        return self._report(labelled.name, pile.encoded.encoder.name, session, scorer, log)

    def _oracle(
        self, labelled: LabelledSet, mapping: Mapping[str, Any] | None, kept: Any, session: Session
    ) -> Oracle:
        """Who answers. The matching, where there is one, is made on the first groups and kept."""
        given: dict[str, Any] = dict(self.person_with)
        if self.person == "matched":
            given["clusters"] = session.clustering.labels
        if self.second is not None:
            given["second"] = labelled.truth(self.second)[0][kept]
        if self.replay is not None:
            given["answers"] = recorded_answers(
                self.replay, session.collection, session=self.replay_session
            )
        return person_named(
            self.person,
            labelled.truth(self.orientation, mapping)[0][kept],
            seed=self.seed,
            X=session.X,
            noise=self.noise,
            unsure=self.unsure,
            **given,
        )

    def _held_out(
        self,
        labelled: LabelledSet,
        mapping: Mapping[str, Any] | None,
        pile: Pile,
        progress: Progress | None,
    ) -> tuple[Any, Any]:
        """Vectors and kinds of items that take no part; None where their kinds are not known."""
        drifts = self.person == "drifting"
        if labelled.held_out is None or (drifts and self.second is None):
            return None, None
        if drifts and self.second is not None:
            _, truth = labelled.truth(self.second)
        else:
            _, truth = labelled.truth(self.orientation, mapping)
        if truth is None:
            return None, None
        more = pile.vectors_of(labelled.held_out, progress)
        return more.X, truth[more.positions]

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
            "second": self.second,
            "wrong_answers": scorer.wrong_answers(session),
            "items": len(session.collection),
            "questions": log.told,
            "choices": session.progress()["choices"],
            "conflicts": len(session.constraints.conflicts),
            "groups_given": self.groups,
            "curve": [{**_rounded(row), **_no_heldout(row)} for row in scorer.curve.rows],
            "ask_seconds": latency(log.ask_seconds),
            "tell_seconds": latency(log.tell_seconds),
            "refit_seconds": latency(log.refit_seconds),
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
        other: Any = None,
    ) -> None:
        self.truth, self.heldout, self.heldout_truth = truth, heldout, heldout_truth
        self.watch, self.other = watch, other
        self.curve = Curve()
        self.told = 0

    def note(self, session: Session, told: int) -> None:
        """Add a row to the curve."""
        scores = scored(session, self.truth, self.heldout, self.heldout_truth)
        row = {**scores.row(), "groups": session.clustering.n_groups}
        if self.other is not None:
            beside = Scores.of(self.other, session.clustering.labels).row()
            row |= {"other_acc": beside["acc"], "other_ari": beside["ari"]}
        self.curve = self.curve.with_row(told, row)
        self.told = told
        if self.watch is not None:
            self.watch(session, told)

    def wrong_answers(self, session: Session) -> float | None:
        """Share of the answers, "unsure" aside, that are not true for the kinds scored against."""
        person = Truth(self.truth)
        said = [(a, person.answer(a.question)) for a in session.answers if a.choice != UNSURE]
        known = [answer.choice != true for answer, true in said if true != UNSURE]
        return round(sum(known) / len(known), 4) if known else None


def scored(session: Session, truth: Any, heldout: Any = None, heldout_truth: Any = None) -> Scores:
    """The groups of a session against kinds: of all items, those not asked, held-out ones.

    Parameters
    ----------
    heldout : vectors of items that took no part. heldout_truth : their kinds.
    """
    asked = np.zeros(len(truth), dtype=bool)
    asked[[i for answer in session.answers for i in answer.question.items()]] = True
    return Scores.of(
        truth,
        session.clustering.labels,
        asked=asked,
        heldout_truth=None if heldout is None else heldout_truth,
        heldout_labels=None if heldout is None else session.predict(heldout),
    )


def peak_memory_mb() -> float:
    """The most memory that this process has held, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile of some waits; zeros when there were none."""
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
