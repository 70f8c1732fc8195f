"""Piles that are hard to group, and people who answer without thought."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.faults.outcome import Outcome, session_over
from samekind.errors import SamekindError
from samekind.questions import NONE, UNSURE, Question, SamePair
from samekind.session import Session
from samekind.session.acts import perform, together
from samekind.session.attention import LONG_RUN
from samekind.session.conflicts import chain, contradictions
from samekind.simulation.people import Truth

ANSWERS, CONTRARY = 30, 5
"""Of a session, and how many answers a person against themselves then contradicts."""
MAX_SECONDS = 300.0
"""Of one session, after which it counts as hanging, and its process is ended."""
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


EVERYTHING, NEVER_SURE, AGAINST = "everything is the same", "never sure", "against themselves"
PEOPLE: dict[str, Person] = {
    EVERYTHING: _choice("same", "1", "all"),
    "none of these": _choice(NONE, "different"),
    NEVER_SURE: _choice(UNSURE),
    "at random": _random,
    AGAINST: _random,
}
"""Somebody who always takes the first choice says that everything is the same: "1", or "same"."""
REFUSED = {"one item": "Expected at least 2 items"}
"""Piles that cannot be grouped, and the beginning of the sentence that says so."""


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
        "one item": base[:1],
    }


class Watched:
    """A process that runs sessions one by one; if one hangs, the process is ended and replaced."""

    def __enter__(self) -> Self:
        self._pool = multiprocessing.get_context("spawn").Pool(1)
        return self

    def __exit__(self, *problem: object) -> None:
        self._pool.terminate()
        self._pool.join()

    def run(self, seconds: float, session: Callable[..., str], *given: Any) -> str:
        """What is wrong with a session, in words; empty if nothing is."""
        try:
            return self._pool.apply_async(session, given).get(seconds)
        except multiprocessing.TimeoutError:
            self.__exit__()
            self.__enter__()
            return f"still running after {seconds:.0f} s: {given}"


def hard_piles(rounds: int, seed: int) -> Outcome:
    """Every pile with every person: no crash, no hang, all answers are kept and honoured.

    Each pile comes once before any comes again, with the next person.
    """
    outcome = Outcome()
    names, people = list(piles(np.random.default_rng(seed))), list(PEOPLE)
    with Watched() as watched:
        for k in range(rounds):
            pile, person = names[k % len(names)], people[(k + k // len(names)) % len(people)]
            wrong = watched.run(MAX_SECONDS, careless_session, pile, person, seed + k)
            outcome.note(not wrong, f"{pile}, {person}: {wrong}")
    return outcome


def careless_session(pile: str, person: str, seed: int) -> str:
    """What goes wrong when a person answers about a pile; empty if nothing does."""
    rng = np.random.default_rng(seed)
    X = piles(np.random.default_rng(seed))[pile].astype(np.float32)
    try:
        session = session_over(X, seed=seed)
        told = answer(session, PEOPLE[person], rng)
        contrary = contradict(session, rng) if person == AGAINST else {}
        session.refit()
        if pile in REFUSED:
            return "taken without a word"
        return _unkept(session, {**told, **contrary}) or _unsaid(session, person, contrary)
    except SamekindError as sentence:
        return "" if pile in REFUSED and str(sentence).startswith(REFUSED[pile]) else str(sentence)
    except Exception as problem:
        return repr(problem)


def answer(session: Session, person: Person, rng: np.random.Generator) -> dict[int, str]:
    """Let a person answer; returns the choices by the number of the question."""
    told: dict[int, str] = {}
    while len(told) < ANSWERS and (asked := session.ask()) is not None:
        told[asked.number] = person(asked.question, rng)
        session.tell(asked.number, told[asked.number])
        if len(told) % 5 == 0:
            session.refit()
    return told


def contradict(session: Session, rng: np.random.Generator) -> dict[int, str]:
    """Answer the contrary about some links that were given before; returns the choices."""
    links, told = session.constraints.links(), dict[int, str]()
    for k in rng.permutation(len(links.a))[:CONTRARY].tolist():
        asked = session.put_first(SamePair(int(links.a[k]), int(links.b[k])))
        told[asked.number] = "different" if links.same[k] else "same"
        session.tell(asked.number, told[asked.number])
    return told


def _unkept(session: Session, told: dict[int, str]) -> str:
    """What is wrong with the answers and with how the groups follow them."""
    if {one.number: one.choice for one in session.answers} != told:
        return f"{len(told)} answers were given, and others are kept"
    if len(session.clustering.labels) != len(session.collection):
        return "some items are in no group"
    wrong = broken(session)
    return f"the groups break answers {wrong}" if wrong else ""


def broken(session: Session) -> list[int]:
    """Numbers of the answers in force that the groups do not honour; 0: a link that follows."""
    labels, known = session.clustering.labels, session.constraints
    aside = {conflict.answer.number for conflict in known.conflicts}
    said = ((one.number, link) for one in session.answers for link in one.explicit)
    found = {
        number
        for number, (a, b, same) in said
        if number not in aside and (labels[a] == labels[b]) != same
    }
    implied = known.links(implied=True)
    if ((labels[implied.a] == labels[implied.b]) != implied.same).any():
        found.add(0)
    return sorted(found)


def _unsaid(session: Session, person: str, contrary: dict[int, str]) -> str:
    """What the session should have said about these answers, or should not have."""
    progress = session.progress()
    if wrong := unlisted(session, contrary):
        return wrong
    if progress["enough"]:
        return "somebody careless was told to stop"
    noticed = person not in (EVERYTHING, NEVER_SURE) or len(session.answers) < LONG_RUN
    return "" if noticed or progress["notice"] else "nothing was noticed"


def unlisted(session: Session, contrary: dict[int, str]) -> str:
    """What is wrong with the list of contradictions; these answers must be in it."""
    listed = contradictions(session)
    if len(listed) != session.progress()["conflicts"]:
        return "not every contradiction is listed"
    if missing := contrary.keys() - {one.conflict.answer.number for one in listed}:
        return f"the contradictions of answers {sorted(missing)} are not shown"
    if not all(one.chain and chain(one.conflict.clash) for one in listed):
        return "a contradiction is listed where there is none"
    return ""


def against_oneself(rounds: int, seed: int) -> Outcome:
    """People change their answers, and contradict them: contradictions are shown and settled."""
    outcome = Outcome()
    shown = 0
    for k in range(rounds):
        rng = np.random.default_rng(seed + k)
        session = session_over(rng.normal(size=(60, 4)).astype(np.float32), seed=k)
        told = answer(session, _random, rng)
        wrong = _edited(session, told, rng)
        if not wrong:
            contrary = contradict(session, rng)
            session.refit()
            shown += session.progress()["conflicts"]
            wrong = _unkept(session, {**told, **contrary})
            wrong = wrong or ("" if contrary else "nothing could be contradicted")
            wrong = wrong or unlisted(session, contrary) or _settled(session)
            wrong = wrong or _by_hand(session)
        outcome.note(not wrong, wrong)
    outcome.figures["contradictions"] = shown
    return outcome


def _edited(session: Session, told: dict[int, str], rng: np.random.Generator) -> str:
    """Change every answer; the new ones must be honoured."""
    for given in session.answers:
        others = [c for c in given.question.choices() if c != given.choice]
        told[given.number] = str(rng.choice(others))
        session.edit(given.number, told[given.number])
    session.refit()
    return _unkept(session, told) or unlisted(session, {})


def _settled(session: Session) -> str:
    """Settle one contradiction by changing the first suspect, and the others by undoing answers."""
    first = contradictions(session)[0]
    suspect = next((one for one in first.suspects if one.implied is not None), None)
    if suspect is None or suspect.implied is None:
        return "no answer of a contradiction can be changed so that the others hold"
    session.edit(suspect.answer.number, suspect.implied)
    numbers = {one.number for one in first.conflict.clash}
    for conflict in session.constraints.conflicts:
        if {one.number for one in conflict.clash} == numbers:
            return "a contradiction was settled, and is still there"
    while (left := session.constraints.conflicts) != ():
        session.undo(left[0].answer.number)
        if len(session.constraints.conflicts) >= len(left):
            return "an answer was undone, and its contradiction is still there"
    session.refit()
    return f"settled, and the groups break answers {wrong}" if (wrong := broken(session)) else ""


def _by_hand(session: Session) -> str:
    """Put two items together that an answer tells apart, and then let that answer count again."""
    said = ((one.number, link) for one in session.answers for link in one.explicit)
    number, link = next((number, link) for number, link in said if not link.same)
    act = perform(session, together(session, [link.a, link.b]))
    session.refit()
    labels = session.clustering.labels
    if session.constraints.conflicts or broken(session) or labels[link.a] != labels[link.b]:
        return "a change by hand did not outrank an answer"
    session.precedence.restore(number)
    session.refit()
    if labels_break := broken(session):
        return f"restored, and the groups break answers {labels_break}"
    return unlisted(session, {act: "yes"})


def always_same(rounds: int, seed: int) -> Outcome:
    """Fifty times "same" is one group."""
    outcome = Outcome()
    for k in range(rounds):
        rng = np.random.default_rng(seed + k)
        session = session_over(rng.normal(size=(120, 6)).astype(np.float32), seed=k)
        for told in range(50):
            asked = session.ask()
            if asked is None:
                break
            session.tell(asked.number, PEOPLE[EVERYTHING](asked.question, rng))
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
    with Watched() as watched:
        for k in range(rounds):
            begun = time.monotonic()
            wrong = watched.run(MAX_SECONDS, truthful_session, 5000, seed + k)
            outcome.note(not wrong, wrong)
            outcome.figures["seconds"] = round(time.monotonic() - begun, 1)
    return outcome


def truthful_session(n_kinds: int, seed: int) -> str:
    """What goes wrong with so many kinds of two items each; empty if nothing does."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(n_kinds), 2)
    X = np.repeat(rng.normal(size=(n_kinds, 16)), 2, axis=0)
    X = (X + rng.normal(scale=0.05, size=X.shape)).astype(np.float32)
    session = session_over(X, seed=seed)
    told = answer(session, _truthful(Truth(kinds)), rng)
    session.refit()
    few = "" if len(told) == ANSWERS else f"only {len(told)} questions were asked"
    return few or _unkept(session, told) or unlisted(session, {})


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
