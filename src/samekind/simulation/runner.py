"""One run: a session, a simulated person, and the row that results.

`samekind bench` calls :func:`run_one` for each run of a suite; :func:`samekind.simulate` is a suite
of one run. Everything goes through :class:`~samekind.session.Session` and the one loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from inspect import signature
from typing import Any

import numpy as np

from samekind.errors import Infeasible, InputError
from samekind.ledger.recordings import recorded_answers
from samekind.protocols import Oracle, Store
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.curve_recorder import CurveRecorder
from samekind.simulation.datasets import Dataset, dataset_for
from samekind.simulation.loop import LoopLog, OnRefit, Segment, run_segment
from samekind.simulation.people import judged_labels, other_labels, person_named
from samekind.simulation.provenance import PeakMemory, provenance
from samekind.simulation.rows import SCHEMA
from samekind.simulation.settings import Settings
from samekind.simulation.suite import PERSON_KEYS, Run

TOP_LEVEL = ("method", "strategy", "questions", "parameters", "strategy_with", *PERSON_KEYS)
"""Settings that are fields of a row; the others are in its protocol."""


class Limit:
    """The time by which all runs must end; runs check it between segments."""

    def __init__(self, until: float | None, clock: Callable[[], float] = time.time) -> None:
        self.until, self._clock = until, clock

    def forbids(self, seconds: float = 0.0) -> bool:
        """Whether something that takes this long would end too late."""
        return self.until is not None and self._clock() + seconds >= self.until


class Runner:
    """Takes one session through its budget and records the curve.

    Parameters
    ----------
    retry : see :func:`~samekind.simulation.loop.run_segment`.
    on_record : called with the session and the number of answers after each point of the curve.
    store : where the session keeps its ledger; None: in memory.
    """

    def __init__(
        self,
        run: Run,
        dataset: Dataset,
        *,
        retry: bool = True,
        on_record: OnRefit | None = None,
        store: Store | None = None,
    ) -> None:
        self.run, self.dataset, self.retry = run, dataset, retry
        self.began, self.memory = time.perf_counter(), PeakMemory()
        settings = run.settings
        truth, heldout_truth = dataset.truth(run.orientation)
        self.n_kinds = len(np.unique(truth[truth >= 0]))
        self.groups_given, model = make_model(settings, self.n_kinds)
        self.dataset = dataset = dataset.for_model(model)
        self.session = Session(
            dataset.labelled.collection,
            dataset.X,
            store=store,
            clusterer=model,
            strategy=find("strategy", settings.strategy)(**settings.strategy_with),
            seed=run.seed,
            ahead=1 if settings.score_at else (settings.rounds or (1,))[0],
            budget=settings.questions,
        )
        self.person = _person(run, dataset, self.session, truth)
        judged = judged_labels(self.person)
        if judged is not None and not np.array_equal(judged, truth):
            second = run.person.parameters.get("second")
            # Nobody knows the kinds of held-out items under an orientation that was made up.
            heldout_truth = None if second is None else dataset.truth(str(second))[1]
            truth = judged
        self.recorder = CurveRecorder(
            truth, dataset.heldout, heldout_truth, other_labels(self.person), on_record
        )
        self.log = LoopLog()
        self.stopped = ""
        """Why the method could not continue, if it could not."""

    def execute(self, limit: Limit | None = None) -> bool:
        """Ask, refit and score. Returns whether the run was completed within the limit."""
        limit = limit or Limit(None)
        settings, session, longest = self.run.settings, self.session, 0.0
        self.recorder.record(session, 0)
        steps: list[Segment | None] = [*[None] * settings.first_refits, *settings.segments()]
        steps += [None] * max(0, settings.refits - len(steps))
        for segment in steps:
            if limit.forbids(longest):
                self.recorder.record(session, self.log.n_answers)
                return False
            started = time.monotonic()
            more = self._step(segment)
            longest = max(longest, time.monotonic() - started)
            if settings.score_at:
                due = settings.is_scored_at(self.log.n_answers) or not more
            else:
                due = session.clustering.snapshot % settings.score_every == 0
            if due:
                self.recorder.record(session, self.log.n_answers)
            if self.stopped or (settings.score_at and not more):
                break
        self.recorder.record(session, self.log.n_answers)
        return True

    def _step(self, segment: Segment | None) -> bool:
        """Run a segment, or refit once without asking; False: the questions ran out.

        A method that finds no groups for the answers ends the run with the groups that it had.
        """
        if segment is None:
            self.log.refit(self.session)
            return True
        try:
            return run_segment(self.session, self.person, segment, self.log, retry=self.retry)
        except Infeasible as problem:
            self.stopped = str(problem)
            self.log.n_answers = len(self.session.answers)
            return False

    def row(self) -> dict[str, Any]:
        """The row of the run so far, without its provenance."""
        run, settings, progress = self.run, self.run.settings, self.session.progress()
        return {
            "schema": SCHEMA,
            "run": run.name,
            "suite": run.suite,
            "set": run.set,
            "orientation": run.orientation,
            "encoder": self.dataset.encoder,
            "items": len(self.session.collection),
            "width": int(np.prod(self.dataset.X.shape[1:])),
            "kinds": self.n_kinds,
            "system": run.system,
            "learner": learner_name(self.session.model, settings),
            "method": settings.method,
            "strategy": settings.strategy,
            "parameters": dict(settings.parameters),
            "strategy_with": dict(settings.strategy_with),
            "groups_given": self.groups_given,
            "person": run.person.name,
            "noise": run.person.noise,
            "unsure": run.person.unsure,
            "seed": run.seed,
            "budget": settings.questions,
            "questions": self.log.n_answers,
            "curve": self.recorder.curve(),
            "choices": progress["choices"],
            "conflicts": progress["conflicts"],
            "ask_seconds": latency(self.log.ask_seconds),
            "tell_seconds": latency(self.log.tell_seconds),
            "refit_seconds": latency(self.log.refit_seconds),
            "seconds": round(time.perf_counter() - self.began, 2),
            "memory_mib": self.memory.mib(),
        }

    def protocol(self) -> dict[str, Any]:
        """All other settings, and why the run ended early if its method gave up."""
        settings = asdict(self.run.settings)
        person = {"kind": self.run.person.kind, **self.run.person.parameters}
        stopped = {"stopped": self.stopped} if self.stopped else {}
        rest = {key: value for key, value in settings.items() if key not in TOP_LEVEL}
        return {**rest, "person": person, "encoder_reason": self.dataset.reason, **stopped}


def run_one(
    run: Run, data: str | None = None, limit: Limit | None = None, notes: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Do one run of a suite and return its row; cut short, the row has the curve so far.

    Parameters
    ----------
    data : folder with the files of sets that do not come with the package.
    notes : the command and the commit for the row; other keys go to its protocol.
    """
    runner = Runner(run, dataset_for(run.set, data, run.settings))
    complete = runner.execute(limit)
    more = {key: value for key, value in notes.items() if key not in ("command", "commit")}
    device = run.settings.parameters.get("device")
    return {
        **runner.row(),
        "protocol": {**runner.protocol(), **more},
        "complete": complete,
        **provenance(notes.get("command", ""), notes.get("commit", ""), device),
    }


def make_model(settings: Settings, n_kinds: int) -> tuple[int | None, Any]:
    """The number of groups that the method is given, and the method with its parameters."""
    method = find("method", settings.method)
    parameters = dict(settings.parameters)
    if settings.groups == "given" and "n_clusters" in signature(method).parameters:
        parameters = {"n_clusters": n_kinds, **parameters}
    model = method(**parameters)
    if settings.without and not hasattr(model, "published_objective"):
        raise InputError(
            f"The loss of {settings.method!r} has no parts that `without` could leave out. "
            "Choose its losses with the method's own parameters."
        )
    if settings.without:
        from samekind.simulation.ablation import Without

        model.set_params(objective=Without(model.published_objective(), settings.without))
    return parameters.get("n_clusters"), model


def learner_name(model: Any, settings: Settings) -> str:
    """What learnt: the name that the estimator gives, else that of the method.

    Parts of the loss that were left out belong to the name.
    """
    if not settings.without:
        return str(getattr(model, "learner_name", settings.method))
    whole = copy(model).set_params(objective=None)
    name = getattr(whole, "learner_name", settings.method)
    return f"{name} without {' and '.join(settings.without)}"


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile; zeros when there is nothing to measure."""
    if not seconds:
        return {"p50": 0.0, "p95": 0.0}
    p50, p95 = np.percentile(seconds, [50, 95])
    return {"p50": round(float(p50), 5), "p95": round(float(p95), 5)}


def _person(run: Run, dataset: Dataset, session: Session, truth: Any) -> Oracle:
    """The person of a run: names of columns and files become labels and answers."""
    spec, given = run.person, dict(run.person.parameters)
    second, record = given.pop("second", None), given.pop("record", None)
    name = given.pop("session", None)
    return person_named(
        spec.kind,
        truth,
        seed=run.seed,
        X=dataset.X.reshape(len(dataset.X), -1),
        second=None if second is None else dataset.truth(str(second))[0],
        answers=None
        if record is None
        else recorded_answers(str(record), session.collection, session=name),
        clusters=session.clustering.labels,
        noise=spec.noise,
        unsure=spec.unsure,
        **given,
    )
