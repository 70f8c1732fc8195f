"""The strategy `value` in a conversation: what it asks, and what it never asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from piles import clouds, points
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Answer, SamePair, WhichGroup
from samekind.registry import find, registered
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth, Unsure
from samekind.strategies.value.mining import select, unit
from samekind.strategies.value.questions import centres_of
from samekind.strategies.value.value import Value, asked_items, representatives

NAMES = sorted(name for name in registered("strategy") if name.startswith("value"))


def view_of(n: int = 300, kinds: int = 8, seed: int = 0) -> View:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % kinds
    z = unit(rng.normal(size=(kinds, 10))[labels] + 0.5 * rng.normal(size=(n, 10)))
    return View(Clustering.first(labels, z), Constraints(n), np.random.default_rng(0), seed=seed)


def truthful(question: Any, kinds: int = 8) -> str:
    return str(question.truthful(lambda a, b: a % kinds == b % kinds))


def after(view: View, *questions: Any) -> View:
    answers = [Answer(k + 1, q, truthful(q)) for k, q in enumerate(questions)]
    return replace(view, constraints=Constraints.from_answers(len(view.clustering.labels), answers))


@pytest.mark.parametrize("name", NAMES)
def test_a_large_proposal_asks_each_item_once_and_repeats(name: str) -> None:
    strategy, view = find("strategy", name)(), view_of()
    once = strategy.propose(view, 100)
    assert once == find("strategy", name)().propose(view_of(), 100)
    assert len({question.item for question in once}) == len(once) == 100
    assert once[:7] == strategy.propose(view, 7)
    for question in once:
        assert isinstance(question, WhichGroup) and len(question.groups) == 5 and question.why
    again = strategy.propose(replace(view, passed=tuple(once)), 100)
    assert not {q.item for q in once} & {q.item for q in again}


def test_the_first_questions_are_those_of_algorithm_1() -> None:
    view = view_of()
    z = view.clustering.space
    centres = centres_of(z, view.clustering.labels, view.clustering.numbers)
    for strategy, weights in (
        ("value", (1, 1, 1)),
        ("value-hard-rep", (1, 1, 0)),
        ("value-hard", (1, 0, 0)),
    ):
        items, _ = select(z, centres, 30, weights=weights)
        asked = find("strategy", strategy)().propose(view, 30)
        assert [question.item for question in asked] == items.tolist()


def test_one_question_at_a_time_asks_what_many_at_once_ask() -> None:
    view, strategy = view_of(), Value(exemplars=1, keep=False)
    together = strategy.propose(view, 12)
    one_by_one: list[Any] = []
    for _ in range(12):
        now = after(view, *one_by_one)
        one_by_one.append(strategy.propose(now, 1)[0])
    assert [q.item for q in one_by_one] == [q.item for q in together]


def test_the_groups_shown_are_the_nearest_and_the_nearest_comes_first() -> None:
    view = view_of()
    z = view.clustering.space
    towards = unit(centres_of(z, view.clustering.labels, view.clustering.numbers))
    for question in Value(shown=3).propose(view, 20):
        nearest = np.argsort(-(z[question.item] @ towards.T))[:3]
        alike = z @ towards.T
        alike[question.item] = -1  # who is asked about does not stand for a group
        assert [group[0] for group in question.groups] == alike.argmax(0)[nearest].tolist()


def test_further_exemplars_are_only_those_known_to_be_of_the_kind() -> None:
    view = view_of()
    first = Value().propose(view, 40)
    assert all(len(group) == 1 for question in first for group in question.groups)
    now = after(view, *first)
    seen = 0
    for question in Value().propose(now, 20):
        for central, *others in question.groups:
            seen += len(others)
            assert all(now.constraints.same(central, other) for other in others)
    assert seen > 0


def test_who_stood_for_a_group_goes_on_standing_for_it_after_a_refit() -> None:
    view = view_of()
    first = Value().propose(view, 20)
    rng = np.random.default_rng(3)
    moved = unit(view.clustering.space + 0.2 * rng.normal(size=view.clustering.space.shape))
    now = after(view, *first)
    refitted = view.clustering.followed_by(view.clustering.labels, moved)
    now = replace(now, clustering=refitted)
    before = {group[0] for question in first for group in question.groups}
    kept = {group[0] for question in Value().propose(now, 20) for group in question.groups}
    anew = {g[0] for q in Value(keep=False).propose(now, 20) for g in q.groups}
    assert kept <= before
    assert not anew <= before


def test_groups_may_come_and_go_between_refits() -> None:
    view = view_of()
    now = after(view, *Value().propose(view, 25))
    asked = {answer.question.item for answer in now.constraints.answers}
    for labels in (np.arange(300) % 3, np.arange(300) % 20, np.zeros(300, dtype=int)):
        changed = replace(
            now, clustering=view.clustering.followed_by(labels, view.clustering.space)
        )
        found = Value().propose(changed, 30)
        assert found and not asked & {question.item for question in found}
        for question in found:
            assert question.truthful(now.constraints.same) == "unsure"


def test_pairs_answered_under_another_strategy_count_as_asked_about() -> None:
    group = WhichGroup(7, ((1, 4), (2,)))
    known = Constraints.from_answers(
        10, [Answer(1, SamePair(0, 5), "same"), Answer(2, group, "1"), Answer(3, group, "unsure")]
    )
    assert asked_items(known, (SamePair(8, 9),), 10) == {0, 5, 7, 8, 9}
    assert asked_items(known, (SamePair(8, 9),), 6) == {0, 5}, "those that are gone are not there"
    assert representatives(known, 10) == {1, 2}


def test_a_pile_of_two_or_of_equal_items_can_be_asked_about() -> None:
    for name in NAMES:
        for n in (2, 3, 400):
            snapshot = Clustering.first(np.zeros(n), np.zeros((n, 3)))
            view = View(snapshot, Constraints(n), np.random.default_rng(0))
            assert len(find("strategy", name)().propose(view, 1)) == 1
        known = Constraints.from_links(2, [(0, 1, True)])
        snapshot = Clustering.first(np.zeros(2), np.zeros((2, 3)))
        assert find("strategy", name)().propose(View(snapshot, known, view.rng), 1) == ()


@pytest.mark.parametrize("shown", [1, 5, 7])
def test_as_many_of_the_nearest_groups_are_shown_as_wanted(shown: int) -> None:
    X = (np.eye(9)[np.arange(90) % 9] + np.random.default_rng(0).normal(0, 0.05, (90, 9))).astype(
        np.float32
    )
    snapshot = Clustering.first(np.arange(90) % 9, X)
    view = View(snapshot, Constraints(90), np.random.default_rng(0))
    for question in Value(shown=shown).propose(view, 10):
        assert isinstance(question, WhichGroup) and len(question.groups) == shown
        assert question.truthful(lambda a, b: a % 9 == b % 9) == "1", "the nearest comes first"


def test_what_a_question_cannot_show_is_refused_when_the_strategy_is_made() -> None:
    with pytest.raises(InputError, match="1 to 7 groups to show, got 8"):
        Value(shown=8)


@pytest.mark.parametrize("ahead", [1, 10])
def test_a_session_asks_every_item_once_and_learns(ahead: int) -> None:
    X, kinds = clouds(90)
    session = Session(points(90), X, clusterer="kmeans", strategy="value", seed=1, ahead=ahead)
    log = run(session, Unsure(Truth(kinds), 0.2, seed=1), 20)
    assert log.n_answers == 20
    asked = [answer.question.item for answer in session.answers]
    assert len(set(asked)) == len(asked)
    assert not session.constraints.conflicts


def test_an_undone_answer_leaves_no_trace() -> None:
    X, kinds = clouds(90)
    oracle = Truth(kinds)
    one = Session(points(90), X, clusterer="kmeans", strategy="value", refit_every=100)
    run(one, oracle, 8)
    one.undo()
    other = Session(points(90), X, clusterer="kmeans", strategy="value", refit_every=100)
    run(other, oracle, 7)
    first, second = one.ask(), other.ask()
    assert first is not None and second is not None and first.question == second.question
