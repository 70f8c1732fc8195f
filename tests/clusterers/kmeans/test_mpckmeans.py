"""MPCKMeans: metrics and objective against slow loops, wrong answers weighed, few items survived."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from samekind.clusterers.kmeans.mpckmeans import MIN_SPREAD, Metrics, MetricSteps, MPCKMeans
from samekind.constraints import Constraints, as_links
from samekind.errors import InputError
from samekind.evaluation import ari
from samekind.questions import Link


def stretched(n: int = 120, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two kinds that differ in a narrow column; the other column spreads far and means nothing."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    return np.stack([rng.normal(0, 6, n), 4 * kind + rng.normal(0, 0.5, n)], axis=1), kind


def true_links(kind: NDArray[Any], count: int, seed: int = 0) -> list[tuple[int, int, bool]]:
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(len(kind), 2, replace=False).tolist() for _ in range(count)]
    return [(a, b, bool(kind[a] == kind[b])) for a, b in pairs]


def small_case() -> tuple[MetricSteps, NDArray[Any], Metrics]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3)) * [1.0, 3.0, 0.5]
    drawn = [rng.choice(12, 2, replace=False).tolist() for _ in range(14)]
    links = as_links([Link(a, b, k % 2 == 0) for k, (a, b) in enumerate(drawn)])
    labels = np.arange(12) % 3
    metrics = Metrics(rng.normal(size=(3, 3)), rng.uniform(0.3, 2.0, size=(3, 3)))
    return MetricSteps(X, links, w=0.7, shrinkage=2.0), labels, metrics


def test_the_objective_is_that_of_a_slow_loop() -> None:
    case, labels, metrics = small_case()
    far = case.farthest(metrics)
    mu, A = metrics.centres, metrics.weights
    total = 0.0
    for i, x in enumerate(case.X):
        h = labels[i]
        total += (A[h] * (x - mu[h]) ** 2).sum() - np.log(A[h]).sum()
    broken = 0
    for a, b, same in zip(case.links.a, case.links.b, case.links.same, strict=True):
        apart, g, h = (case.X[a] - case.X[b]) ** 2, labels[a], labels[b]
        if same and g != h:
            total += 0.7 * (0.5 * (A[g] * apart).sum() + 0.5 * (A[h] * apart).sum())
            broken += 1
        if not same and g == h:
            total += 0.7 * max((A[g] * far[g]).sum() - (A[g] * apart).sum(), 0.0)
            broken += 1
    assert broken > 3
    assert case.objective(labels, metrics, far) == pytest.approx(total, rel=1e-9)


def test_the_metrics_are_those_of_a_slow_loop() -> None:
    case, labels, metrics = small_case()
    far = case.farthest(metrics)
    found = case.learnt(labels, metrics, far)
    means = np.stack([case.X[labels == h].mean(axis=0) for h in range(3)])
    common = ((case.X - means[labels]) ** 2).sum(axis=0) / len(case.X)
    for h in range(3):
        spread = ((case.X[labels == h] - means[h]) ** 2).sum(axis=0)
        for a, b, same in zip(case.links.a, case.links.b, case.links.same, strict=True):
            apart = (case.X[a] - case.X[b]) ** 2
            if same and labels[a] != labels[b]:
                spread += 0.7 * 0.5 * apart * ((labels[a] == h) + int(labels[b] == h))
            if not same and labels[a] == labels[b] == h:
                spread += 0.7 * np.maximum(far[h] - apart, 0.0)
        variance = (spread + 2.0 * common) / ((labels == h).sum() + 2.0)
        variance += MIN_SPREAD * variance.sum()
        np.testing.assert_allclose(found.weights[h], 1 / variance, rtol=1e-9)
    np.testing.assert_allclose(found.centres, means)


def test_each_linked_item_takes_the_cheapest_group_given_the_others() -> None:
    case, _, metrics = small_case()
    far = case.farthest(metrics)
    found = case.assigned(metrics, far, np.random.default_rng(0))
    last = int(case.linked[np.random.default_rng(0).permutation(len(case.linked))[-1]])
    costs = []
    for h in range(3):
        tried = found.copy()
        tried[last] = h
        costs.append(case.objective(tried, metrics, far))
    assert found[last] == int(np.argmin(costs))  # nobody chose after the last one


def test_the_pair_taken_as_farthest_is_nearly_the_farthest() -> None:
    case, _, metrics = small_case()
    apart = (case.X[:, None] - case.X[None]) ** 2  # (n, n, d)
    most = np.array([(apart * a).sum(axis=-1).max() for a in metrics.weights])
    found = (case.farthest(metrics) * metrics.weights).sum(axis=1)
    assert (found <= most + 1e-9).all() and (found >= 0.8 * most).all()


@pytest.mark.parametrize("seed", range(4))
def test_it_learns_which_column_counts(seed: int) -> None:
    X, kind = stretched(seed=seed)
    known = Constraints.from_links(len(X), true_links(kind, 40, seed))
    found = MPCKMeans(2, random_state=0).fit(X, constraints=known)
    assert ari(kind, found.labels_) > 0.95
    assert (found.metrics_[:, 1] > 5 * found.metrics_[:, 0]).all()
    assert ari(stretched(seed=1)[1], found.predict(stretched(seed=1)[0])) > 0.95


def test_contradictory_answers_are_set_aside() -> None:
    X, kind = stretched()
    links = true_links(kind, 40)
    wrong = [(a, b, not same) for a, b, same in links[:4]]
    known = Constraints.from_links(len(X), links + wrong)
    assert len(known.conflicts) == 4
    found = MPCKMeans(2, random_state=0).fit(X, constraints=known)
    alone = MPCKMeans(2, random_state=0).fit(X, constraints=Constraints.from_links(120, links))
    assert found.labels_.tolist() == alone.labels_.tolist()


def test_a_wrong_answer_that_contradicts_nothing_is_outweighed() -> None:
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + 8 * kind[:, None]
    wrong = [(0, 1, True), (2, 4, False)]
    untouched = [(a, b, same) for a, b, same in true_links(kind, 40) if min(a, b) > 4]
    known = Constraints.from_links(120, wrong + untouched)
    assert not known.conflicts
    found = MPCKMeans(2, w=0.1, random_state=0).fit(X, constraints=known)
    assert ari(kind, found.labels_) == 1.0
    assert found.n_violations_ == 2


def test_it_finds_a_number_of_groups_that_the_answers_allow() -> None:
    X, kind = stretched()
    known = Constraints.from_links(len(X), true_links(kind, 40))
    assert len(np.unique(MPCKMeans(random_state=0).fit(X, constraints=known).labels_)) >= 2


def test_groups_of_one_item_and_columns_without_spread_do_no_harm() -> None:
    X = np.array([[0.0, 7.0], [0.1, 7.0], [9.0, 7.0], [9.1, 7.0], [50.0, 7.0]])
    found = MPCKMeans(3, random_state=0).fit(X)
    assert found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3]
    assert len(set(found.labels_.tolist())) == 3
    assert np.isfinite(found.metrics_).all() and (found.metrics_[:, 1] == 0).all()
    assert np.unique(MPCKMeans(2, random_state=0).fit(np.ones((4, 2))).labels_).size >= 1


@pytest.mark.parametrize("name", ["w", "shrinkage"])
def test_a_negative_price_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=name):
        MPCKMeans(2, **{name: -1.0}).fit(np.arange(8.0)[:, None])
