"""Statements about the quality: from the answers alone, the same everywhere and after a restart."""

from __future__ import annotations

import numpy as np
import pytest

from piles import clouds, points
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.records import Refitted
from samekind.ledger.store import MemoryStore
from samekind.questions import Answer, SamePair, WhichGroup, question_from_json
from samekind.session import Session
from samekind.session.accuracy import Accuracy
from samekind.session.quality import (
    Quality,
    constraints_without,
    describe_quality,
    expected_gain,
    group_fits,
    interval,
    moved_lately,
    random_checks,
    share_moved,
)
from samekind.simulation.curve_recorder import in_place
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth

LABELS = np.array([0, 0, 1] + [0] * 97)
GOOD = Accuracy(0.97, 0.9, 0.99, 40, 0.02, tuple(np.linspace(0.94, 1.0, 40)))
POOR = Accuracy(0.8, 0.6, 0.9, 40, 0.02, tuple(np.linspace(0.6, 1.0, 40)))


def answered(said: list[bool]) -> list[Answer]:
    """Answers to random checks that agree with the labels, or do not."""
    return [
        Answer(k, WhichGroup(k + 10, ((1,), (2,)), at_random=True), "1" if agrees else "2")
        for k, agrees in enumerate(said)
    ]


def test_only_random_checks_compare_clusterings_and_too_few_say_nothing() -> None:
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


def refits(*steps: tuple[int, float | None]) -> list[Refitted]:
    """Refits on so many answers, each with the share that it moved."""
    return [Refitted(k, k, 2, {}, *step) for k, step in enumerate(steps)]


def test_the_latest_ten_answers_count_and_a_fresh_start_moves_nothing() -> None:
    steps = [(0, None), (5, None), (10, 0.5), (15, 0.04), (20, 0.02)]
    assert moved_lately(refits(*steps)) == pytest.approx(0.06)
    assert moved_lately(refits(*steps, (26, 0.01))) == pytest.approx(0.03 * 10 / 11)
    assert moved_lately(refits(*steps[:3])) is None, "ten answers have not moved anything yet"
    assert moved_lately(refits(*steps, (19, 0.0))) == pytest.approx(0.06), "one was taken back"


def test_what_refits_moved_for_answers_that_were_taken_back_no_longer_counts() -> None:
    steps = [(0, None), (5, 0.01), (10, 0.02), (15, 0.3), (20, 0.4)]
    assert moved_lately(refits(*steps)) == pytest.approx(0.7)
    assert moved_lately(refits(*steps, (10, 0.5))) == pytest.approx(0.03)
    assert moved_lately(refits(*steps, (10, 0.5), (15, 0.0))) == pytest.approx(0.02)
    for left in (9, 5, 1, 0):
        assert moved_lately(refits(*steps, (left, 0.5))) is None, left
    assert moved_lately(refits((0, None), (12, 0.1), (24, 0.2), (3, 0.3))) is None
    assert moved_lately([]) is None


def test_nothing_is_said_of_a_gain_where_nothing_is_known_of_the_groups() -> None:
    session = Session(points(120), np.random.default_rng(1).normal(size=(120, 2)))
    person = Truth(np.random.default_rng(11).integers(4, size=120))
    run(session, person, 27)
    for left in (5, 3, 1, 0):
        while len(session.answers) > left:
            session.undo()
        session.refit()
        assert session.progress()["gain"] is None and told(session) == "", left


def test_nothing_is_said_of_a_gain_from_labels_or_answers_by_hand() -> None:
    X = np.random.default_rng(1).normal(size=(120, 2))
    session = Session(points(120), X)
    session.import_labels(np.random.default_rng(2).integers(4, size=120).astype(str).tolist())
    assert session.ask() is None and told(session) == ""
    session = Session(points(120), X)
    for k in range(60):
        session.volunteer(SamePair(k % 5, (k + 1 + k // 5 % 4) % 5), "same")
        if session.due:
            session.refit()
    assert session.progress()["placed"] == 5 and told(session) == ""


def test_stopping_is_suggested_if_little_moves_and_nearly_all_is_in_place() -> None:
    def little(moved: float, accuracy: Accuracy) -> bool:
        gain = expected_gain(moved, accuracy, 1000)
        assert gain is not None
        return bool(gain["little"])

    assert little(0.004, GOOD)
    assert not little(0.05, GOOD), "the groups still move"
    assert not little(0.004, POOR)
    assert expected_gain(None, GOOD, 1000) is None and expected_gain(0.004, None, 1000) is None
    gain = expected_gain(0.01, GOOD, 1000)
    assert gain is not None and (gain["answers"], gain["items"]) == (10, 2)


def test_the_fit_of_groups_is_calibrated_and_adds_up_to_the_accuracy() -> None:
    rng = np.random.default_rng(0)
    sure = np.sort(rng.uniform(0.5, 1.0, 300))
    membership = np.stack([sure, 1 - sure], axis=1)
    membership[150:] = membership[150:, ::-1]
    groups = Clustering.first(np.arange(300) // 150, np.zeros((300, 1)), membership)
    fits = group_fits(groups, POOR)
    assert fits[1] is not None and fits[2] is not None
    assert fits[1] == pytest.approx(0.7, abs=0.01) and fits[2] == pytest.approx(0.9, abs=0.01)
    assert set(group_fits(groups, None).values()) == {None}


def test_the_fit_of_a_group_counts_what_the_person_put_there() -> None:
    sure = np.concatenate([np.ones(60), np.linspace(0.5, 0.9, 140)])
    membership = np.stack([sure, 1 - sure], axis=1)
    membership[50:] = membership[50:, ::-1]
    groups = Clustering.first(1 * (np.arange(200) >= 50), np.zeros((200, 1)), membership)
    found = Accuracy(0.6, 0.5, 0.7, 40, 0.02, (0.4,) * 40, fixed=0.3)
    fits = group_fits(groups, found)
    assert fits[int(groups.labels[0])] == pytest.approx(0.98), "the person put all of them there"
    assert fits[int(groups.labels[199])] == pytest.approx((10 * 0.98 + 140 * 0.4) / 150)


def asked_to_the_end(n: int, seed: int, slips: float = 0.0) -> tuple[Session, float]:
    """A session about items whose kinds cannot be seen, and the share that is in place."""
    kinds = np.random.default_rng(seed + 10).integers(4, size=n)
    truth = Truth(kinds)
    X = np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)
    session, person = Session(points(n), X), Noisy(truth, slips, seed) if slips else truth
    while asked := session.ask():
        session.tell(asked.number, person.answer(asked.question))
        if session.due:
            session.refit()
    session.refit()
    return session, in_place(session, kinds)


@pytest.mark.parametrize("n", [12, 20, 30, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_items_that_the_person_placed_are_not_guesses(n: int, seed: int) -> None:
    session, right = asked_to_the_end(n, seed)
    said = session.progress()
    assert right == 1.0 and said["placed"] == n
    assert said["quality"]["low"] <= 1.0 <= said["quality"]["high"], told(session)
    assert said["quality"]["share"] > 0.8, "only slips can be wrong"
    assert said["gain"] is None, "nothing is left to ask"


def test_someone_who_slips_has_not_placed_everything_right() -> None:
    for seed in range(3):
        session, right = asked_to_the_end(40, seed, slips=0.1)
        found = session.progress()["quality"]
        assert found["share"] < 0.97 and found["words"].startswith("About")
        assert found["low"] <= right <= found["high"]


def test_nothing_is_left_to_ask_where_the_person_is_not_sure() -> None:
    X, kinds = clouds(40)
    session, person = Session(points(40), X, seed=2), Truth(kinds)
    run(session, person, 30)
    assert session.statement.left == 40 - session.progress()["placed"]
    while asked := session.ask():
        session.tell(asked.number, "unsure")
        session.refit()
    said = session.progress()
    assert said["placed"] < 40 and session.statement.left == 0 and said["gain"] is None


def told(session: Session) -> str:
    return describe_quality(session.progress())


def test_stop_advice_comes_early_and_the_verdict_survives_a_restart() -> None:
    X, kinds = clouds(400)
    store = MemoryStore()
    session = Session(points(400), X, store=store, seed=2)
    run(session, Truth(kinds), 30)
    assert session.progress()["enough"], told(session)
    assert told(session).endswith("You can stop here.") and " % right (" in told(session)
    found = session.progress()["quality"]
    assert found["low"] <= 1.0 and found["share"] > 0.93
    again = Session(points(400), X, store=store, seed=2)
    assert told(again) == told(session) and again.quality == session.quality


def test_an_edited_answer_is_judged_anew_and_one_taken_back_no_longer_counts() -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, seed=2)
    run(session, Truth(kinds), 24)
    before, number = session.quality, session.answers[-1].number
    answer = session.answers[-1]
    session.edit(number, "1" if answer.choice == "2" else "2")
    assert before is not None and session.quality is not None
    assert session.quality.share < before.share
    session.edit(number, answer.choice)
    assert session.quality == before
    session.undo()
    assert session.quality is not None and session.quality.placements == before.placements - 1


def test_the_same_choice_again_and_again_is_noticed_and_never_enough() -> None:
    X, kinds = clouds(300)
    session = Session(points(300), X, seed=2)
    run(session, Truth(kinds), 8)

    class First:
        def answer(self, question: object) -> str:
            return "1"

    run(session, First(), 12)
    for _ in range(4):
        progress = session.progress()
        assert progress["quality"] is None and not progress["enough"]
        assert "all the same choice" in describe_quality(progress)
        assert "stop" not in describe_quality(progress)
        run(session, First(), 5)


def test_a_ledger_remembers_what_was_asked_at_random() -> None:
    question = WhichGroup(7, ((1,), (2,)), why="w", at_random=True)
    again = question_from_json(question.to_json(str), int)
    assert again.at_random and again == WhichGroup(7, ((1,), (2,)))
    assert "at_random" not in WhichGroup(7, ((1,), (2,))).to_json(str)


def test_every_eighth_question_of_live_is_a_check() -> None:
    X, kinds = clouds(400)
    session = Session(points(400), X, seed=2)
    run(session, Truth(kinds), 48)
    checks = [a for a in session.answers if a.question.at_random]
    assert 4 <= len(checks) <= 6
    assert session.progress()["quality"]["checks"] == len(checks)
    again = Session(points(400), X, seed=2)
    run(again, Truth(kinds), 48)
    assert [a.question for a in again.answers] == [a.question for a in session.answers]
