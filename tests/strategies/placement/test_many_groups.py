"""Placement with many kinds: all of them at once, and no item page after page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from piles import points
from samekind.questions import Answer, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

KINDS = 14


@pytest.fixture(scope="module", params=["placement", "live", "margin"])
def answers(request: Any) -> tuple[Answer, ...]:
    """Sixty true answers about fourteen kinds of items."""
    rng = np.random.default_rng(1)
    kinds = np.arange(420) % KINDS
    X = (rng.normal(size=(KINDS, 8))[kinds] + rng.normal(scale=0.3, size=(420, 8))) / 3

    session = Session(points(420), X, strategy=request.param)
    run(session, Truth(kinds), 60)
    return session.answers


def placements(answers: tuple[Answer, ...]) -> list[tuple[WhichGroup, str]]:
    return [(a.question, a.choice) for a in answers if isinstance(a.question, WhichGroup)]


def test_from_eight_kinds_on_all_are_shown_and_none_is_a_new_group(
    answers: tuple[Answer, ...],
) -> None:
    asked = [question for question, _ in placements(answers)]
    few = [question for question in asked if not question.all_groups]
    complete = [question for question in asked if question.all_groups]
    assert max(len(question.groups) for question in few) == WhichGroup.usual_groups
    assert len(complete) > 30
    assert max(len(question.groups) for question in complete) >= 10
    far = [group for question in complete for group in question.groups[5:]]
    assert max(map(len, far)) == 2


def test_no_item_is_walked_through_pages_of_groups(answers: tuple[Answer, ...]) -> None:
    asked = [(q.item, q.all_groups) for q, _ in placements(answers)]
    late = [item for item, complete in asked if complete]
    assert len(late) == len(set(late))


def test_the_nearest_group_comes_first(answers: tuple[Answer, ...]) -> None:
    chosen = [c for q, c in placements(answers) if q.all_groups and c.isdecimal()]
    assert np.mean([choice == "1" for choice in chosen]) > 0.5
