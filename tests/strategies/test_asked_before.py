"""What is kept from question to question changes how fast they come, never which come."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from places import VECTORS
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Answer, Question
from samekind.registry import find, registered
from samekind.strategies.exemplars import squared_distances
from samekind.strategies.pairs.candidates import Candidates
from samekind.strategies.pairs.evidence import Evidence, EvidenceCache
from samekind.strategies.pairs.pcl_reference import known_answers
from samekind.strategies.placement.placement import Nearest

RECORDED = VECTORS / "asked.json"
"""Runs of `questions_of`, recorded before anything was kept from one question to the next; those of
`pcl` and `pcl-reference` again when r began to fall within a proposal, those of `placement` when
groups began to keep their places."""
BATCHES, BATCH, KINDS = 12, 5, 4


def snapshots(n: int, *, deep: bool) -> tuple[Clustering, Clustering]:
    """Two rounds of a method: with two views and memberships (`deep`), or with vectors alone."""
    rng = np.random.default_rng(n)
    kinds = np.arange(n) % KINDS

    def bank(noise: float) -> Any:
        z = noise * rng.normal(size=(n, 12)) + np.eye(KINDS, 12)[kinds]
        return (z / np.linalg.norm(z, axis=1, keepdims=True) if deep else z + 1).astype(np.float32)

    before = Clustering.first(kinds, bank(0.5))
    membership = rng.dirichlet(np.ones(KINDS) / 2, n) if deep else None
    views = np.stack([bank(0.4), bank(0.4)]) if deep else None
    return before, before.followed_by(kinds, bank(0.4), membership, views)


def truthful(question: Question) -> str:
    return question.truthful(lambda a, b: a % KINDS == b % KINDS)


def questions_of(name: str, n: int, *, deep: bool) -> list[list[int]]:
    """The items of every question, answered truthfully batch after batch; one in ten is unsure."""
    strategy = find("strategy", name)()
    before, now = snapshots(n, deep=deep)
    known, number = Constraints(n), 0
    asked: list[list[int]] = []
    passed: tuple[Question, ...] = ()
    for batch in range(BATCHES):
        rng = np.random.default_rng((3, batch))
        view = View(now, known, rng, before, number, BATCHES * BATCH, passed, seed=5)
        for question in strategy.propose(view, BATCH)[:BATCH]:
            number += 1
            asked.append([int(i) for i in question.items()])
            choice = truthful(question)
            if number % 10 == 0:
                passed, choice = (*passed, question), "unsure"
            known = known.with_answer(Answer(number, question, choice))
    return asked


@pytest.mark.parametrize("case", sorted(json.loads(RECORDED.read_text())))
def test_the_same_questions_are_asked_as_before(case: str) -> None:
    name, n, sort = case.split()
    expected = json.loads(RECORDED.read_text())[case]
    assert questions_of(name, int(n), deep=sort == "deep") == expected


@pytest.mark.parametrize("name", sorted(registered("strategy")))
def test_an_answer_taken_back_leaves_no_trace_in_the_next_question(name: str) -> None:
    strategy = find("strategy", name)()
    before, now = snapshots(400, deep=False)
    answers: list[Answer] = []

    def view(clustering: Clustering) -> View:
        known = Constraints.from_answers(400, answers)
        rng = np.random.default_rng(len(answers))
        return View(clustering, known, rng, before, len(answers), 60, seed=5)

    for step in range(12):
        question = strategy.propose(view(now), 1)[0]
        answers.append(Answer(step + 1, question, truthful(question)))
        if step % 6 == 5:
            del answers[-4]
            _, anew = snapshots(400, deep=False)
            assert strategy.propose(view(now), 3) == strategy.propose(view(anew), 3)


def random_links(n: int, count: int, seed: int) -> list[tuple[int, int, bool]]:
    drawn = np.random.default_rng(seed).integers(0, n, (count, 2)).tolist()
    return [(a, b, a % KINDS == b % KINDS) for a, b in drawn if a != b]


@pytest.mark.parametrize("summed", [True, False])
def test_evidence_that_grew_with_the_answers_is_that_of_all_answers(summed: bool) -> None:
    view = View(snapshots(400, deep=False)[1], Constraints(400), np.random.default_rng(0))
    points, pool = Candidates().bank(view.clustering), Candidates().pool(view)
    links = random_links(400, 300, seed=1)
    trail = EvidenceCache(points, pool, summed=summed)
    for count in (0, 1, 2, 40, 41, 20, 21, 290):  # at 20, answers are taken back
        known = Constraints.from_links(400, links[:count])
        evidence, found = trail.after(known)
        whole = Evidence.of(points, known, summed=summed)
        np.testing.assert_array_equal(evidence.row >= 0, whole.row >= 0)
        expected = whole.between(points, pool.a, pool.b)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_distances_to_placed_items_follow_answers_that_come_and_go() -> None:
    space = snapshots(60, deep=False)[1].space
    points, nearest = space[:7], Nearest.of_none(7)
    for placed in ([10], [10, 20], [10, 20, 30, 40], [10, 40], [50]):
        found = nearest.to(space, points, np.array(placed))
        expected = squared_distances(points, space[placed]).min(axis=1)
        np.testing.assert_array_equal(found, expected)


def test_what_is_known_of_pairs_is_what_the_closure_says() -> None:
    known = Constraints.from_links(40, random_links(40, 60, seed=2))
    a, b = (side.ravel() for side in np.meshgrid(np.arange(40), np.arange(40)))
    of = {True: 1, False: -1, None: 0}
    expected = [of[known.same(int(i), int(j))] for i, j in zip(a, b, strict=True)]
    assert known_answers(known, a, b).tolist() == expected
    nothing = known_answers(Constraints(40), a, b)
    assert nothing.tolist() == (a == b).astype(int).tolist()


def test_what_is_kept_for_one_seed_is_not_taken_for_another() -> None:
    strategy = find("strategy", "placement")()
    _, now = snapshots(400, deep=False)
    known = Constraints.from_links(400, random_links(400, 30, seed=3))
    first = View(now, known, np.random.default_rng(0), seed=1)
    strategy.propose(first, 2)
    _, anew = snapshots(400, deep=False)
    other = replace(first, seed=2)
    assert strategy.propose(other, 2) == strategy.propose(replace(other, clustering=anew), 2)
