"""How many groups: what answers tell of it, and when they leave it open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances, silhouette_score

from samekind import InputError, group
from samekind.clusterers.group_count import guessed_count, silhouette, told_count
from samekind.clusterers.kmeans.centres import Blocks
from samekind.constraints import Constraints


def placed(n_items: int, kinds: int) -> Constraints:
    """Every item placed in one of the kinds, all of which were told apart."""
    apart = [(a, b, False) for b in range(kinds) for a in range(b)]
    return Constraints.from_links(
        n_items, [*apart, *((i, i % kinds, True) for i in range(kinds, n_items))]
    )


def test_without_answers_nothing_is_told() -> None:
    assert told_count(Constraints(5)) is None
    assert told_count(Constraints.from_links(5, [(0, 1, True)])) is None


def test_placed_items_tell_the_number_of_groups() -> None:
    assert told_count(placed(30, 4)) == 4
    assert told_count(placed(30, 2)) == 2


def test_pairs_among_many_kinds_leave_the_number_open() -> None:
    drawn = np.random.default_rng(0).permutation(400).reshape(-1, 2)[:50].tolist()
    pairs = Constraints.from_links(400, [(a, b, a % 10 == b % 10) for a, b in drawn])
    assert len(pairs.kinds) == 2
    assert told_count(pairs) is None


def test_enough_pairs_tell_the_number_after_all() -> None:
    drawn = np.random.default_rng(0).integers(0, 60, (400, 2)).tolist()
    pairs = Constraints.from_links(60, [(a, b, a % 3 == b % 3) for a, b in drawn if a != b])
    assert told_count(pairs) == 3


def test_a_guess_is_never_below_what_is_proven_different() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 20 * (np.arange(60) % 2)[:, None]
    free, told = Constraints(60), placed(60, 5)
    assert guessed_count(X, Blocks.from_constraints(X, free), rng) == 2
    assert guessed_count(X, Blocks.from_constraints(X, told), rng) >= 5


@pytest.mark.parametrize("count", [3.0, 2.5, "3", float("nan"), True, 0, -1], ids=repr)
@pytest.mark.parametrize("method", ["live", "propagation", "kmeans", "seeded", "logistic"])
def test_a_number_of_groups_is_a_whole_number(method: str, count: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(InputError, match="Expected n_clusters to be a whole number of at least 1"):
        group(X, n_groups=count, clusterer=method)


@pytest.mark.parametrize("seed", range(5))
def test_the_silhouette_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 3)), 3 * rng.integers(0, 9, 60)
    X[:4], labels[0] = X[0], 50  # equal items, and a group of one
    distances = pairwise_distances(X)
    expected = silhouette_score(distances, labels, metric="precomputed")
    assert silhouette(distances, labels) == pytest.approx(expected, abs=1e-12)
