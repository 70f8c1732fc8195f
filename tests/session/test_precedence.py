"""Changes by hand outrank single answers: what they set aside, and how it counts again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from piles import points
from samekind.constraints import Constraints
from samekind.ledger.store import MemoryStore
from samekind.questions import YES, Answer, Belongs, Elsewhere, OneKind, OwnKind, SamePair
from samekind.session import Session, acts
from samekind.session.precedence import weigh
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

SIZE = 60
KINDS = np.arange(SIZE) % 3


def opened(store: Any = None, answers: int = 0) -> Session:
    rng = np.random.default_rng(3)
    X = rng.normal(scale=0.2, size=(SIZE, 6))
    X[np.arange(SIZE), KINDS] += 2.0
    session = Session(points(SIZE), X.astype(np.float32), store=store, seed=0)
    if answers:
        run(session, Truth(KINDS), answers)
        session.refit()
    return session


def home(session: Session, kind: int) -> int:
    return int(np.bincount(session.clustering.labels[kind == KINDS]).argmax())


def performed(session: Session, act: acts.Act) -> int:
    number = acts.perform(session, act)
    session.refit()
    return number


def test_groups_that_answers_told_apart_are_merged_by_hand() -> None:
    session = opened(answers=15)
    assert session.clustering.n_groups == 3
    before = session.constraints
    number = performed(session, acts.merge(session, *(home(session, kind) for kind in range(3))))
    assert session.clustering.n_groups == 1
    assert session.constraints.conflicts == () and session.precedence.by(number)
    assert session.undo() == number
    session.refit()
    assert session.clustering.n_groups == 3
    assert session.constraints.links() is not None
    assert [a.links for a in session.answers] == [a.links for a in before.answers]


def test_an_item_that_started_its_group_moves_alone() -> None:
    session = opened()
    session.volunteer(SamePair(0, 1), "different")
    for item in (3, 6, 9):
        session.volunteer(SamePair(item, 0), "same")
    for item in (4, 7):
        session.volunteer(SamePair(item, 1), "same")
    session.refit()
    performed(session, acts.move(session, [0], home(session, 1)))
    known = session.constraints
    assert known.same(0, 4) is True, "it moved"
    assert known.same(3, 9) is True, "those that it left stay together"
    assert known.same(3, 1) is False, "and apart from its new group"
    assert known.conflicts == ()


def test_what_was_set_aside_survives_a_restart_and_can_be_restored() -> None:
    store = MemoryStore()
    session = opened(store, answers=12)
    a, b = home(session, 0), home(session, 1)
    number = performed(session, acts.merge(session, a, b))
    aside = session.precedence.by(number)
    again = opened(store)
    assert again.precedence.by(number) == aside
    assert again.clustering.labels.tolist() == session.clustering.labels.tolist()
    assert again.constraints.conflicts == ()
    first = min(aside)
    again.precedence.restore(first)
    assert number not in again.precedence.over(first)
    (conflict,) = again.constraints.conflicts
    assert conflict.answer.number == number
    assert opened(store).constraints.conflicts[0].answer.number == number


def test_a_later_answer_does_not_outrank_a_change_by_hand() -> None:
    session = opened(answers=12)
    act = acts.merge(session, home(session, 0), home(session, 1))
    performed(session, act)
    one, other = act.question.given[0][0], act.question.given[1][0]
    session.volunteer(SamePair(one, other), "different")
    assert session.constraints.same(one, other) is True
    assert [c.answer.choice for c in session.constraints.conflicts] == ["different"]


def test_a_changed_answer_still_yields_to_the_change_by_hand() -> None:
    session = opened()
    session.volunteer(SamePair(0, 1), "different")
    number = acts.perform(session, acts.together(session, [0, 1, 2]))
    assert session.precedence.by(number).keys() == {1}
    session.edit(1, "same")
    session.edit(1, "different")
    assert session.constraints.same(0, 1) is True and session.constraints.conflicts == ()
    session.edit(number, "no")
    assert session.constraints.same(0, 1) is False


@pytest.mark.parametrize("seed", range(40))
def test_every_change_by_hand_is_obeyed_whatever_was_answered_before(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 9
    answers = []
    for k in range(12):
        a, b = rng.choice(n, 2, replace=False).tolist()
        answers.append(Answer(k + 1, SamePair(a, b), rng.choice(["same", "different"])))
    known = Constraints.from_answers(n, answers)
    x, a, b, c = rng.choice(n, 4, replace=False).tolist()
    for question in (
        OneKind(((x, a), (b,))),
        OwnKind(((x,), (a, b))),
        Belongs(((x,), (a,), (b,))) if known.same(a, b) is False else Belongs(((x,), (a,))),
        Elsewhere(((a,), (x, c))),
    ):
        found = weigh(known, question)
        held = [
            Answer(o.number, o.question, o.choice, aside=found.aside.get(o.number, frozenset()))
            for o in answers
        ]
        act = Answer(99, found.question, YES)
        after = Constraints.from_answers(n, [*held, act])
        assert act not in [conflict.answer for conflict in after.conflicts]
        for link in question.links(YES):
            assert after.same(link.a, link.b) is link.same
        untouched = [o for o in answers if o.number not in found.aside]
        assert {o.number for o in untouched} | found.aside.keys() == {o.number for o in answers}


def test_fifty_answers_same_leave_no_group_that_nobody_was_asked_about() -> None:
    X = np.random.default_rng(1).normal(size=(120, 6)).astype(np.float32)
    session = Session(points(120), X, seed=0)
    for n in range(1, 51):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, "1")
        if n % 5 == 0:
            session.refit()
    assert session.clustering.n_groups == 1
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, "none")
    session.refit()
    assert session.clustering.n_groups > 1, "another kind is not swallowed"


def test_fifty_answers_same_lead_to_one_group_and_the_first_hint_comes_once() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 8)) * 0.3 + c for c in rng.normal(size=(5, 8)) * 3])
    session = Session(points(300), X.astype(np.float32), seed=0)
    reasons = []
    for _ in range(50):
        asked = session.ask()
        assert asked is not None
        reasons.append(asked.question.why)
        assert asked.question.heading(lambda _: "") == "Are these the same kind?"
        session.tell(asked.number, "1")
        if session.due:
            session.refit()
    assert session.clustering.n_groups == 1
    assert session.clustering.membership is None or session.clustering.membership.shape[1] == 1
    assert reasons[0].startswith("To start with")
    assert not any(why.startswith("To start with") for why in reasons[1:])
