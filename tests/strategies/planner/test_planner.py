"""The planner: which form of question pays, for this person and these groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from piles import points
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.evaluation import Scores
from samekind.protocols import View
from samekind.questions import UNSURE, Answer, Expectation, OddOnes, SamePair, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.strategies.planner.doubt import (
    Doubt,
    _importance,
    entropy,
    first_guess_right,
    rank_within,
    settled,
    unseen_share,
)
from samekind.strategies.planner.planner import Planner, _balanced
from samekind.strategies.planner.proposers import Proposal, loose_placements, odd_ones
from samekind.testing import check_strategy

N = 240
QUICK = {"same-pair": 1.0, "which-group": 4.0}
SLOW = {"same-pair": 9.0, "which-group": 4.0}


def three_kinds(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three clouds that touch each other."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    return (rng.normal(size=(n, 4)) + 3.0 * np.eye(3, 4)[kinds]).astype(np.float32), kinds


def placed_view(seconds: dict[str, float] | None = None, n_placed: int = 30) -> View:
    """Some items of each kind are placed; the answers took so long per kind of question."""
    X, kinds = three_kinds()
    centres = np.stack([X[kinds == k].mean(axis=0) for k in range(3)])
    logits = -((X[:, None] - centres) ** 2).sum(axis=2) / 8
    belief = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    links = [(0, 1, False), (0, 2, False), (1, 2, False)]
    links += [(i % 3, i, True) for i in range(3, n_placed)]
    answers = [
        Answer(k + 1, SamePair(a, b), "same" if same else "different")
        for k, (a, b, same) in enumerate(links)
    ]
    for kind, took in (seconds or {}).items():
        at = {"same-pair": SamePair(0, 3), "which-group": WhichGroup(3, ((0,), (1,)))}[kind]
        choice = "same" if kind == "same-pair" else "1"
        answers += [Answer(100 + k, at, choice, seconds=took) for k in range(40)]
    clustering = Clustering.first(belief.argmax(axis=1), X, belief)
    # As many "same" as "different" lately, so that their balance decides nothing here.
    told = [SamePair(0, 1), SamePair(0, 3)] * 10
    answers += [Answer(300 + k, q, "different" if q.b == 1 else "same") for k, q in enumerate(told)]
    known = Constraints.from_answers(N, answers)
    return View(clustering, known, np.random.default_rng(0), spent=32)


def test_the_planner_keeps_the_contract_of_strategies() -> None:
    check_strategy(Planner())


def test_a_whole_session_mixes_kinds_asks_nothing_implied_and_checks_at_random() -> None:
    X, kinds = three_kinds()
    session = Session(points(N), X, clusterer="live", strategy=Planner(), seed=1)
    told = []

    class Watching:
        def answer(self, question):  # type: ignore[no-untyped-def]
            assert question.truthful(session.constraints.same) == UNSURE
            assert question.why and "\n" not in question.why
            told.append(question)
            return Truth(kinds).answer(question)

    run(session, Watching(), 64)
    asked = Counter(question.kind for question in told)
    assert asked["which-group"] and asked["same-pair"]
    assert 6 <= sum(question.at_random for question in told) <= 8
    assert all(q.kind == "which-group" for q in told if q.at_random)
    assert Scores.of(kinds, session.clustering.labels).row()["ari"] > 0.85


def test_the_same_seed_asks_the_same_questions_also_after_reopening() -> None:
    X, kinds = three_kinds()
    first = Session(points(N), X, clusterer="live", strategy=Planner(), seed=3)
    run(first, Truth(kinds), 27)
    again = Session(
        points(N), X, clusterer="live", strategy=Planner(), store=first.store, name=first.name
    )
    one, two = first.ask(), again.ask()
    assert one is not None and two is not None and one.question == two.question


def test_a_person_who_is_slow_with_pairs_gets_other_questions() -> None:
    quick = Planner(kinds=("same-pair",)).propose(placed_view(QUICK))[0]
    slow = Planner(kinds=("same-pair",)).propose(placed_view(SLOW))[0]
    assert isinstance(quick, SamePair)
    assert isinstance(slow, WhichGroup)


def test_until_the_kinds_are_found_only_placements_are_asked() -> None:
    view = placed_view(n_placed=3)
    assert unseen_share(view.constraints) > 0
    assert {q.kind for q in Planner().propose(view, 5)} == {"which-group"}


def test_an_item_told_apart_from_one_group_is_placed_among_the_others() -> None:
    view = placed_view()
    loose = 50
    known = view.constraints.with_answer(Answer(900, SamePair(loose, 0), "different"))
    found = list(loose_placements(Doubt.of(replace(view, constraints=known), 0.5)))
    questions = [p.question for p in found if p.question.items()[0] == loose]
    assert len(questions) == 1 and isinstance(questions[0], WhichGroup)
    shown = {known.same(0, group[0]) for group in questions[0].groups}
    assert shown == {False}, "the group that it was told apart from is not shown"


def test_items_of_one_region_are_not_shown_twice_and_passed_ones_not_again() -> None:
    view = placed_view()
    doubt = Doubt.of(view, 0.5)
    untouched = np.setdiff1d(np.arange(0, N, 3), view.constraints.touched)
    sure = untouched[doubt.beliefs(untouched)[:, 0] > 0.9]
    found = list(odd_ones(doubt, sure, lambda question: 1.0))
    assert len(found) == 1 and isinstance(found[0].question, OddOnes)
    shown = np.array(found[0].question.shown)
    assert 4 <= len(shown) <= OddOnes.max_shown
    assert len(set(doubt.region(shown).tolist())) == len(shown)
    after = replace(view, passed=(found[0].question,))
    again = list(odd_ones(Doubt.of(after, 0.5), sure[np.isin(sure, shown)], lambda q: 1.0))
    assert not again


@pytest.mark.parametrize(("said", "wanted"), [("same", 0.2), ("different", 0.8)])
def test_too_much_of_one_answer_asks_for_the_other(said: str, wanted: float) -> None:
    pairs = [SamePair(2 * k, 2 * k + 1) for k in range(6)]
    known = Constraints.from_answers(40, [Answer(k, q, said) for k, q in enumerate(pairs)])
    view = View(placed_view().clustering, known, np.random.default_rng(0))
    found = [Proposal(SamePair(20, 21), 1.0, 0.8), Proposal(SamePair(22, 23), 1.0, 0.2)]
    assert [p.same for p in _balanced(view, found)] == [wanted]
    only = [p for p in found if p.same != wanted]
    assert _balanced(view, only) == only, "where there is nothing else, it is asked all the same"


def test_small_groups_count_more_if_wanted() -> None:
    labels = np.where(np.arange(N) < 12, 0, 1)
    clustering = Clustering.first(labels, np.zeros((N, 2)))
    everyone = np.arange(N)
    assert _importance(clustering, everyone, 0.0) == pytest.approx(np.ones(N))
    as_groups = _importance(clustering, everyone, 1.0)
    assert as_groups[:12].sum() == pytest.approx(as_groups[12:].sum())
    between = _importance(clustering, everyone, 0.5)
    assert 1 < between[0] < as_groups[0]


def test_a_learner_that_guesses_wrong_makes_yes_or_no_worth_less() -> None:
    first = Expectation("1", 0.5)
    asked = [WhichGroup(k + 10, ((0,), (1,)), expected=first) for k in range(14)]
    said = [Answer(k, question, "2") for k, question in enumerate(asked)]
    known = Constraints.from_answers(N, [Answer(99, SamePair(0, 1), "different"), *said])
    assert first_guess_right(known) == 1 / 16
    assert first_guess_right(Constraints(N)) == 0.5


def test_bits_chances_and_ranks_are_what_they_should_be() -> None:
    assert entropy(np.full((1, 8), 1 / 8)).tolist() == [3.0]
    beliefs = np.array([[0.7, 0.3, 0.0], [0.4, 0.2, 0.4]])
    assert settled(beliefs).round(6).tolist() == [[1.0, 1.0], [0.4, 0.2]]
    assert rank_within(np.array([4, 2, 4, 4, 2])).tolist() == [0, 0, 1, 2, 1]
