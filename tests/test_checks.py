"""Random checks: an honest estimate of the quality, from the answers alone."""

from __future__ import annotations

import numpy as np
import pytest

from piles import clouds, points
from samekind.checks import Quality, interval, moved, trust
from samekind.clusterers.live import Live
from samekind.clustering import Clustering
from samekind.oracles import Truth
from samekind.questions import Answer, SamePair, WhichGroup, question_from_json
from samekind.session import Session
from samekind.simulate import run


def answered(said: list[bool]) -> list[Answer]:
    """Answers to random checks that agree or do not."""
    return [
        Answer(k, WhichGroup(k + 10, ((1,), (2,)), expected="1"), "1" if agrees else "2")
        for k, agrees in enumerate(said)
    ]


def test_only_random_checks_count_and_too_few_say_nothing() -> None:
    chosen = [Answer(90 + k, SamePair(0, k + 1), "same") for k in range(30)]
    assert Quality.of(chosen) is None
    assert Quality.of([*chosen, *answered([True] * 4)]) is None
    found = Quality.of([*chosen, *answered([True] * 9 + [False])])
    assert found is not None and (found.checks, found.agreed) == (10, 9)
    assert found.low < 0.9 < found.high


def test_an_unsure_answer_to_a_check_is_no_disagreement() -> None:
    unsure = [Answer(50 + k, WhichGroup(80, ((1,),), expected="1"), "unsure") for k in range(9)]
    found = Quality.of([*answered([True] * 6), *unsure])
    assert found is not None and found.checks == found.agreed == 6


@pytest.mark.parametrize("share", [0.6, 0.9, 0.98])
@pytest.mark.parametrize("checks", [6, 12, 24])
def test_the_interval_holds_the_truth_in_at_least_95_of_100_cases(
    share: float, checks: int
) -> None:
    drawn = np.random.default_rng(0).binomial(checks, share, 2000)
    ends = {k: interval(k, checks) for k in range(checks + 1)}
    covered = np.mean([ends[k][0] <= share <= ends[k][1] for k in drawn.tolist()])
    assert covered >= 0.945  # 95 %, less what 2000 draws may miss


def test_the_share_of_moved_items_comes_from_the_last_refit() -> None:
    first = Clustering.first([0, 0, 1, 1], np.zeros((4, 2)))
    assert moved(first) is None
    assert moved(first.followed_by([0, 0, 0, 1], first.space)) == 0.25
    assert moved(first.followed_by([5, 5, 2, 2], first.space)) == 0.0


def test_enough_needs_good_checks_and_steady_groups() -> None:
    first = Clustering.first([0, 0, 1, 1], np.zeros((4, 2)))
    steady, restless = (first.followed_by(x, first.space) for x in ([0, 0, 1, 1], [0, 1, 1, 1]))
    good, poor = answered([True] * 24), answered([True] * 18 + [False] * 6)
    assert trust(good, steady)["enough"]
    assert not trust(good, restless)["enough"]
    assert not trust(poor, steady)["enough"]
    assert not trust(good[:4], steady)["enough"]


def test_what_was_expected_is_kept_in_the_ledger_but_does_not_make_another_question() -> None:
    question = WhichGroup(7, ((1,), (2,)), why="w", expected="2")
    again = question_from_json(question.to_json(str), int)
    assert again.expected == "2" and again == WhichGroup(7, ((1,), (2,)))
    assert "expected" not in WhichGroup(7, ((1,), (2,))).to_json(str)


def test_every_eighth_question_of_live_is_a_check_and_the_estimate_is_near_the_truth() -> None:
    X, kinds = clouds(400)
    session = Session(points(400), X, clusterer=Live(), strategy="live", seed=2)
    run(session, Truth(kinds), 80)
    checks = [a for a in session.answers if a.question.expected is not None]
    assert 8 <= len(checks) <= 10
    told = session.progress()["quality"]
    assert told["checks"] == len(checks) and told["low"] <= 1.0 <= told["high"]
    assert told["agreed"] >= len(checks) - 1
    again = Session(points(400), X, clusterer=Live(), strategy="live", seed=2)
    run(again, Truth(kinds), 80)
    assert [a.question for a in again.answers] == [a.question for a in session.answers]
