"""How long a person takes: what was published at first, what was measured later."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.questions import Answer, OddOnes, Question, SamePair, WhichGroup
from samekind.questions.seconds import effort, expected_seconds
from samekind.strategies.planner.answer_times import AnswerTimes

PAIR = SamePair(0, 1)
PLACEMENT = WhichGroup(0, ((1,), (2,)))
ODD = OddOnes((0,), tuple(range(1, 13)))


def told(question: Question, *seconds: float | None, choice: str = "") -> list[Answer]:
    choice = choice or question.choices()[0]
    return [Answer(k, question, choice, seconds=took) for k, took in enumerate(seconds)]


def test_before_anything_is_measured_the_published_times_hold() -> None:
    times = AnswerTimes.of([])
    for question in (PAIR, PLACEMENT, ODD):
        assert times.seconds(question) == expected_seconds(question)


def test_the_times_of_a_program_say_nothing() -> None:
    assert AnswerTimes.of(told(PAIR, *[0.0, 0.001, None] * 30)) == AnswerTimes()


def test_with_many_answers_the_persons_own_pace_holds() -> None:
    slow = 2.5 * expected_seconds(PLACEMENT, "1")
    times = AnswerTimes.of(told(PLACEMENT, *[slow] * 300))
    assert times.seconds(PLACEMENT, "1") == pytest.approx(slow, rel=0.05)
    # Nothing is known about grids, so they are expected to be as slow.
    assert times.seconds(ODD, "none") == pytest.approx(2.5 * expected_seconds(ODD, "none"), rel=0.1)


def test_few_answers_hardly_change_what_was_published() -> None:
    usual = expected_seconds(PAIR)
    assert usual < AnswerTimes.of(told(PAIR, 3 * usual)).seconds(PAIR) < 1.6 * usual


def test_a_break_for_coffee_does_not_make_a_person_slow() -> None:
    steady = AnswerTimes.of(told(PAIR, *[2.0] * 20)).seconds(PAIR)
    broken = AnswerTimes.of(told(PAIR, *[2.0] * 19, 1800.0)).seconds(PAIR)
    assert broken == pytest.approx(steady, rel=0.05)


def test_somebody_who_taps_slowly_is_told_from_somebody_who_looks_slowly() -> None:
    rng = np.random.default_rng(0)

    def measured(looking: float, tapping: float) -> AnswerTimes:
        answers = []
        for k in range(200):
            choice = ",".join(str(n + 1) for n in range(k % 9)) or "none"
            question = (PLACEMENT, ODD)[k % 2]
            choice = choice if question is ODD else "1"
            known = effort(question, choice)
            took = known.ready + looking * known.looking + tapping * known.tapping
            answers += told(question, took * rng.uniform(0.9, 1.1), choice=choice)
        return AnswerTimes.of(answers)

    slow_taps, slow_eyes = measured(1.0, 2.0), measured(2.0, 1.0)
    assert slow_taps.tapping > 1.6 and slow_taps.looking < 1.25
    assert slow_eyes.looking > 1.6 and slow_eyes.tapping < 1.25
