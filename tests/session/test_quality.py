"""Random checks: an honest estimate of the quality, from the answers alone."""

from __future__ import annotations

import numpy as np
import pytest

from piles import clouds, points
from samekind.clusterers.live.estimator import Live
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.questions import Answer, SamePair, WhichGroup, question_from_json
from samekind.session import Session
from samekind.session.quality import (
    Moves,
    Quality,
    constraints_without,
    describe_quality,
    expected_gain,
    interval,
    quality_summary,
    random_checks,
    share_moved,
)
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

LABELS = np.array([0, 0, 1] + [0] * 97)


def answered(said: list[bool]) -> list[Answer]:
    """Answers to random checks that agree with the labels, or do not."""
    return [
        Answer(k, WhichGroup(k + 10, ((1,), (2,)), at_random=True), "1" if agrees else "2")
        for k, agrees in enumerate(said)
    ]


def test_only_random_checks_count_and_too_few_say_nothing() -> None:
    chosen = [Answer(90 + k, SamePair(0, k + 1), "same") for k in range(30)]
    assert random_checks(chosen) == []
    assert Quality.of(answered([True] * 4), LABELS) is None
    found = Quality.of(random_checks([*chosen, *answered([True] * 9 + [False])]), LABELS)
    assert found is not None and (found.checks, found.agreed) == (10, 9)
    assert found.low < 0.9 < found.high


def test_an_unsure_answer_to_a_check_is_no_disagreement() -> None:
    unsure = [Answer(50 + k, WhichGroup(80, ((1,),), at_random=True), "unsure") for k in range(9)]
    assert len(random_checks([*answered([True] * 6), *unsure])) == 6


def test_none_of_these_agrees_with_a_group_that_was_not_shown() -> None:
    none = [Answer(k, WhichGroup(k + 10, ((2,),), at_random=True), "none") for k in range(6)]
    found = Quality.of(none, LABELS)
    assert found is not None and found.agreed == 6
    shown = [Answer(k, WhichGroup(k + 10, ((1,),), at_random=True), "none") for k in range(6)]
    found = Quality.of(shown, LABELS)
    assert found is not None and found.agreed == 0


def test_an_item_of_a_check_is_forgotten_but_not_what_it_taught_of_others() -> None:
    links = [(0, 1, False), (0, 2, True), (1, 3, True), (0, 9, True), (9, 5, False), (5, 6, True)]
    known = constraints_without(Constraints.from_links(10, links), [9, 0])
    assert known.touched.tolist() == [1, 2, 3, 5, 6]
    assert known.same(1, 3) and known.same(5, 6)
    assert known.same(2, 1) is False and known.same(2, 5) is False


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
    assert share_moved(first) is None
    assert share_moved(first.followed_by([0, 0, 0, 1], first.space)) == 0.25
    assert share_moved(first.followed_by([5, 5, 2, 2], first.space)) == 0.0


def after(*moved_per_refit: int, n: int = 1000, every: int = 5) -> Moves:
    """Refits after every fifth answer, from the twentieth on, that moved so many of 1000 items."""
    moves = Moves(20)
    labels = np.arange(n) % 2
    for k, count in enumerate(moved_per_refit, start=1):
        now = labels.copy()
        now[:count] = 1 - now[:count]
        before = Clustering.first(labels, np.zeros((n, 1)))
        moves = moves.then(20 + every * k, before.followed_by(now, before.space))
    return moves


def test_the_gain_follows_what_the_latest_ten_answers_moved() -> None:
    gain = expected_gain(after(300, 40, 40), None, 1000)
    assert gain == {"answers": 20, "items": 20, "share": 0.021, "little": False}
    assert expected_gain(after(40), None, 1000) is None, "five answers say too little"
    assert expected_gain(Moves(), None, 1000) is None


def test_no_more_items_can_be_gained_than_the_checks_say_are_out_of_place() -> None:
    perfect = Quality.of(answered([True] * 24), LABELS)
    assert perfect is not None
    assert expected_gain(after(80, 80), perfect, 1000) == expected_gain(after(80, 80), None, 1000)
    gain = expected_gain(after(400, 400), perfect, 1000)
    assert gain is not None and gain["share"] == round(1 - perfect.low + 0.001, 4)


def test_answers_taken_back_and_a_fresh_start_are_no_moves() -> None:
    moves = after(40, 40)
    still = Clustering.first([0, 1], np.zeros((2, 1)))
    same = still.followed_by([0, 1], still.space)
    assert moves.then(22, same).steps == moves.steps
    assert moves.then(40, still).per_answer() is None


def test_one_may_stop_when_more_answers_change_little_and_checks_tell_the_quality() -> None:
    first = Clustering.first([0, 0, 1, 1], np.zeros((4, 2)))
    little, much = (expected_gain(after(*m), None, 1000) for m in ((0, 1), (40, 40)))
    good = Quality.of(answered([True] * 24), LABELS)
    assert quality_summary(good, first, little)["enough"]
    assert describe_quality(quality_summary(good, first, little)).endswith(
        "More answers will change little. You can stop here."
    )
    assert not quality_summary(good, first, much)["enough"]
    assert describe_quality(quality_summary(good, first, much)).endswith(
        "put about 20 more items in place."
    )
    assert not quality_summary(None, first, little)["enough"], (
        "without checks nobody knows how good it is"
    )
    assert not quality_summary(good, first)["enough"]
    assert describe_quality(quality_summary(None, first)) == ""


def test_progress_tells_the_gain_once_there_are_enough_answers() -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, clusterer=Live(), strategy="live", seed=2)
    run(session, Truth(kinds), 15)
    assert session.progress()["gain"] is None
    run(session, Truth(kinds), 45)
    told = session.progress()
    assert told["gain"]["answers"] == 20 and told["gain"]["little"] and told["enough"]
    assert "You can stop here" in describe_quality(told)


def test_a_ledger_remembers_what_was_asked_at_random() -> None:
    question = WhichGroup(7, ((1,), (2,)), why="w", at_random=True)
    again = question_from_json(question.to_json(str), int)
    assert again.at_random and again == WhichGroup(7, ((1,), (2,)))
    assert "at_random" not in WhichGroup(7, ((1,), (2,))).to_json(str)


def test_every_eighth_question_of_live_is_a_check_and_the_estimate_is_near_the_truth() -> None:
    X, kinds = clouds(400)
    session = Session(points(400), X, clusterer=Live(), strategy="live", seed=2)
    run(session, Truth(kinds), 80)
    checks = [a for a in session.answers if a.question.at_random]
    assert 8 <= len(checks) <= 10
    told = session.progress()["quality"]
    assert told["checks"] == len(checks) and told["low"] <= 1.0 <= told["high"]
    assert told["agreed"] >= len(checks) - 1
    again = Session(points(400), X, clusterer=Live(), strategy="live", seed=2)
    run(again, Truth(kinds), 80)
    assert [a.question for a in again.answers] == [a.question for a in session.answers]
