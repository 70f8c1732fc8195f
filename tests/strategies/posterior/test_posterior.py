"""Questions chosen by what their answer is expected to tell, under draws of whole groupings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Answer, SamePair, WhichGroup
from samekind.strategies.posterior.draws import MAX_ITEMS, Draws, draws_of, n_effective
from samekind.strategies.posterior.posterior import Posterior, pair_gain, together


class Given(NamedTuple):
    items: Any
    labels: Any
    weight: Any


def with_draws(labels: Any, weight: Any = None, *, n: int | None = None, items: Any = None) -> View:
    """A view of a snapshot that holds these draws."""
    labels = np.asarray(labels, dtype=np.int16)
    S, m = labels.shape
    n = n or m
    items = np.arange(m) if items is None else np.asarray(items)
    weight = np.full(S, 1 / S) if weight is None else np.asarray(weight)
    space = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    clustering = Clustering.first(np.zeros(n, dtype=np.intp), space)
    object.__setattr__(clustering, "draws", Given(items, labels, weight))
    return View(clustering, Constraints(n), np.random.default_rng(0))


def told(view: View, *links: tuple[int, int, bool]) -> View:
    return replace(view, constraints=Constraints.from_links(view.constraints.n_items, links))


def test_the_gain_of_a_pair_is_the_entropy_of_its_answer() -> None:
    assert pair_gain(np.array([0.25]))[0] == pytest.approx(
        -0.25 * np.log(0.25) - 0.75 * np.log(0.75)
    )
    assert pair_gain(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


def test_the_pair_is_asked_that_half_of_the_draws_put_together() -> None:
    view = with_draws([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 1, 2]])
    (question,) = Posterior().propose(view, 1)
    assert question.items() == (2, 3) and isinstance(question, SamePair)


def test_weights_of_draws_count() -> None:
    labels = [[0, 0, 1, 1], [0, 1, 2, 2], [0, 0, 1, 2]]
    view = with_draws(labels, [0.45, 0.5, 0.05])
    assert Posterior().propose(view, 1)[0].items() == (0, 1)
    view = with_draws(labels, [0.45, 0.05, 0.5])
    assert Posterior().propose(view, 1)[0].items() == (2, 3)


def test_answers_that_came_after_the_draws_count_at_once() -> None:
    rows = [[0, 0, 1, 1, 2, 2], [0, 1, 2, 2, 3, 4]] * 12 + [
        [0, 0, 1, 1, 2, 3],
        [0, 0, 1, 2, 3, 3],
    ] * 12
    view = told(with_draws(rows), (0, 1, True))
    drawn = draws_of(view, 200)
    weight = drawn.given(view.constraints)
    alive = drawn.labels[weight > 0]
    assert (alive[:, 0] == alive[:, 1]).all() and weight.sum() == pytest.approx(1)
    assert Posterior().propose(view, 1)[0].items() != (0, 1)


def test_where_answers_rule_out_all_draws_those_with_fewest_contradictions_lead() -> None:
    drawn = Draws(
        np.arange(3), np.array([[0, 1, 2], [0, 0, 1]], dtype=np.int16), np.full(2, 0.5), True
    )
    known = Constraints.from_links(3, [(0, 1, True), (1, 2, True)])
    weight = drawn.given(known)
    assert weight[1] > 0.8 and weight.sum() == pytest.approx(1)
    assert n_effective(np.zeros(2)) == 0


def test_an_item_between_three_groups_tells_more_than_any_pair() -> None:
    rows = [[0, 1, 2, k, 0, 1, 2] for k in (0, 1, 2)] * 10
    view = told(with_draws(rows), (0, 1, False), (0, 2, False), (1, 2, False))
    (question,) = Posterior().propose(view, 1)
    assert isinstance(question, WhichGroup) and question.item == 3
    assert len(question.groups) == 3
    (pair,) = Posterior(ask="pair").propose(view, 1)
    assert isinstance(pair, SamePair) and 3 in pair.items()


def test_groups_that_an_item_is_known_not_to_be_in_are_not_shown() -> None:
    rows = [[0, 1, 2, k, 0, 1, 2] for k in (1, 2)] * 10
    view = told(with_draws(rows), (0, 1, False), (0, 2, False), (1, 2, False), (0, 3, False))
    (question,) = Posterior(ask="placement").propose(view, 1)
    assert isinstance(question, WhichGroup) and question.item == 3
    assert {group[0] for group in question.groups} == {1, 2}


def test_without_two_kinds_a_placement_strategy_begins_with_a_pair() -> None:
    view = with_draws([[0, 0, 1, 1], [0, 0, 1, 2]])
    assert isinstance(Posterior(ask="placement").propose(view, 1)[0], SamePair)


def test_what_was_passed_on_is_not_asked_again() -> None:
    view = with_draws([[0, 0, 1, 1], [0, 0, 1, 2]])
    first = Posterior().propose(view, 1)[0]
    again = Posterior().propose(replace(view, passed=(first,)), 1)
    assert again and set(again[0].items()) != set(first.items())


def test_several_questions_share_no_item() -> None:
    rng = np.random.default_rng(0)
    view = with_draws(rng.integers(0, 4, (50, 30)))
    found = Posterior().propose(view, 5)
    items = [i for q in found for i in q.items()]
    assert len(found) == 5 and len(set(items)) == len(items)


def test_draws_of_a_part_of_the_items_lead_to_questions_about_that_part() -> None:
    items = np.array([4, 30, 77, 91])
    view = with_draws([[0, 0, 1, 1], [0, 0, 1, 2]], n=100, items=items)
    assert set(Posterior().propose(view, 1)[0].items()) == {77, 91}


def test_many_items_are_never_compared_all_with_all() -> None:
    rng = np.random.default_rng(0)
    view = with_draws(rng.integers(0, 5, (64, 5000)))
    drawn = draws_of(view, 200)
    assert len(drawn.items) == MAX_ITEMS
    assert len(Posterior().propose(view, 3)) == 3
    sizes = [len(v[0]) for k, v in view.clustering._memo.items() if k[0] == "gain-pairs"]
    assert sizes == [20_000]


def test_answered_items_are_always_looked_at() -> None:
    rng = np.random.default_rng(0)
    view = told(with_draws(rng.integers(0, 5, (16, 3000))), (5, 2999, True), (5, 17, False))
    assert {5, 17, 2999} <= set(draws_of(view, 200).items.tolist())


def test_the_chance_of_being_together_is_the_weighted_share_of_draws() -> None:
    drawn = Draws(
        np.arange(3), np.array([[0, 0, 1], [0, 1, 1]], dtype=np.int16), np.array([0.3, 0.7]), True
    )
    assert together(drawn)[0, 1] == pytest.approx(0.3) and together(drawn)[1, 2] == pytest.approx(
        0.7
    )


def test_a_method_without_draws_is_served_from_memberships_and_the_question_says_so() -> None:
    space = np.zeros((4, 2), dtype=np.float32)
    membership = np.array([[0.99, 0.01], [0.5, 0.5], [0.01, 0.99], [0.99, 0.01]])
    clustering = Clustering.first([0, 0, 1, 0], space, membership)
    view = View(clustering, Constraints(4), np.random.default_rng(0))
    (question,) = Posterior().propose(view, 1)
    assert 1 in question.items()
    assert "only the method ncp draws whole groupings" in question.why


def test_what_cannot_be_asked_is_named() -> None:
    with pytest.raises(InputError, match="one of either, pair, placement, got 'triples'"):
        Posterior(ask="triples")


def test_answers_lead_to_the_true_grouping() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 12)
    rows = np.where(rng.random((4000, 12)) < 0.25, rng.integers(0, 3, (4000, 12)), truth)
    view, answers = with_draws(rows), []
    for number in range(1, 9):
        now = replace(view, constraints=Constraints.from_answers(12, answers))
        question = Posterior(ask="pair").propose(now, 1)[0]
        choice = question.truthful(lambda a, b: bool(truth[a] == truth[b]))
        answers.append(Answer(number, question, choice))
    drawn, known = draws_of(view, 200), Constraints.from_answers(12, answers)

    def agreement(weight: np.ndarray) -> float:
        same = drawn.labels[:, :, None] == drawn.labels[:, None]
        chance = np.einsum("s,sij->ij", weight, same)
        return float(np.abs(chance - (truth[:, None] == truth)).mean())

    assert agreement(drawn.given(known)) < 0.75 * agreement(drawn.weight)
