"""The contract of a strategy: its questions can be asked, and depend on the view alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import QueryStrategy, View
from samekind.questions import UNSURE, Answer, Question


def check_strategy(strategy: QueryStrategy) -> None:
    """Check that proposals are new, answerable, repeatable, and end when all is known."""
    assert is_dataclass(strategy), "a strategy only decides: make it a frozen dataclass"
    hash(strategy)
    assert isinstance(strategy, QueryStrategy)
    for soft in (True, False):
        view = example_view(soft=soft)
        _check_repeatable(strategy, view)
        _check_a_whole_conversation(strategy, view)
    assert "labels" not in {f.name for f in fields(View)}, "a view has no field for labels"


def example_view(n: int = 40, seed: int = 0, *, soft: bool = True) -> View:
    """Three clouds of points with a few wrong labels and no answers."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    space = (rng.normal(size=(n, 4)) + 4 * np.eye(3, 4)[kinds]).astype(np.float32)
    labels = np.where(rng.random(n) < 0.15, (kinds + 1) % 3, kinds)
    membership = None
    if soft:
        logits = 2.0 * np.eye(3)[labels] + rng.normal(size=(n, 3))
        membership = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    first = Clustering.first(labels, space, membership)
    moved = (space + 0.3 * rng.normal(size=space.shape)).astype(np.float32)
    now = first.followed_by(first.labels, moved, first.membership)
    return View(now, Constraints(n), np.random.default_rng(seed), previous=first, budget=30)


def _check_repeatable(strategy: QueryStrategy, view: View) -> None:
    once = strategy.propose(replace(view, rng=np.random.default_rng(5)), 3)
    again = strategy.propose(replace(view, rng=np.random.default_rng(5)), 3)
    assert list(once) == list(again), "the same view must give the same questions"
    assert once, "with nothing known there is something to ask"


def _check_a_whole_conversation(strategy: QueryStrategy, view: View) -> None:
    """Answer truthfully until nothing is proposed; no question may be implied or passed."""
    n = view.constraints.n_items
    kinds = np.arange(n) % 3
    answers: list[Answer] = []
    passed: list[Question] = []
    for number in range(1, 5 * n):
        known = Constraints.from_answers(n, answers)
        now = replace(
            view,
            constraints=known,
            rng=np.random.default_rng(number),
            spent=len(answers),
            passed=tuple(passed),
        )
        proposed = strategy.propose(now, 1)
        if not proposed:
            break
        for question in proposed:
            assert all(0 <= i < n for i in question.items()), "only items of the collection"
            assert question.truthful(known.same) == UNSURE, "what is implied is never asked"
            assert question not in passed, "what the person passed on is not asked again"
            assert question.why, "every question says why it is asked"
        question = proposed[0]
        choice = question.truthful(lambda a, b: bool(kinds[a] == kinds[b]))
        if number % 7 == 0:
            passed.append(question)
            choice = UNSURE
        answers.append(Answer(number, question, choice))
    assert len(answers) >= 2, "a conversation has more than one question"
