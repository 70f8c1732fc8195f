"""Whether what is said about the quality holds, in simulated sessions of many sorts of people."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benchmarks.checks.piles import SHIPPED
from benchmarks.checks.statements import (
    AHEAD,
    CAREFUL,
    LAZY,
    ROUNDING,
    simulate,
)
from benchmarks.faults.outcome import Outcome

STATED = 0.95
MAX_WRONG_ADVICE = 0.02
MIN_PARALLEL, MAX_WORKERS = 20, 2
MAX_GAIN = 0.01
"""Of items that the next 20 answers put in place, above which the advice to stop was wrong."""


def statements(rounds: int, seed: int) -> Outcome:
    """Sessions of careful, erring and lazy people; every fourth person is lazy."""
    outcome = Outcome()
    piles = [*SHIPPED, *(f"drawn-{5000 + seed * 1000 + k}" for k in range(rounds))]
    held = stated = wrong = 0
    lazy: list[bool] = []
    missed: dict[str, int] = {}
    for row in _simulated(rounds, seed, piles):
        person = row["person"]
        careful = person in CAREFUL
        said = [p for p in row["points"] if p["share"] is not None]
        if careful:
            stated += len(said)
            within = [p["low"] - ROUNDING <= p["truth"] <= p["high"] + ROUNDING for p in said]
            held += sum(within)
        else:
            lazy.append(any(p["notice"] for p in row["points"]))
            missed[person] = missed.get(person, 0) + (not lazy[-1])
        bad = _wrong_advice(row["points"], careful)
        wrong += bad
        outcome.note(not bad, f"{person}, {row['pile']}: stopping was suggested too early")
    outcome.figures = {
        "interval holds the truth": f"{held} of {stated} ({100 * held / max(stated, 1):.1f} %)",
        "wrong advice to stop": f"{wrong} of {rounds} ({100 * wrong / max(rounds, 1):.1f} %)",
        "lazy people noticed": f"{sum(lazy)} of {len(lazy)}",
        "not noticed": {name: n for name, n in missed.items() if n},
    }
    if stated and held / stated < STATED:
        outcome.problems.append("the interval holds the truth less often than it says")
    if wrong / max(rounds, 1) <= MAX_WRONG_ADVICE:  # as many as promised
        outcome.problems = [p for p in outcome.problems if p.startswith("the interval")]
    return outcome


def _simulated(rounds: int, seed: int, piles: list[str]) -> Iterator[dict[str, Any]]:
    """The sessions in their order, a few at a time in processes of their own: they are equal."""
    people = [(*CAREFUL, LAZY[k // 4 % len(LAZY)])[k % 4] for k in range(rounds)]
    sessions = [(piles[k // 4], people[k], seed + k // 4) for k in range(rounds)]
    if rounds < MIN_PARALLEL:
        yield from (simulate(*one) for one in sessions)
        return
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(simulate, *zip(*sessions, strict=True), chunksize=4)


def _wrong_advice(points: list[dict[str, Any]], careful: bool) -> bool:
    """Whether stopping was suggested although more answers would have helped."""
    truth = {p["answers"]: p["truth"] for p in points}
    told = next((p["answers"] for p in points if p["enough"]), None)
    if told is None:
        return False
    later = truth.get(told + AHEAD, points[-1]["truth"])
    return not careful or later - truth[told] > MAX_GAIN
