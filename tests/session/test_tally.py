"""Counts and statements that follow a session from answer to answer are those of all answers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from piles import clouds, points
from samekind.questions import Answer
from samekind.session import Session
from samekind.session.quality import Statements, random_checks, statement
from samekind.session.tally import Tally
from samekind.simulation.people import Truth


def assert_counts(session: Session) -> None:
    """Compare what a session says with the counts over all of its answers."""
    answers, said = session.answers, session.progress()
    assert said["choices"] == dict(Counter(answer.choice for answer in answers))
    assert said["answers"] == len(answers)
    assert said["seconds"] == sum(answer.seconds or 0 for answer in answers)
    judged = [a for a in answers if a.question.expected and len(a.question.choices()) > 3]
    placed = [a for a in judged if a.choice != "unsure"]
    found = session.statement
    assert Tally.of(answers).placements == len(placed)
    assert (found.checks, found.agreed) == checked(placed)
    assert found == statement(answers, len(session.collection))
    kinds = session.constraints.kinds
    assert Tally.of(answers, len(session.collection)).fixed.count() == sum(map(len, kinds))


def checked(placed: list[Answer]) -> tuple[int, int]:
    checks = [(a.choice, a.question.expected) for a in random_checks(placed)]
    return len(checks), sum(bool(e and e.choice == said) for said, e in checks)


def test_every_answer_edit_and_undo_is_counted_once() -> None:
    X, kinds = clouds(300)
    session, person = Session(points(300), X, seed=2), Truth(kinds)
    rng = np.random.default_rng(0)
    for step in range(60):
        asked = session.ask()
        assert asked is not None
        choice = person.answer(asked.question) if rng.random() < 0.8 else "unsure"
        session.tell(asked.number, choice, seconds=float(rng.random()))
        if step % 7 == 3:
            again = session.answers[int(rng.integers(len(session.answers)))]
            session.edit(again.number, str(rng.choice(again.question.choices())))
        if step % 9 == 5:
            session.undo(session.answers[int(rng.integers(len(session.answers)))].number)
        if session.due:
            session.refit()
        assert_counts(session)


def test_only_what_has_changed_is_looked_at_again() -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, seed=2)
    asked = session.ask()
    assert asked is not None
    followed = Statements(session._ledger)
    first, tally = followed.now()
    session.tell(asked.number, Truth(kinds).answer(asked.question))
    then, _ = followed.now()
    assert then is not first and tally.answers == 1
    session.skip(next(iter(session._ledger.pending), 0) or session.ask().number)  # type: ignore[union-attr]
    session.refit()
    assert followed.now()[0] is then, "neither a skip nor a refit changes an answer"
