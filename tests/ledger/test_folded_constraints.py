"""Constraints are kept up with the ledger; undoing and reopening do not fold all answers again."""

from __future__ import annotations

import random

import pytest

from piles import points
from samekind.constraints import Constraints
from samekind.ledger.event_log import FEW_EVENTS, EventLog
from samekind.ledger.fold import LedgerState
from samekind.ledger.folded_constraints import N_UNFOLDED
from samekind.ledger.past_answers import PastAnswers
from samekind.ledger.store import MemoryStore
from samekind.questions import Answer, OneKind, SamePair

N = 20


def ask(log: EventLog, rng: random.Random) -> int:
    a, b = rng.sample(range(N), 2)
    name = log.positions.name
    log.append("proposed", {"snapshot": 0, "questions": [SamePair(a, b).to_json(name)]})
    return log.ledger.n_asked


def tell(log: EventLog, number: int, choice: str) -> None:
    log.append("told", {"number": number, "choice": choice, "by": "me"})


def act(log: EventLog, rng: random.Random) -> None:
    """One of the things that a person may do."""
    answers, kind = list(log.ledger.answers), rng.random()
    choice = rng.choice(("same", "different", "different", "unsure"))
    if kind < 0.55 or len(answers) < 4:
        tell(log, ask(log, rng), choice)
    elif kind < 0.75:
        log.append("undone", {"number": answers[-1]})
    elif kind < 0.82:
        log.append("undone", {"number": rng.choice(answers)})
    elif kind < 0.92:
        number = rng.choice(answers)
        tell(log, number, rng.choice(log.ledger.asked[number].question.choices()))
    else:  # a change by hand, against an earlier answer
        against = log.ledger.answers[rng.choice(answers)]
        name = log.positions.name
        question = OneKind((tuple(rng.sample(range(N), 2)),)).to_json(name)
        links = [[name(link.a), name(link.b), link.same] for link in against.links]
        aside = {str(against.number): links} if links else {}
        data = {"snapshot": 0, "questions": [question], "choice": "yes", "by": "me"}
        log.append("volunteered", {**data, "aside": aside} if aside else data)


def known(constraints: Constraints) -> object:
    pairs = [constraints.same(a, b) for a in range(N) for b in range(a)]
    clashes = [[answer.number for answer in one.clash] for one in constraints.conflicts]
    return constraints.answers, pairs, clashes


def slowly(log: EventLog, seq: int) -> tuple[Answer, ...]:
    state = LedgerState(log.positions)
    for event in log.store.read(log.name):
        if event.seq <= seq:
            state.fold(event)
    return tuple(state.answers.values())


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_done_the_constraints_are_those_of_the_answers(seed: int) -> None:
    rng = random.Random(seed)
    log = EventLog(MemoryStore(), "main", points(N))
    past = PastAnswers(log)
    for _ in range(120):
        act(log, rng)
        expected = Constraints.from_answers(N, log.ledger.answers.values())
        assert known(log.constraints) == known(expected)
        seq = rng.randint(max(0, log.ledger.seq - 12), log.ledger.seq)
        assert past.answers_at(seq) == slowly(log, seq)
        assert known(log.constraints_of(past.answers_at(seq))) == known(
            Constraints.from_answers(N, slowly(log, seq))
        )


@pytest.fixture
def long() -> EventLog:
    """A ledger that was opened again after many answers."""
    rng = random.Random(0)
    store = MemoryStore()
    log = EventLog(store, "main", points(N))
    for _ in range(FEW_EVENTS):
        tell(log, ask(log, rng), rng.choice(("same", "different")))
    return EventLog(store, "main", points(N))


def test_the_last_answers_are_undone_without_folding_all_others(
    long: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> Constraints:
        raise AssertionError("all answers were folded again")

    with monkeypatch.context() as broken:
        broken.setattr(Constraints, "from_answers", fail)
        before = long.constraints
        tell(long, ask(long, random.Random(1)), "same")
        long.append("undone", {"number": long.ledger.n_asked})
        assert long.constraints is before
        for _ in range(N_UNFOLDED):
            long.append("undone", {"number": list(long.ledger.answers)[-1]})
    assert known(long.constraints) == known(
        Constraints.from_answers(N, long.ledger.answers.values())
    )


def test_the_answers_of_the_last_refit_are_known_without_reading_the_ledger_again(
    long: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    seq, expected = long.ledger.seq - 4, slowly(long, long.ledger.seq - 4)
    monkeypatch.setattr(long.store, "read", None)
    monkeypatch.setattr(Constraints, "from_answers", None)
    found = PastAnswers(long).answers_at(seq)
    assert found == expected
    assert long.constraints_of(found).answers == expected
