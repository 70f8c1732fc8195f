"""What the groups implied is noted with each question, survives a restart, and is not shown."""

from __future__ import annotations

import numpy as np

from piles import clouds, points
from samekind.clustering import Clustering
from samekind.ledger.store import MemoryStore
from samekind.questions import Belongs, Expectation, SamePair, WhichGroup, question_from_json
from samekind.session import Session
from samekind.session.expectations import clearness, expectation
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

LABELS = [0, 0, 0, 1, 1, 1]
MEMBERSHIP = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.1, 0.9], [0.3, 0.7], [0.45, 0.55]])
GROUPS = Clustering.first(LABELS, np.zeros((6, 2)), MEMBERSHIP)


def test_it_is_the_answer_if_the_groups_are_right() -> None:
    assert expectation(WhichGroup(2, ((4, 3), (0, 1))), GROUPS) == Expectation("2", 0.25)
    assert expectation(WhichGroup(2, ((4,),)), GROUPS) == Expectation("none", 0.25)
    pair = expectation(SamePair(0, 5), GROUPS)
    assert pair is not None and pair.choice == "different"
    assert expectation(Belongs(((0,), (3,))), GROUPS) is None, "the person chose it"


def test_clearness_is_the_share_of_items_that_are_less_clear() -> None:
    assert clearness(GROUPS, np.array([5, 0])).tolist() == [0.5 / 6, 5 / 6]
    alike = Clustering.first([0, 0, 1, 1], np.zeros((4, 1)), np.eye(2)[[0, 0, 1, 1]])
    assert clearness(alike, np.arange(4)).tolist() == [0.5] * 4


def test_it_is_kept_in_the_ledger() -> None:
    question = WhichGroup(7, ((1,), (2,)), expected=Expectation("2", 0.4))
    assert question_from_json(question.to_json(str), int).expected == Expectation("2", 0.4)
    assert "expected" not in WhichGroup(7, ((1,), (2,))).to_json(str)
    X, kinds = clouds(120)
    store = MemoryStore()
    session = Session(points(120), X, store=store, seed=1)
    run(session, Truth(kinds), 12)
    noted = [answer.question.expected for answer in session.answers]
    assert all(one is not None for one in noted)
    again = Session(points(120), X, store=store, seed=1)
    assert [answer.question.expected for answer in again.answers] == noted
