"""People who press the same key, or any key, are noticed; careful people are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samekind.questions import Answer, Expectation, WhichGroup
from samekind.session.attention import LONG_RUN, attention


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
