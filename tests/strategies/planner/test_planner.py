"""The planner: placements and grids, whichever places the most items per second."""

from __future__ import annotations

import numpy as np
import pytest

from piles import points
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.evaluation import Scores
from samekind.protocols import View
from samekind.questions import AllLike, Answer, OddOnes, SamePair, WhichGroup
from samekind.session import Session
from samekind.simulation.curve_recorder import costs
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.strategies.planner.answer_times import AnswerTimes
from samekind.strategies.planner.history import History
from samekind.strategies.planner.planner import Planner
from samekind.strategies.planner.selection import covering
from samekind.testing import check_strategy

N = 240


def three_kinds(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three clouds that touch each other."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    return (rng.normal(size=(n, 4)) + 3.0 * np.eye(3, 4)[kinds]).astype(np.float32), kinds


def placed_view(*more: Answer, n_placed: int = 18) -> View:
    """Some items of each kind are placed, and the learner is right about most others."""
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
    known = Constraints.from_answers(N, [*answers, *more])
    clustering = Clustering.first(belief.argmax(axis=1), X, belief)
    return View(clustering, known, np.random.default_rng(0), spent=len(answers) + len(more))


def review(odd: str, n: int = 12, seconds: float | None = None) -> Answer:
    """An answer about items that were thought to be the first kind."""
    shown = tuple(range(100, 100 + n))
    return Answer(900 + n, OddOnes((0,), shown), odd, seconds=seconds)


def test_it_keeps_the_contract_of_strategies() -> None:
    check_strategy(Planner())


def test_it_begins_with_different_items_that_are_compared_with_one() -> None:
    X, kinds = three_kinds()
    mine = Session(points(N), X, strategy=Planner(), seed=0)
    asked = mine.ask()
    assert asked is not None and isinstance(asked.question, AllLike)
    assert len(asked.question.shown) == Planner().tray
    assert len(set(kinds[list(asked.question.shown)])) == 3


def test_items_of_one_likely_kind_are_reviewed_together() -> None:
    question = Planner().propose(placed_view())[0]
    assert isinstance(question, OddOnes) and len(question.shown) == Planner().small
    _, kinds = three_kinds()
    assert (kinds[list(question.shown)] == kinds[question.group[0]]).mean() > 0.7
    assert "one answer places them all" in question.why


def test_reviews_become_larger_once_they_find_nothing() -> None:
    question = Planner().propose(placed_view(review("none")))[0]
    assert isinstance(question, OddOnes) and len(question.shown) == Planner().large


def test_where_reviews_find_mostly_odd_items_they_are_placed_instead() -> None:
    odd = ",".join(str(k + 1) for k in range(12))
    view = placed_view(review(odd))
    assert History.of(view.constraints).belonging < 0.2
    # The odd ones themselves are settled first; without them it is placements.
    without = Planner().propose(View(
        view.clustering, view.constraints, view.rng, spent=view.spent,
        passed=(OddOnes((0,), tuple(range(100, 112))),),
    ))[0]  # fmt: skip
    assert isinstance(without, WhichGroup)


def test_somebody_who_is_slow_with_grids_gets_placements(monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(_: object) -> AnswerTimes:
        return AnswerTimes(by_kind={"odd-ones": 6.0})

    assert isinstance(Planner().propose(placed_view())[0], OddOnes)
    monkeypatch.setattr(AnswerTimes, "of", fitted)
    assert isinstance(Planner().propose(placed_view())[0], WhichGroup)


def test_with_many_kinds_only_placements_are_asked() -> None:
    planner = Planner(max_kinds=2)
    assert isinstance(planner.propose(placed_view())[0], WhichGroup)


def test_items_known_only_by_what_they_are_not_are_settled_next() -> None:
    view = placed_view(review("1,2,3,4,5,6"))
    loose = {100, 101, 102, 103, 104, 105}
    question = Planner().propose(view)[0]
    about = (
        set(question.shown) if isinstance(question, OddOnes | AllLike) else {question.items()[0]}
    )
    assert about & loose and not about - loose


def test_a_cover_begins_where_most_is_near_and_spreads_out() -> None:
    line = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [90.0]])
    assert set(covering(line, np.arange(6), np.ones(6), None, 3).tolist()) & {5}
    assert covering(line, np.arange(6), np.ones(6), np.array([0, 1, 2]), 1)[0] in (3, 4)


@pytest.mark.parametrize("strategy", ["planner", "live"])
def test_three_touching_clouds_are_told_apart_in_two_minutes(strategy: str) -> None:
    X, kinds = three_kinds()
    mine = Session(points(N), X, strategy=strategy, seed=0, refit_every=5)
    run(mine, Truth(kinds), 16)
    seconds = costs(mine.answers)["person_seconds"]
    assert seconds < 120
    assert Scores.of(kinds, mine.clustering.labels).row()["ari"] > 0.7
