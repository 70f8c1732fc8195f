"""Pairs: right answers never harm, and enough of them find what cuts across the groups."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad
from sklearn.datasets import make_blobs

from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.orientation import spread
from samekind.clusterers.live.pairs import MIN_PAIRS, _incidence, _Pairs, _Way
from samekind.clusterers.live.propagation import Propagation
from samekind.clusterers.live.seeds import Seeds
from samekind.constraints import Constraints
from samekind.evaluation import ari

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
SEEDS = range(3)


def overlapping(seed: int) -> tuple[Floats, Ints]:
    """Four groups that overlap, in eight dimensions."""
    X, truth = make_blobs(300, 8, centers=4, cluster_std=4.0, random_state=seed)
    return X, truth


def across(seed: int) -> tuple[Floats, Ints]:
    """Five groups far apart, and a kind that each of them has half of."""
    rng = np.random.default_rng(seed)
    group, kind = np.arange(600) % 5, rng.permutation(np.arange(600) % 2)
    X = rng.normal(size=(600, 12))
    X[:, :5] += 8 * np.eye(5)[group]
    X[:, 5] += 5 * kind
    return X, kind


def pairs(truth: Ints, count: int, seed: int, wrong: float = 0.0) -> Constraints:
    """Answers about random pairs."""
    rng = np.random.default_rng((seed, count))
    drawn = [rng.choice(len(truth), 2, replace=False) for _ in range(count)]
    slips = rng.random(count) < wrong
    return Constraints.from_links(
        len(truth),
        [(int(a), int(b), bool((truth[a] == truth[b]) ^ slip))
         for (a, b), slip in zip(drawn, slips, strict=True)],
    )  # fmt: skip


@pytest.mark.parametrize("told", [None, 4])
def test_right_pairs_do_not_harm(told: int | None) -> None:
    def mean_score(count: int) -> float:
        scores = []
        for seed in SEEDS:
            X, truth = overlapping(seed)
            model = Live(told, random_state=seed).fit(X, constraints=pairs(truth, count, seed))
            scores.append(ari(truth, model.labels_))
        return float(np.mean(scores))

    without = mean_score(0)
    assert all(mean_score(count) > without - 0.02 for count in (1, 30))
    assert mean_score(1000) > without + 0.02


def test_right_pairs_do_not_harm_what_spreads_from_answers() -> None:
    def mean_score(count: int) -> float:
        found = [
            (truth, Propagation(4, random_state=seed).fit(X, constraints=pairs(truth, count, seed)))
            for seed in SEEDS
            for X, truth in [overlapping(seed)]
        ]
        return float(np.mean([ari(truth, model.labels_) for truth, model in found]))

    without = mean_score(0)
    assert all(mean_score(count) > without - 0.02 for count in (10, 100, 300))


@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_enough_pairs_find_what_cuts_across_the_groups(wrong: float) -> None:
    X, kind = across(0)
    assert ari(kind, Live(random_state=0).fit(X).labels_) < 0.1
    model = Live(random_state=0).fit(X, constraints=pairs(kind, 150, 0, wrong))
    # Wrong answers are honoured too; they may open groups of their own.
    assert ari(kind, model.labels_) > (0.85 if wrong else 0.95)


def test_groups_honour_the_pairs_and_few_of_them_change_nothing_else() -> None:
    X, truth = overlapping(1)
    plain = Live(random_state=0).fit(X).labels_
    few = pairs(truth, MIN_PAIRS - 1, 0)
    found = Live(random_state=0).fit(X, constraints=few).labels_
    others = np.setdiff1d(np.arange(len(X)), few.touched)
    assert ari(plain[others], found[others]) == 1
    for count in (MIN_PAIRS - 1, 100):
        known = pairs(truth, count, 0)
        found, links = Live(random_state=0).fit(X, constraints=known).labels_, known.links()
        assert ((found[links.a] == found[links.b]) == links.same).all()


def test_the_slope_of_the_likelihood_is_right() -> None:
    X, truth = overlapping(0)
    task = _Pairs.of(X, pairs(truth, 30, 0), 3, 0.03)
    rng = np.random.default_rng(0)
    around, start = rng.normal(0, 0.1, (2, 3, 9))
    way = _Way(around, 0.5, start[None])
    given = way, tuple(_incidence(end, len(task.x)) for end in (task.a, task.b))
    error = check_grad(
        lambda w: task._loss(w, *given)[0], lambda w: task._loss(w, *given)[1], start.ravel()
    )
    assert error < 1e-3 * np.abs(task._loss(start.ravel(), *given)[1]).max()


def test_answers_may_open_groups_beyond_the_plain_ones() -> None:
    space = np.random.default_rng(0).normal(size=(20, 2))
    seeds = Seeds(np.array([0, 1, 2]), np.array([0, 1, 2]), 3)
    found = spread(space, seeds, 5, prior=np.full((20, 2), 0.01))
    assert found.shape == (20, 3) and found[2].argmax() == 2
