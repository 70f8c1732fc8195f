"""Piles that are hard to group, and people who answer without thought."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.faults.outcome import Outcome, session_over
from samekind.errors import SamekindError
from samekind.questions import NONE, UNSURE, Question
from samekind.session import Session
from samekind.simulation.people import Truth

ANSWERS = 30
MAX_SECONDS = 300.0
"""Of one session, after which it counts as hanging."""
Floats = NDArray[Any]
Person = Callable[[Question, np.random.Generator], str]


def _choice(*wanted: str) -> Person:
    """The first of some choices that the question has; else its first one."""

    def answer(question: Question, rng: np.random.Generator) -> str:
        found = [choice for choice in wanted if choice in question.choices()]
        return (found or list(question.choices()))[0]

    return answer


def _random(question: Question, rng: np.random.Generator) -> str:
    return str(rng.choice(list(question.choices())))


PEOPLE: dict[str, Person] = {
    "everything is the same": _choice("same", "1", "all"),
    "none of these": _choice(NONE, "different"),
    "never sure": _choice(UNSURE),
    "at random": _random,
}


def piles(rng: np.random.Generator) -> dict[str, Floats]:
    """Vectors by the name of the pile."""
    base = rng.normal(size=(300, 8))
    giant = rng.normal(scale=0.1, size=(400, 8))
    giant[:5] += 40
    return {
        "duplicates": np.repeat(base[:6], 50, axis=0),
        "constant vectors": np.ones((200, 8)),
        "one giant group with outliers": giant,
        "two items": base[:2],
        "very wide vectors": rng.normal(size=(120, 20_000)),
        "huge numbers": base * 1e30,
        "tiny numbers": base * 1e-30,
    }


def hard_piles(rounds: int, seed: int) -> Outcome:
    """Every pile with every person: no crash, no hang, and all answers are kept."""
    outcome, rng = Outcome(), np.random.default_rng(seed)
    pairs = [(pile, person) for pile in piles(rng) for person in PEOPLE]
    for k in range(rounds):
        pile, person = pairs[k % len(pairs)]
        X = piles(np.random.default_rng(seed + k))[pile].astype(np.float32)
        outcome.note(*_session(X, PEOPLE[person], f"{pile}, {person}", seed + k))
    return outcome


def _session(X: Floats, person: Person, what: str, seed: int) -> tuple[bool, str]:
    begun, rng = time.monotonic(), np.random.default_rng(seed)
    try:
        session = session_over(X, seed=seed)
        told = answer(session, person, rng)
        session.refit()
        labels = session.clustering.labels
        session.progress()
    except SamekindError as sentence:
        return str(sentence).endswith("."), f"{what}: {sentence}"
    except Exception as problem:
        return False, f"{what}: {problem!r}"
    kept = len(session.answers) == told and len(labels) == len(X)
    quick = time.monotonic() - begun < MAX_SECONDS
    return kept and quick, f"{what}: {told} answers, {time.monotonic() - begun:.0f} s"


def answer(session: Session, person: Person, rng: np.random.Generator) -> int:
    """Let a person answer; returns how many answers they gave."""
    for told in range(ANSWERS):
        asked = session.ask()
        if asked is None:
            return told
        session.tell(asked.number, person(asked.question, rng))
        if told % 5 == 4:
            session.refit()
    return ANSWERS


def against_oneself(rounds: int, seed: int) -> Outcome:
    """Each answer is later changed to another: contradictions are shown, nothing breaks."""
    outcome = Outcome()
    for k in range(rounds):
        rng = np.random.default_rng(seed + k)
        session = session_over(rng.normal(size=(60, 4)).astype(np.float32), seed=k)
        answer(session, _random, rng)
        for given in session.answers:
            others = [c for c in given.question.choices() if c != given.choice]
            session.edit(given.number, str(rng.choice(others)))
        session.refit()
        outcome.note(len(session.clustering.labels) == 60)
        outcome.figures["contradictions"] = len(session.constraints.conflicts)
    return outcome


def always_same(rounds: int, seed: int) -> Outcome:
    """Fifty times "same" is one group."""
    outcome = Outcome()
    for k in range(rounds):
        X = np.random.default_rng(seed + k).normal(size=(120, 6)).astype(np.float32)
        session = session_over(X, seed=k)
        for told in range(50):
            asked = session.ask()
            if asked is None:
                break
            session.tell(asked.number, PEOPLE["everything is the same"](asked.question, np.random))
            if told % 5 == 4:
                session.refit()
        session.refit()
        groups = len(np.unique(session.clustering.labels))
        outcome.note(groups == 1, f"{groups} groups after {len(session.answers)} answers")
    return outcome


def _truthful(truth: Truth) -> Person:
    return lambda question, rng: truth.answer(question)


def many_groups(rounds: int, seed: int) -> Outcome:
    """Five thousand kinds with two items each."""
    outcome = Outcome()
    for k in range(rounds):
        rng, begun = np.random.default_rng(seed + k), time.monotonic()
        kinds = np.repeat(np.arange(5000), 2)
        X = np.repeat(rng.normal(size=(5000, 16)), 2, axis=0)
        X = (X + rng.normal(scale=0.05, size=X.shape)).astype(np.float32)
        session = session_over(X, seed=k)
        told = answer(session, _truthful(Truth(kinds)), rng)
        seconds = time.monotonic() - begun
        outcome.note(
            told == ANSWERS and seconds < MAX_SECONDS, f"{told} answers in {seconds:.0f} s"
        )
        outcome.figures["seconds"] = round(seconds, 1)
    return outcome


def not_finite(rounds: int, seed: int) -> Outcome:
    """Infinite values and NaN are refused in a sentence that names their place."""
    outcome = Outcome()
    for k in range(rounds):
        rng = np.random.default_rng(seed + k)
        X = rng.normal(size=(40, 5)).astype(np.float32)
        row = int(rng.integers(40))
        X[row, int(rng.integers(5))] = rng.choice([np.inf, -np.inf, np.nan])
        try:
            session_over(X, seed=0)
            outcome.note(False, "taken without a word")
        except SamekindError as sentence:
            outcome.note(str(row) in str(sentence), str(sentence))
    return outcome
