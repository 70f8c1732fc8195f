"""MinMax and NPU: which item comes next, and which kind it is compared with first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import QueryStrategy, View
from samekind.questions import UNSURE, Answer, Question, SamePair
from samekind.strategies.pairs.minmax import MinMax
from samekind.strategies.pairs.npu import NPU

BOTH = pytest.mark.parametrize("strategy", [MinMax(), NPU(trees=10)])


def clouds(n: int = 60, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    return (rng.normal(size=(n, 2)) + 9 * np.eye(3, 2)[kind]).astype(np.float32), kind


def view_of(X: NDArray[Any], labels: Any, known: Constraints) -> View:
    return View(Clustering.first(labels, X), known, np.random.default_rng(0), seed=1)


def told(
    view: View, strategy: QueryStrategy, kind: Any, count: int
) -> tuple[Sequence[Answer], Any]:
    """So many truthful answers, and the view after them."""
    answers: list[Answer] = []
    n = len(kind)
    for number in range(1, count + 1):
        asked = strategy.propose(view)
        if not asked:
            break
        choice = asked[0].truthful(lambda a, b: bool(kind[a] == kind[b]))
        answers.append(Answer(number, asked[0], choice))
        view = replace(view, constraints=Constraints.from_answers(n, answers))
    return answers, view


def test_min_max_takes_the_item_whose_largest_similarity_is_smallest() -> None:
    X, kind = clouds()
    answers, _ = told(view_of(X, kind, Constraints(60)), MinMax(), kind, 25)
    checked = 0
    for k, answer in enumerate(answers):
        item = answer.question.items()[0]
        known = Constraints.from_answers(60, answers[:k])
        if k and item not in known.touched:
            skeleton = known.touched
            apart = ((X[:, None] - X[skeleton][None]) ** 2).sum(-1)
            largest = np.exp(-apart / (2 * 3.0**2)).max(axis=1)  # the paper's Gaussian kernel
            largest[skeleton] = np.inf
            assert item == int(largest.argmin())
            checked += 1
    assert checked > 5


@BOTH
def test_an_item_is_compared_until_its_kind_is_found(strategy: QueryStrategy) -> None:
    X, kind = clouds()
    answers, view = told(view_of(X, kind, Constraints(60)), strategy, kind, 30)
    for k, (before, after) in enumerate(pairwise(answers)):
        known = Constraints.from_answers(60, answers[: k + 1])
        item = before.question.items()[0]
        waiting = [kin for kin in known.kinds if known.same(item, int(kin[0])) is None]
        if before.choice == "different" and waiting:
            assert after.question.items()[0] == item
    assert len(view.constraints.kinds) == 3


def test_min_max_asks_about_the_nearest_kind_first() -> None:
    X = np.array([[0.0], [10.0], [4.0], [30.0]], dtype=np.float32)
    known = Constraints.from_links(4, [(0, 1, False)])
    first = MinMax().propose(view_of(X, [0, 1, 0, 1], known))[0]
    assert first.items() == (3, 1)
    refused = known.with_answer(Answer(2, SamePair(3, 1), "different"))
    assert MinMax().propose(view_of(X, [0, 1, 0, 1], refused))[0].items() == (3, 0)


def test_npu_divides_the_entropy_by_the_questions_that_it_takes() -> None:
    X, kind = clouds()
    labels = np.where(np.random.default_rng(1).random(60) < 0.2, (kind + 1) % 3, kind)
    known = Constraints.from_links(60, [(0, 1, False), (1, 2, False), (0, 2, False), (0, 3, True)])
    view, strategy = view_of(X, labels, known), NPU(trees=10)
    chances = strategy._chances(view, np.arange(60), known.kinds)
    leaves = strategy._leaves(view.clustering, view.seed)
    worth = np.full(60, -np.inf)
    for i in range(60):
        p = np.array([np.mean(leaves[:, [i]] == leaves[:, k]) for k in known.kinds])
        p = p / p.sum() if p.sum() > 0 else np.full(len(p), 1 / len(p))
        np.testing.assert_allclose(chances[i], p, atol=1e-12)
        if i not in known.touched:
            ranked = sorted(p, reverse=True)
            questions = sum((k + 1) * q for k, q in enumerate(ranked))
            worth[i] = -sum(q * np.log(q) for q in p if q > 0) / questions
    item = strategy.propose(view)[0].items()[0]
    assert worth[item] == pytest.approx(worth.max())


def test_npu_asks_about_the_likeliest_kind_first() -> None:
    X, kind = clouds()
    known = Constraints.from_links(60, [(0, 1, False), (1, 2, False), (0, 2, False)])
    view, strategy = view_of(X, kind, known), NPU(trees=10)
    question = strategy.propose(view)[0]
    item, other = question.items()
    chances = strategy._chances(view, np.array([item]), known.kinds)[0]
    asked = next(k for k, members in enumerate(known.kinds) if other in members)
    assert chances[asked] == pytest.approx(chances.max())


@BOTH
def test_an_item_that_the_person_passed_on_is_left_alone(strategy: QueryStrategy) -> None:
    X, kind = clouds()
    _, view = told(view_of(X, kind, Constraints(60)), strategy, kind, 10)
    passed: tuple[Question, ...] = ()
    for _ in range(5):
        asked = strategy.propose(replace(view, passed=passed))[0]
        assert asked.items()[0] not in {q.items()[0] for q in passed}
        passed = (*passed, asked)


@BOTH
def test_contradictory_answers_do_not_stop_the_questions(strategy: QueryStrategy) -> None:
    X, kind = clouds()
    answers, view = told(view_of(X, kind, Constraints(60)), strategy, kind, 20)
    same = next(a for a in answers if a.choice == "same")
    wrong = view.constraints.with_answer(Answer(99, same.question, "different"))
    assert wrong.conflicts
    asked = strategy.propose(replace(view, constraints=wrong))
    assert asked[0] == strategy.propose(view)[0]
    assert asked[0].truthful(wrong.same) == UNSURE


@BOTH
def test_everything_is_known_in_the_end(strategy: QueryStrategy) -> None:
    X, kind = clouds(24)
    answers, view = told(view_of(X, kind, Constraints(24)), strategy, kind, 200)
    assert len(answers) < 24 * 3
    assert sum(len(k) for k in view.constraints.kinds) == 24
