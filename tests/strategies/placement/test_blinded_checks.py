"""Where a group is shown says nothing about what the learner believes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from piles import points
from samekind.questions import Answer, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth


@pytest.fixture(scope="module")
def placements() -> list[Answer]:
    """Sixty true answers about four kinds of equal size."""
    rng = np.random.default_rng(0)
    kinds = np.arange(400) % 4
    X = (rng.normal(size=(400, 6)) + 3.0 * np.eye(4, 6)[kinds]).astype(np.float32)
    session = Session(points(400), X, seed=3)
    run(session, Truth(kinds), 60)
    four = [a for a in session.answers if isinstance(a.question, WhichGroup)]
    return [a for a in four if len(a.question.groups) == 4]


def test_true_answers_are_spread_over_the_places(placements: list[Answer]) -> None:
    chosen = Counter(answer.choice for answer in placements)
    assert len(placements) > 40
    assert max(chosen[str(k)] for k in range(1, 5)) < 0.5 * len(placements)


def test_a_group_keeps_its_place(placements: list[Answer]) -> None:
    shown = [answer.question.groups for answer in placements if answer.question.groups]
    kinds = [[group[0] % 4 for group in groups] for groups in shown]
    assert all(order == kinds[0] for order in kinds)


def test_a_check_looks_like_any_other_question(placements: list[Answer]) -> None:
    checks = [a.question for a in placements if a.question.at_random]
    others = [a.question for a in placements if not a.question.at_random]
    assert checks and others
    shape = "Your answer helps place", "Its group is less clear than most."
    assert all(question.why.startswith(shape) for question in (*checks, *others))
    assert {len(q.groups) for q in checks} == {len(q.groups) for q in others}
    assert {q.prompt for q in checks} == {q.prompt for q in others}
