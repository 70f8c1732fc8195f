"""Seeded and constrained seeded k-means: where they begin, and who may leave."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import make_blobs

from samekind.clusterers.kmeans.seeded import ConstrainedSeededKMeans, SeededKMeans
from samekind.constraints import Constraints
from samekind.evaluation import ari

LINE = np.array([[0.0], [1.0], [4.0], [5.0], [9.0]])
BOTH = pytest.mark.parametrize("method", [SeededKMeans, ConstrainedSeededKMeans])


def placed(kinds: list[list[int]], n: int) -> Constraints:
    """Items said to be of the same kind, kind by kind, and all kinds told apart."""
    same = [(kind[0], i, True) for kind in kinds for i in kind[1:]]
    apart = [(a[0], b[0], False) for k, a in enumerate(kinds) for b in kinds[:k]]
    return Constraints.from_links(n, same + apart)


def test_seeded_k_means_is_plain_k_means_from_the_means_of_the_seeds() -> None:
    X, kind = make_blobs(150, centers=4, cluster_std=3.0, random_state=1)
    seeds = [np.flatnonzero(kind == k)[:3].tolist() for k in range(4)]
    found = SeededKMeans(4, tol=0.0).fit(X, constraints=placed(seeds, len(X)))
    start = np.stack([X[s].mean(axis=0) for s in seeds])
    plain = PlainKMeans(4, init=start, n_init=1, tol=0.0, max_iter=300).fit(X)
    assert ari(plain.labels_, found.labels_) == pytest.approx(1.0)
    assert found.inertia_ == pytest.approx(plain.inertia_)


def test_only_constrained_seeds_stay_where_they_were_put() -> None:
    known = placed([[0, 3], [4]], 5)  # centres begin at 3.5 and 9
    line = np.array([[0.0], [1.0], [1.5], [7.0], [9.0]])
    free = SeededKMeans(2).fit(line, constraints=known)
    assert free.labels_.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(free.cluster_centers_, [[2.5 / 3], [8.0]])
    held = ConstrainedSeededKMeans(2).fit(line, constraints=known)
    assert held.labels_.tolist() == [0, 0, 0, 0, 1]
    np.testing.assert_allclose(held.cluster_centers_, [[9.5 / 4], [9.0]])


@BOTH
def test_seeds_decide_between_two_equally_good_groupings(method: type[SeededKMeans]) -> None:
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]) * 10
    X = np.concatenate([corners + d for d in ([0, 0], [0.1, 0], [0, 0.1])])
    side, floor = X[:, 0] > 5, X[:, 1] > 5
    for kinds, truth in (([[0, 1], [2, 3]], side), ([[0, 2], [1, 3]], floor)):
        found = method(2).fit(X, constraints=placed(kinds, len(X)))
        assert ari(truth.astype(int), found.labels_) == 1.0


@BOTH
def test_the_kinds_say_how_many_groups_there_are(method: type[SeededKMeans]) -> None:
    X, kind = make_blobs(90, centers=3, cluster_std=0.5, random_state=0)
    known = placed([np.flatnonzero(kind == k)[:4].tolist() for k in range(3)], len(X))
    found = method(random_state=0).fit(X, constraints=known)
    assert ari(kind, found.labels_) == 1.0


@BOTH
def test_groups_without_a_seed_are_found_all_the_same(method: type[SeededKMeans]) -> None:
    X, kind = make_blobs(120, centers=4, cluster_std=0.5, random_state=3)
    known = placed([np.flatnonzero(kind == k)[:3].tolist() for k in (0, 1)], len(X))
    assert ari(kind, method(4, random_state=0).fit(X, constraints=known).labels_) == 1.0


@BOTH
def test_a_wrong_answer_that_makes_one_kind_too_many_does_no_harm(
    method: type[SeededKMeans],
) -> None:
    X, kind = make_blobs(90, centers=3, cluster_std=0.5, random_state=0)
    seeds = [np.flatnonzero(kind == k)[:4].tolist() for k in range(3)]
    wrong = [[int(np.flatnonzero(kind == 0)[5])]]
    known = placed(seeds + wrong, len(X))
    assert len(known.kinds) == 4
    assert ari(kind, method(3, random_state=0).fit(X, constraints=known).labels_) == 1.0


@BOTH
def test_one_group_and_no_answers_are_possible(method: type[SeededKMeans]) -> None:
    assert set(method(1).fit(LINE, constraints=placed([[0], [4]], 5)).labels_.tolist()) == {0}
    assert len(set(method(2, random_state=0).fit(LINE).labels_.tolist())) == 2
