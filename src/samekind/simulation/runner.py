"""One run: a session, a simulated person, and the row that comes of it.

Everything goes through :class:`~samekind.session.Session` and :func:`samekind.simulation.loop.run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from inspect import signature
from typing import Any

import numpy as np

from samekind.errors import Infeasible, InputError
from samekind.protocols import Oracle
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.curve_recorder import CurveRecorder
from samekind.simulation.datasets import Dataset, material_for
from samekind.simulation.experiment import latency
from samekind.simulation.loop import Run as Log
from samekind.simulation.loop import run as simulate
from samekind.simulation.people import judged_labels, other_labels
from samekind.simulation.provenance import Memory, surroundings
from samekind.simulation.settings import Segment, Settings
from samekind.simulation.suite import WHO, Run
from samekind.simulation.suite_people import make_person

PLACED = ("method", "strategy", "questions", "parameters", "strategy_with", *WHO)
"""Settings that a row has a place of its own for; the others are its protocol."""


class Limit:
    """The time at which all runs have to come to an end; between legs they look at it."""

    def __init__(self, until: float | None, clock: Callable[[], float] = time.time) -> None:
        self.until, self._clock = until, clock

    def forbids(self, seconds: float = 0.0) -> bool:
        """Whether something that takes so long would end too late."""
        return self.until is not None and self._clock() + seconds >= self.until


class Runner:
    """A session on its way through its budget, with the seconds that everything took."""

    def __init__(self, session: Session, person: Oracle) -> None:
        self.session, self.person = session, person
        self.log = Log()
        self.stopped = ""
        """Why the method could not go on, if it could not."""

    def refit(self) -> None:
        """Learn from what is open."""
        started = time.perf_counter()
        self.session.refit()
        self.log.refit_seconds.append(time.perf_counter() - started)

    def go(self, leg: Segment) -> bool:
        """Answer up to the end of a leg and learn; False: nothing is left that is worth asking.

        When the strategy has no more questions for these groups, they are learnt again; in a round
        that is asked for at once (`ahead` 0) also without answers, since training may go on. A
        method that finds no groups for the answers ends here, with the groups that it had.
        """
        try:
            return self._gone(leg)
        except Infeasible as problem:
            self.stopped = str(problem)
            self.log.told = len(self.session.answers)
            return False

    def _gone(self, leg: Segment) -> bool:
        log, session = self.log, self.session
        while log.told < leg.until:
            left = leg.until - log.told
            session.refit_every, session.ahead = leg.every or left, leg.ahead or left
            got = self._answered(left)
            if log.told < leg.until and (self._open() or not leg.ahead):
                self.refit()
            if not got:
                return False
        if self._open():
            self.refit()
        return True

    def _answered(self, left: int) -> int:
        new, log = simulate(self.session, self.person, left), self.log
        log.told += new.told
        log.ask_seconds += new.ask_seconds
        log.tell_seconds += new.tell_seconds
        log.refit_seconds += new.refit_seconds
        return new.told

    def _open(self) -> bool:
        return bool(self.session.progress()["until_refit"] < self.session.refit_every)


def run_one(
    run: Run, data: str | None = None, limit: Limit | None = None, notes: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Do one run and return its row; cut short, the row has the curve so far.

    Parameters
    ----------
    data : folder with the files of sets that do not come with the package.
    notes : the command and the commit for the row; what else is in it goes to its protocol.
    """
    memory, began = Memory(), time.perf_counter()
    settings = run.settings
    material = material_for(run.set, data, settings)
    truth, heldout_truth = material.truth(run.orientation)
    kinds = len(np.unique(truth[truth >= 0]))
    given, model = model_of(settings, kinds)
    session = Session(
        material.labelled.collection,
        material.X,
        clusterer=model,
        strategy=find("strategy", settings.strategy)(**settings.strategy_with),
        seed=run.seed,
        ahead=1 if settings.score_at else (settings.rounds or (1,))[0],
        budget=settings.questions,
    )
    person = make_person(
        run.person,
        truth,
        seed=run.seed,
        X=material.X,
        groups=session.clustering.labels,
        collection=session.collection,
        truth_of=lambda name: material.truth(name)[0],
    )
    judged, heldout_truth = _judged(run, material, person, truth, heldout_truth)
    diary = CurveRecorder(judged, material.apart, heldout_truth, began, other_labels(person))
    walk = Runner(session, person)
    complete = carry_out(walk, settings, diary, limit or Limit(None))
    more = dict(notes)
    about = surroundings(
        more.pop("command", ""), more.pop("commit", ""), settings.parameters.get("device")
    )
    return {
        **_what(run, material, session, kinds, given),
        **_how_it_went(walk, diary),
        "seconds": round(time.perf_counter() - began, 2),
        "memory_mib": memory.peak_mib(),
        "protocol": _protocol(run, walk, {**more, "encoder_reason": material.reason}),
        "complete": complete,
        **about,
    }


def carry_out(walk: Runner, settings: Settings, diary: CurveRecorder, limit: Limit) -> bool:
    """Ask, learn and score. Returns whether it came to its end."""
    longest = 0.0
    session = walk.session
    diary.note(session, 0)
    legs = settings.legs()
    todo: list[Segment | None] = [*[None] * settings.first_refits, *legs]
    todo += [None] * max(0, settings.refits - len(todo))
    for leg in todo:
        if limit.forbids(longest):
            diary.note(session, walk.log.told)
            return False
        started, left = time.monotonic(), True
        if leg is None:
            walk.refit()
        else:
            left = walk.go(leg)
        longest = max(longest, time.monotonic() - started)
        told = walk.log.told
        if not settings.score_at:
            wanted = session.clustering.snapshot % settings.score_every == 0
        else:
            wanted = settings.is_scored_at(told) or not left
        if wanted:
            diary.note(session, told)
        if walk.stopped or (settings.score_at and not left):
            break
    diary.note(session, walk.log.told)
    return True


def model_of(settings: Settings, kinds: int) -> tuple[int | None, Any]:
    """The method with its parameters, and the number of groups that it was told."""
    method = find("method", settings.method)
    parameters = dict(settings.parameters)
    if settings.groups == "given" and "n_clusters" in signature(method).parameters:
        parameters = {"n_clusters": kinds, **parameters}
    model = method(**parameters)
    if settings.without and not hasattr(model, "published_objective"):
        raise InputError(
            f"The loss of {settings.method!r} has no parts that `without` could leave out. "
            "Say which losses are used with the method's own parameters."
        )
    if settings.without:
        from samekind.simulation.ablation import Without

        model.set_params(objective=Without(model.published_objective(), settings.without))
    return parameters.get("n_clusters"), model


def _judged(run: Run, material: Dataset, person: Oracle, truth: Any, heldout: Any) -> Any:
    """The kinds that are scored: what the person has in mind at the end, and of held-out items."""
    judged = judged_labels(person)
    if judged is None or np.array_equal(judged, truth):
        return truth, heldout
    second = run.person.parameters.get("second")
    if second is None:  # a change of the orientation that nobody made for the held-out items
        return judged, None
    return judged, material.truth(str(second))[1]


def _what(
    run: Run, material: Dataset, session: Session, kinds: int, given: int | None
) -> dict[str, Any]:
    settings = run.settings
    return {
        "run": run.name,
        "suite": run.suite,
        "set": run.set,
        "orientation": run.orientation,
        "encoder": material.encoder,
        "items": len(session.collection),
        "width": int(np.prod(material.X.shape[1:])),
        "kinds": kinds,
        "system": run.system,
        "method": settings.method,
        "strategy": settings.strategy,
        "parameters": dict(settings.parameters),
        "strategy_with": dict(settings.strategy_with),
        "groups_given": given,
        "person": run.person.name,
        "noise": run.person.noise,
        "unsure": run.person.unsure,
        "seed": run.seed,
        "budget": settings.questions,
    }


def _how_it_went(walk: Runner, diary: CurveRecorder) -> dict[str, Any]:
    progress, log = walk.session.progress(), walk.log
    return {
        "questions": log.told,
        "curve": diary.curve,
        "choices": progress["choices"],
        "conflicts": progress["conflicts"],
        "ask_seconds": latency(log.ask_seconds),
        "tell_seconds": latency(log.tell_seconds),
        "refit_seconds": latency(log.refit_seconds),
    }


def _protocol(run: Run, walk: Runner, more: Mapping[str, Any]) -> dict[str, Any]:
    """Everything else that the suite said, and why a run ended early if its method gave up."""
    rest = {key: value for key, value in asdict(run.settings).items() if key not in PLACED}
    who = {"kind": run.person.kind, **run.person.parameters}
    return {**rest, "person": who, **more, **({"stopped": walk.stopped} if walk.stopped else {})}
