"""Whether what is said about the quality holds, in simulated sessions of many sorts of people."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from scipy.stats import binom

from benchmarks.checks.piles import SHIPPED
from benchmarks.checks.statements import (
    AHEAD,
    CAREFUL,
    LAZY,
    ROUNDING,
    simulate,
)
from benchmarks.faults.outcome import Outcome

STATED, SOUND_ADVICE, NOTICED = 0.95, 0.98, 0.9
"""Promised shares: of statements whose interval holds the truth, of sessions without wrong advice
to stop, and of lazy people who are noticed."""
UNLIKELY = 0.05
"""Probability below which a promised share is taken for undercut, rather than for bad luck."""
MIN_CAREFUL = 10
"""Careful people, of whom somebody should have been advised to stop."""
EVERY_SMALL = 3
"""Of the drawn piles every third is small, and asked about until nothing is left."""
MIN_PARALLEL, MAX_WORKERS = 20, 2
MAX_GAIN = 0.01
"""Of items that the next 20 answers put in place, above which the advice to stop was wrong."""


@dataclass
class Count:
    """How often something that is promised held, in how many cases."""

    held: int = 0
    cases: int = 0

    def add(self, held: int, cases: int = 1) -> None:
        """Count cases."""
        self.held, self.cases = self.held + held, self.cases + cases

    def __str__(self) -> str:
        return f"{self.held} of {self.cases} ({100 * self.held / max(self.cases, 1):.1f} %)"

    def undercuts(self, promised: float, independent: int | None = None) -> bool:
        """Whether so small a share would be unlikely if the promise were kept.

        Parameters
        ----------
        independent : cases that count, where several in a row mostly hold or fail together.
        """
        n = self.cases if independent is None else independent
        held = math.floor(n * self.held / max(self.cases, 1))
        return bool(self.held < promised * self.cases and binom.cdf(held, n, promised) < UNLIKELY)


def statements(rounds: int, seed: int) -> Outcome:
    """Sessions of careful, erring and lazy people; every fourth person is lazy.

    Lazy people are to be noticed in piles that take 60 answers.
    """
    outcome = Outcome()
    piles = [*SHIPPED, *(_drawn(5000 + seed * 1000, k) for k in range(rounds))]
    intervals, ends, advice, noticed, advised = (Count() for _ in range(5))
    careful_sessions = 0
    missed: dict[str, int] = {}
    for row in _simulated(rounds, seed, piles):
        person = row["person"]
        careful = person in CAREFUL
        said = [p for p in row["points"] if p["share"] is not None]
        if careful:
            careful_sessions += bool(said)
            within = [p["low"] - ROUNDING <= p["truth"] <= p["high"] + ROUNDING for p in said]
            intervals.add(sum(within), len(said))
            if row["pile"].startswith("small-") and said:
                ends.add(within[-1])
            advised.add(any(p["enough"] for p in row["points"]))
        elif not row["pile"].startswith("small-"):  # a dozen answers show no habit
            noticed.add(any(p["notice"] for p in row["points"]))
            missed[person] = missed.get(person, 0) + (not any(p["notice"] for p in row["points"]))
        bad = _wrong_advice(row["points"], careful)
        advice.add(not bad)
        outcome.note(not bad, f"{person}, {row['pile']}: stopping was suggested too early")
    wrong = advice.cases - advice.held
    outcome.figures = {
        "interval holds the truth": str(intervals),
        "of these, small piles asked about to the end": str(ends),
        "wrong advice to stop": f"{wrong} of {rounds} ({100 * wrong / max(rounds, 1):.1f} %)",
        "careful people advised to stop": f"{advised.held} of {advised.cases}",
        "lazy people noticed": f"{noticed.held} of {noticed.cases}",
        "not noticed": {name: n for name, n in missed.items() if n},
    }
    if not advice.undercuts(SOUND_ADVICE):  # as much of it as promised
        outcome.problems = []
    if intervals.undercuts(STATED, careful_sessions):
        outcome.problems.append("the interval holds the truth less often than it says")
    if ends.undercuts(STATED):
        outcome.problems.append("the interval misses the truth when nothing is left to ask")
    if noticed.undercuts(NOTICED):
        outcome.problems.append("lazy people are not noticed")
    if advised.cases >= MIN_CAREFUL and not (intervals.cases and advised.held):
        outcome.problems.append("nothing is stated, or nobody is advised to stop")
    return outcome


def _drawn(first: int, k: int) -> str:
    """The name of the k-th drawn pile."""
    return f"{'small' if k % EVERY_SMALL == 0 else 'drawn'}-{first + k}"


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
