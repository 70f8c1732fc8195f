"""People who press the same key, or any key, or are never sure, are noticed; careful ones are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from piles import clouds, points
from samekind.questions import UNSURE, Answer, Expectation, OneKind, SamePair, WhichGroup
from samekind.session import Session
from samekind.session.attention import LONG_RUN, N_UNSURE, attention
from samekind.session.quality import describe_quality
from samekind.session.report import report
from samekind.simulation.people import Truth


def said(pairs: Sequence[tuple[str, str]]) -> list[Answer]:
    """Placements among three groups, latest first: what was said, and what the groups implied."""
    return [
        Answer(k, WhichGroup(k + 9, ((1,), (2,), (3,)), expected=Expectation(implied, 0.5)), choice)
        for k, (choice, implied) in enumerate(pairs)
    ][::-1]


def drawn(n: int, seed: int = 0) -> list[str]:
    return np.random.default_rng(seed).choice(["1", "2", "3"], n).tolist()


def test_careful_answers_give_no_reason_to_look_again() -> None:
    kinds = drawn(40)
    implied = [kind if k % 4 else "3" for k, kind in enumerate(kinds)]
    found = attention(said(list(zip(kinds, implied, strict=True))))
    assert found.notice == "" and found.is_enough


def test_the_same_choice_in_a_row_is_noticed_until_another_one_comes() -> None:
    implied = drawn(8)
    careful = [(kind, kind) for kind in implied]
    lazy = [("1", "1")] * LONG_RUN
    found = attention(said([*careful, *lazy]))
    assert found.is_monotone and not found.is_enough and str(found.run) in found.notice
    assert not attention(said([*careful, *lazy[1:]])).is_monotone or careful[-1][0] == "1"
    assert not attention(said([*careful, *lazy, ("2", "2")])).is_monotone


def test_answers_that_nothing_predicts_are_noticed() -> None:
    found = attention(said(list(zip(drawn(40, 1), drawn(40, 2), strict=True))))
    assert "could not be predicted" in found.notice and not found.is_enough
    mostly = ["1" if k % 5 else c for k, c in enumerate(drawn(40, 3))]
    found = attention(said([(choice, "1") for choice in mostly]))
    assert found.is_monotone, "the groups have learnt the habit: agreement proves nothing"
    assert "Most of your latest answers" in found.notice


def test_a_common_kind_that_is_told_from_the_others_is_no_habit() -> None:
    kinds = ["1" if k % 7 else "2" for k in range(40)]
    found = attention(said([(kind, kind) for kind in kinds]))
    assert found.notice == "" and found.is_enough


def test_the_first_of_groups_in_the_order_of_belief_is_no_habit() -> None:
    groups = tuple((g,) for g in range(8))
    first = Expectation("1", 0.5)

    def chosen(k: int, *, at_random: bool) -> Answer:
        asked = WhichGroup(k + 9, groups, all_groups=True, at_random=at_random, expected=first)
        return Answer(k, asked, "1")

    assert attention([chosen(k, at_random=False) for k in range(40)]).notice == ""
    assert attention([chosen(k, at_random=True) for k in range(40)]).is_monotone


def test_no_more_answers_are_looked_at_than_are_needed() -> None:
    kinds = drawn(5000)
    latest_first = iter(said([(kind, kind) for kind in kinds]))
    assert attention(latest_first).kappa == 1.0
    assert next(latest_first).number == 5000 - 31
    chosen = ["1"] * 40 + ["2"] * 500
    assert attention(said([(choice, choice) for choice in chosen])).run == 500


def test_few_answers_are_not_judged() -> None:
    assert attention([]).notice == ""
    assert attention(said([("1", "2")] * 5)).notice == ""


def test_everything_in_one_group_is_noticed_too() -> None:
    alone = [Answer(k, WhichGroup(k + 9, ((1,),)), "1") for k in range(LONG_RUN)]
    assert attention(alone).is_monotone and not attention(alone[1:]).notice


def unsure(n: int) -> list[tuple[str, str]]:
    return [(UNSURE, "1")] * n


def test_not_sure_again_and_again_is_noticed_until_a_real_answer_comes() -> None:
    few = [(kind, kind) for kind in drawn(8)]
    found = attention(said([*few, *unsure(LONG_RUN)]))
    assert f"not sure about the last {LONG_RUN} questions" in found.notice
    assert not found.is_enough and not found.is_monotone
    assert attention(said([*few, *unsure(LONG_RUN - 1)])).notice == ""
    assert attention(said([*few, *unsure(LONG_RUN), ("2", "2")])).notice == ""


def test_mostly_not_sure_is_noticed_too_and_no_longer_after_some_real_answers() -> None:
    mostly = [pair for kind in drawn(4) for pair in (*unsure(4), (kind, kind))]
    assert len(mostly) == N_UNSURE
    assert "most of the latest questions" in attention(said(mostly)).notice
    assert attention(said(mostly[1:])).notice == "", "too few answers to speak of a share"
    better = [(kind, kind) for kind in drawn(2, 1)]
    assert attention(said([*mostly, *better])).notice == ""


def test_every_kind_of_question_counts_but_no_change_by_hand() -> None:
    pairs = [Answer(k, SamePair(0, k + 1), UNSURE) for k in range(LONG_RUN)]
    assert "not sure" in attention(pairs).notice
    by_hand = [Answer(90 + k, OneKind(((1, 2),)), UNSURE) for k in range(LONG_RUN)]
    assert attention(by_hand).notice == ""
    assert "not sure" in attention([Answer(80, OneKind(((1, 2),)), "yes"), *pairs]).notice


def test_whoever_is_sometimes_not_sure_is_judged_by_the_other_answers_alone() -> None:
    rng = np.random.default_rng(0)
    for implied in (drawn(40, 1), ["1"] * 40):
        sure = list(zip(drawn(40, 1), implied, strict=True))
        gaps = [pair for one in sure for pair in (*unsure(int(rng.integers(0, 4))), one)]
        found, alone = attention(said(gaps)), attention(said(sure))
        assert found.unsure > 0.3
        assert (found.notice, found.is_enough) == (alone.notice, alone.is_enough)
        assert (found.run, found.habit, found.kappa) == (alone.run, alone.habit, alone.kappa)


def test_good_groups_of_which_only_hard_items_are_left_stay_good() -> None:
    kinds = drawn(40)
    found = attention(said([*[(kind, kind) for kind in kinds], *unsure(LONG_RUN)]))
    assert found.notice == "" and found.is_enough


@pytest.mark.parametrize("prepare", [0, 4])
def test_fifty_times_not_sure_is_told_wherever_the_quality_is(prepare: int) -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, seed=2)
    truth = Truth(kinds)

    def answer(n: int, *, sure: bool) -> str:
        for _ in range(n):
            asked = session.ask()
            assert asked is not None
            session.tell(asked.number, truth.answer(asked.question) if sure else UNSURE)
        session.refit()
        assert report(session).words == describe_quality(session.progress())
        assert report(session).notice == session.progress()["notice"]
        return describe_quality(session.progress())

    answer(prepare, sure=True)
    words = answer(50, sure=False)
    assert "not sure about the last 50 questions" in words and "grouping" in words
    assert "stop" not in words and not session.progress()["enough"]
    assert "not sure" not in answer(5, sure=True)
