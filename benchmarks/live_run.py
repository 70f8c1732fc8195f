"""One simulated person, one set, one way of asking and learning: a row of the suite `live`.

Everything goes through a session and :func:`samekind.simulate.run`. Labels are known to the person
who answers, by the items shown, and to the scores; never to a learner or a strategy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from live_sets import Material, Orientation, plan_of
from live_yardsticks import LogisticHead, MarginSampling

from samekind.errors import InputError, UnknownName
from samekind.evaluation import Scores
from samekind.oracles import Noisy, Truth
from samekind.protocols import Oracle
from samekind.registry import find
from samekind.session import Session
from samekind.simulate import run

Row = dict[str, Any]
AT = (0, 10, 20, 50, 75, 100, 150, 200, 500)
"""Numbers of answers after which the groups are scored."""
CHECKED_AT = (50, 100, 200)
"""Numbers of answers after which the interval of the random checks is compared with the truth."""
STAGES = ((50, 5), (200, 10), (10**9, 25))
"""Up to so many answers, learn again after every so many."""
BLIND = ("random",)
"""Systems whose questions do not depend on the groups: learning only before a score is the same."""
METRICS = ("acc", "ari", "nmi")
MARGIN = "margin"
SYSTEMS = {
    "live": ("live", "live"),
    "placement": ("propagation", "placement"),
    MARGIN: ("logistic-head", "margin-sampling"),
    "cobras": ("cobras", "cobras"),
    "random": ("propagation", "random"),
}
"""Short names for a method and the strategy that asks for it."""


@dataclass(frozen=True)
class Task:
    """What tells one row from another."""

    set: str
    orientation: str
    system: str
    seed: int
    noise: float

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.set, self.orientation, self.system, self.seed, self.noise)

    def __str__(self) -> str:
        wrong = f", {self.noise:.0%} wrong" if self.noise else ""
        return f"{self.set} {self.orientation}{wrong}, {self.system}, seed {self.seed}"


def parts(system: str) -> tuple[str, str]:
    """Method and strategy of a system: a short name, or ``METHOD+STRATEGY``."""
    if "+" in system:
        method, _, strategy = system.partition("+")
        return method, strategy
    if system not in SYSTEMS:
        raise UnknownName("system", system, SYSTEMS)
    return SYSTEMS[system]


def missing(system: str) -> str:
    """Why a system cannot be run here; empty when it can."""
    if system == MARGIN:
        return ""
    try:
        for kind, name in zip(("method", "strategy"), parts(system), strict=True):
            find(kind, name)
    except UnknownName as problem:
        return str(problem)
    return ""


def run_task(
    task: Task, material: Material, *, questions: int | None = None, refit_every: int | None = None
) -> Row:
    """Simulate one person up to the set's budget, and score on the way.

    Parameters
    ----------
    questions : a smaller budget. refit_every : answers between refits instead of `STAGES`.
    """
    began = time.perf_counter()
    budget = questions or plan_of(task.set).questions
    truth = material.orientations[task.orientation]
    person: Oracle = Truth(truth.kinds)
    person = Noisy(person, task.noise, task.seed) if task.noise else person
    given, session = opened(task, material, budget)
    watch = _Watch(session, material, truth)
    watch.note(0)
    told, asks, tells, refits = 0, list[float](), list[float](), list[float]()
    for until in stops(budget):
        session.refit_every = refit_every or _answers_per_refit(task.system, until)
        log = run(session, person, until - told)
        told += log.told
        asks, tells, refits = (
            asks + log.ask_seconds, tells + log.tell_seconds, refits + log.refit_seconds
        )  # fmt: skip
        if session.progress()["until_refit"] < session.refit_every:  # the last answers
            started = time.perf_counter()
            session.refit()
            refits.append(time.perf_counter() - started)
        if until in AT or until == budget or told < until:
            watch.note(told)
        if told < until:  # nothing is left that is worth asking
            break
    return {
        "benchmark": "live", **vars(task), "method": parts(task.system)[0],
        "strategy": parts(task.system)[1], "encoder": material.encoder,
        "items": len(material.X), "width": material.X.shape[1], "budget": budget,
        "questions": told, "groups_given": given, "refit_every": refit_every,
        "kinds": len(np.unique(truth.kinds[truth.kinds >= 0])),
        "choices": session.progress()["choices"], "conflicts": session.progress()["conflicts"],
        "curve": watch.curve, "checks": watch.checks, "ask_seconds": _latency(asks),
        "tell_seconds": _latency(tells), "refit_seconds": _latency(refits),
        "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip


def opened(task: Task, material: Material, budget: int) -> tuple[int | None, Session]:
    """A session, and the number of groups if its method is told: only the margin yardstick is."""
    method, strategy = parts(task.system)
    given: int | None = None
    clusterer: Any
    asker: Any = strategy
    if task.system == MARGIN:
        kinds = material.orientations[task.orientation].kinds
        given = len(np.unique(kinds[kinds >= 0]))
        clusterer, asker = LogisticHead(given), MarginSampling()
    else:
        clusterer = find("method", method)()
    return given, Session(
        material.collection, material.X, clusterer=clusterer, strategy=asker, seed=task.seed,
        budget=budget,
    )  # fmt: skip


def _answers_per_refit(system: str, until: int) -> int:
    return until if system in BLIND else next(every for end, every in STAGES if until <= end)


def stops(budget: int) -> list[int]:
    """Where a run halts: to be scored, or because another stage begins."""
    if budget < 1:
        raise InputError(f"At least one question is needed; {budget} came.")
    ends = {*AT, *(end for end, _ in STAGES)}
    return [*sorted(at for at in ends if 0 < at < budget), budget]


class _Watch:
    """Scores a session, and compares the interval of its random checks with the truth."""

    def __init__(self, session: Session, material: Material, truth: Orientation) -> None:
        self.session, self.truth, self.held_out = session, truth, material.held_out
        self.curve: list[Row] = []
        self.checks: list[Row] = []

    def note(self, told: int) -> None:
        """Add a row to the curve, and one to the checks where that is wanted."""
        session, truth = self.session, self.truth
        asked = np.zeros(len(truth.kinds), dtype=bool)
        asked[[i for answer in session.answers for i in answer.question.items()]] = True
        there = self.held_out is not None
        scores = Scores.of(
            truth.kinds,
            session.clustering.labels,
            asked=asked,
            heldout_truth=truth.held_out if there else None,
            heldout_labels=session.predict(self.held_out) if there else None,
        ).row()
        kept = [f"{part}{metric}" for part in ("", "unasked_", "heldout_") for metric in METRICS]
        row = {name: round(float(scores[name]), 5) for name in kept if name in scores}
        self.curve.append({"questions": told, **row, "groups": session.clustering.n_groups})
        if told in CHECKED_AT:
            self.checks.append(checked(session, truth.kinds, told))


def checked(session: Session, kinds: Any, told: int) -> Row:
    """The interval of the random checks, and the share that it should hold."""
    found: Mapping[str, Any] | None = session.progress()["quality"]
    interval = {name: None if found is None else found[name] for name in ("share", "low", "high")}
    return {"questions": told, **interval, "truth": round(agreement(session, kinds), 5)}


def agreement(session: Session, kinds: Any) -> float:
    """Share of items that a person who never errs would put where they are, if asked about each.

    A group stands for the kind that most answered items in it are of. An item is in place if that
    is its kind; or if no group stands for its kind, and its own stands for none: then the person
    would say "none of these", and the groups say so, too.
    """
    labels, answered = session.clustering.labels, session.constraints.touched
    answered = answered[kinds[answered] >= 0]
    stands_for = dict.fromkeys(session.clustering.numbers, -1)
    for number in np.unique(labels[answered]).tolist():
        stands_for[number] = int(np.bincount(kinds[answered[labels[answered] == number]]).argmax())
    known = kinds >= 0
    of_group = np.array([stands_for[number] for number in session.clustering.numbers])
    kind_of_group = of_group[np.searchsorted(session.clustering.numbers, labels)]
    unseen = ~np.isin(kinds, of_group)
    right = (kind_of_group == kinds) | (unseen & (kind_of_group < 0))
    return float(right[known].mean())


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {"p50": 0.0, "p95": 0.0}
    p50, p95 = np.percentile(seconds, [50, 95])
    return {"p50": round(float(p50), 5), "p95": round(float(p95), 5)}
