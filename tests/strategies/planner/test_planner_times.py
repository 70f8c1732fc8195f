"""How long a person takes: what is usual at first, what was measured later."""

from __future__ import annotations

import pytest

from samekind.questions import Answer, OddOnes, SameGroups, SamePair, WhichGroup
from samekind.strategies.planner.answer_times import AnswerTimes, default_seconds

PAIR = SamePair(0, 1)
PLACEMENT = WhichGroup(0, ((1,), (2,)))
ODD = OddOnes((0,), tuple(range(1, 13)))


def told(question: SamePair | WhichGroup, *seconds: float | None) -> list[Answer]:
    choice = question.choices()[0]
    return [Answer(k, question, choice, seconds=took) for k, took in enumerate(seconds)]


def test_before_anything_is_measured_the_usual_times_hold() -> None:
    times = AnswerTimes.of([])
    found = [times.seconds(q) for q in (PAIR, PLACEMENT, SameGroups((0,), (1,)), ODD)]
    assert found == [2.0, 4.0, 4.0, 14.0]


def test_the_times_of_a_program_say_nothing() -> None:
    assert AnswerTimes.of(told(PAIR, *[0.0, 0.001, None] * 30)) == AnswerTimes()


def test_with_many_answers_the_persons_own_time_holds() -> None:
    times = AnswerTimes.of(told(PAIR, *[6.0] * 400) + told(PLACEMENT, *[4.0] * 400))
    assert times.seconds(PAIR) == pytest.approx(6.0, rel=0.05)
    assert times.seconds(PLACEMENT) == pytest.approx(4.0, rel=0.05)


def test_few_answers_hardly_change_what_is_usual() -> None:
    assert 2.0 < AnswerTimes.of(told(PAIR, 6.0)).seconds(PAIR) < 3.0


def test_a_break_for_coffee_does_not_make_a_kind_slow() -> None:
    steady = AnswerTimes.of(told(PAIR, *[2.0] * 20)).seconds(PAIR)
    broken = AnswerTimes.of(told(PAIR, *[2.0] * 19, 1800.0)).seconds(PAIR)
    assert broken == pytest.approx(steady, rel=0.05)


def test_somebody_slow_who_only_placed_items_is_not_thought_quick_with_pairs() -> None:
    times = AnswerTimes.of(told(PLACEMENT, *[12.0] * 200))
    ratio = times.seconds(PAIR) / times.seconds(PLACEMENT)
    assert ratio == pytest.approx(default_seconds(PAIR) / default_seconds(PLACEMENT), rel=0.1)
