"""Seconds of an answer: more to look at, to choose from and to tap takes longer."""

from __future__ import annotations

from itertools import pairwise

import pytest

from samekind.questions import KINDS, OddOnes, OneKind, SameGroups, SamePair, WhichGroup
from samekind.questions.seconds import LOOK, SCAN, TAP, expected_seconds


def placement(n_groups: int) -> WhichGroup:
    return WhichGroup(0, tuple((2 * k + 1, 2 * k + 2) for k in range(n_groups)))


def test_quick_questions_take_as_long_as_published_labelling_does() -> None:
    assert 1.5 < expected_seconds(SamePair(0, 1)) < 2.5
    assert 2.5 < expected_seconds(placement(5), "1") < expected_seconds(placement(5), "none") < 5
    assert 6 < expected_seconds(OddOnes((0,), tuple(range(1, 13))), "1,2") < 10


def test_a_person_looks_through_the_groups_up_to_the_chosen_one() -> None:
    seconds = [expected_seconds(placement(5), choice) for choice in "12345"]
    assert [b - a for a, b in pairwise(seconds)] == pytest.approx([0.5] * 4)
    assert expected_seconds(placement(5), "none") == pytest.approx(seconds[-1])
    assert min(seconds) < expected_seconds(placement(5)) < max(seconds)


def test_a_long_list_of_known_groups_is_searched_not_compared() -> None:
    far, near = (expected_seconds(placement(7), choice) for choice in ("7", "6"))
    assert far - near == pytest.approx(SCAN)


def test_each_picture_of_a_grid_is_looked_at_and_each_named_one_tapped() -> None:
    few, many = (OddOnes((0,), tuple(range(1, n + 1))) for n in (4, 12))
    assert expected_seconds(many, "none") - expected_seconds(few, "none") == pytest.approx(8 * LOOK)
    named = expected_seconds(many, "2,5,7") - expected_seconds(many, "none")
    assert named == pytest.approx(3 * TAP)
    assert expected_seconds(many, taps=3) == expected_seconds(many, "2,5,7")


def test_difficulty_slows_the_eyes_and_pace_everything() -> None:
    easy, hard = (expected_seconds(SamePair(0, 1), difficulty=d) for d in (0.0, 1.0))
    assert hard - easy == pytest.approx(2 * LOOK)
    assert expected_seconds(SamePair(0, 1), pace=2.0) == pytest.approx(2 * easy)


def test_every_kind_of_question_takes_time() -> None:
    some = {q.kind: q for q in (SameGroups((0, 1), (2,)), OneKind(((0, 1), (2,))))}
    assert set(some) <= set(KINDS)
    assert all(1.5 < expected_seconds(q) < 5 for q in some.values())
