"""Random questions first, and r that falls from question to question of one proposal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pair_views import large_view
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Question, SamePair
from samekind.strategies.pairs import choice
from samekind.strategies.pairs.candidates import Candidates, largest
from samekind.strategies.pairs.choice import ShiftingScores, best_pairs_by_share, block_starts
from samekind.strategies.pairs.hardness import Hardness, hardness, with_evidence
from samekind.strategies.pairs.pcl import PCL, joint
from samekind.strategies.pairs.pcl_reference import (
    PCLReference,
    known_answers,
    reference_scores,
)
from samekind.strategies.pairs.uncertainty import Uncertainty, uncertainty

SCORED: list[Any] = [PCL, PCLReference, Uncertainty, Hardness]


def fresh(view: View, **changes: Any) -> View:
    """The view with its random numbers from the start."""
    return replace(view, rng=np.random.default_rng(4), **changes)


def pairs_of(questions: Any) -> list[tuple[int, int]]:
    return [question.items() for question in questions]


def slow_choice(
    view: View, a: Any, b: Any, score_at: Callable[[float], Any], n: int, block: int = 1
) -> list[tuple[int, int]]:
    """One question after the other, all scores computed anew for each."""
    chosen: list[tuple[int, int]] = []
    used: set[int] = set()
    for i in range(n):
        begins = i - i % block
        r = (view.budget - view.spent - begins) / view.budget  # type: ignore[operator]
        score = np.round(score_at(r), 6)
        for k in np.argsort(-score, kind="stable").tolist():
            pair = int(a[k]), int(b[k])
            if pair[0] != pair[1] and not used & set(pair) and view.constraints.same(*pair) is None:
                break
        chosen.append(pair)
        used |= set(pair)
    return chosen


def pcl_scores(view: View, n: int) -> tuple[Any, Any, Callable[[float], Any]]:
    pool, evidence = with_evidence(fresh(view), Candidates(), n, summed=False)
    unclear, hard = uncertainty(pool.similarity), hardness(pool.similarity, evidence)
    return pool.a, pool.b, lambda r: joint(unclear, hard, r)


def program_scores(view: View, n: int) -> tuple[Any, Any, Callable[[float], Any]]:
    """The program's score over all candidates and each item with itself."""
    pool, items = Candidates().pool(view), np.arange(len(view.clustering.labels))
    a, b = np.concatenate([pool.a, items]), np.concatenate([pool.b, items])
    alike = PCLReference()._cosines(view.clustering, a, b)
    answers = known_answers(view.constraints, a, b)
    answers[len(pool.a) :] = 0
    return pool.a, pool.b, lambda r: reference_scores(alike, answers, r)[: len(pool.a)]


@pytest.mark.parametrize(("n", "block"), [(1, 1), (16, 1), (33, 3), (60, 4)])
@pytest.mark.parametrize(
    ("strategy", "scores"),
    [(PCL(), pcl_scores), (PCLReference(), program_scores)],
    ids=["pcl", "pcl-reference"],
)
@pytest.mark.parametrize("items", [200, 900])
def test_each_question_has_the_r_that_it_would_have_after_those_before_it(
    strategy: Any, scores: Any, items: int, n: int, block: int
) -> None:
    view = large_view(n=items, links=60)
    found = strategy.propose(fresh(view), n)
    assert pairs_of(found) == slow_choice(view, *scores(view, n), n, block)


@pytest.mark.parametrize("strategy", [PCL(), PCLReference()], ids=["pcl", "pcl-reference"])
def test_one_round_over_the_whole_budget_begins_with_uncertain_pairs_and_goes_over_to_hard_ones(
    strategy: Any,
) -> None:
    n = 96
    view = large_view(n=280, links=60, spent=0, budget=n)
    found = pairs_of(strategy.propose(fresh(view), n))
    unclear = pairs_of(Uncertainty().propose(fresh(view), n))
    block = n // choice.MAX_BLOCKS
    assert set(found[:block]) == set(unclear[:block]), "r is 1"  # a tanh makes more of them equal
    assert len(set(found[n // 2 :]) & set(unclear)) < n // 4, "S_hp acts within the round"


def test_reasons_go_over_from_uncertain_to_hard_within_a_round() -> None:
    view = large_view(links=60, spent=0, budget=32)
    hard = ["answers suggest" in question.why for question in PCL().propose(fresh(view), 32)]
    assert not any(hard[:2]) and all(hard[24:])


def test_without_answers_nothing_is_hard_and_the_order_is_that_of_uncertainty() -> None:
    view = large_view(spent=0, budget=60)
    view = replace(view, constraints=Constraints(900))
    assert pairs_of(PCL().propose(view, 60)) == pairs_of(Uncertainty().propose(view, 60))


def test_without_a_budget_r_is_a_half_for_all_questions() -> None:
    view = large_view(budget=None)
    a, b, score_at = pcl_scores(view, 40)
    whole = replace(view, budget=2, spent=1)
    expected = slow_choice(whole, a, b, lambda r: score_at(0.5), 40)
    assert pairs_of(PCL().propose(fresh(view), 40)) == expected


@pytest.mark.parametrize(
    ("budget", "n", "blocks"), [(100, 16, 16), (10_000, 16, 16), (10_000, 390, 3), (500, 500, 16)]
)
def test_small_proposals_have_an_r_for_each_question_and_large_ones_for_each_block(
    budget: int, n: int, blocks: int
) -> None:
    starts = block_starts(large_view(spent=0, budget=budget), 0, n)
    assert len(starts) == blocks and starts[0] == 0 and starts[-1] < n
    assert len(block_starts(large_view(budget=None), 0, n)) == 1


def test_candidates_behind_the_best_are_asked_when_those_are_known() -> None:
    view = large_view(n=400, links=0, budget=100, spent=0)
    pool = Candidates().pool(view)
    order = np.argsort(pool.a, kind="stable")  # pairs of the first items score highest
    score = np.empty(len(order))
    score[order] = np.linspace(1, 0, len(order))
    answered = np.unique(pool.a[order[:3000]]).tolist()
    known = Constraints.from_links(400, [(answered[0], item, True) for item in answered[1:]])
    view = replace(view, constraints=known)
    scores = ShiftingScores(score, score)
    found = best_pairs_by_share(view, pool.a, pool.b, scores, 20, lambda k, r: "because")
    assert pairs_of(found) == slow_choice(view, pool.a, pool.b, scores.at, 20)
    assert all(question.why == "because" for question in found)


@pytest.mark.parametrize("strategy", SCORED)
def test_the_first_questions_are_random_until_so_many_are_answered(strategy: Any) -> None:
    view = large_view(spent=0, budget=100)
    plain, begins = strategy(), strategy(random_first=12)
    drawn = begins.propose(fresh(view), 12)
    assert all(question.why == choice.AT_RANDOM for question in drawn)
    assert all(view.constraints.same(*question.items()) is None for question in drawn)
    best = set(pairs_of(plain.propose(fresh(view), 200)))
    assert len(set(pairs_of(drawn)) & best) < 6, "the scores have no say"
    later = fresh(view, spent=12)
    assert pairs_of(begins.propose(later, 5)) == pairs_of(plain.propose(fresh(later), 5))
    both = begins.propose(fresh(view, spent=8), 10)
    assert [q.why == choice.AT_RANDOM for q in both] == [True] * 4 + [False] * 6
    items = [item for question in both for item in question.items()]
    assert len(set(items)) == 20, "no item twice"


def test_random_questions_leave_out_what_is_known_or_was_passed_on() -> None:
    known = Constraints.from_links(5, [(0, 1, True), (0, 2, False), (3, 4, True)])
    view = large_view(n=5, links=0)
    passed: tuple[Question, ...] = (SamePair(3, 0), SamePair(4, 1))
    view = replace(view, constraints=known, passed=passed, spent=0)
    possible = {(0, 4), (1, 3), (2, 3), (2, 4)}
    found = {PCL(random_first=3).propose(replace(view, rng=rng), 1)[0].items() for rng in chances()}
    assert found == possible


def chances() -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(60)]


def test_random_questions_use_up_their_part_of_the_budget() -> None:
    view = large_view(spent=0, budget=20)
    (last,) = PCL(random_first=19).propose(fresh(view), 20)[19:]
    assert "answers suggest" in last.why, "r is a twentieth, not one"


def test_a_negative_number_of_random_questions_is_refused() -> None:
    with pytest.raises(InputError, match="0 or more, got -1"):
        PCL(random_first=-1)


@pytest.mark.parametrize("width", [100, 512, 256 * 20])
def test_the_largest_of_each_row_are_found_in_short_and_long_rows(width: int) -> None:
    values = np.random.default_rng(0).normal(size=(6, width)).astype(np.float32)
    values[2] = 0.0  # all equal
    values[4, 256:512] += 5  # all in one segment
    row, column = largest(values, 7)
    assert np.bincount(row).tolist() == [7] * 6
    for k in range(6):
        found = values[k, column[row == k]]
        assert len(set(column[row == k].tolist())) == 7
        np.testing.assert_array_equal(np.sort(found)[::-1], np.sort(values[k])[::-1][:7])
