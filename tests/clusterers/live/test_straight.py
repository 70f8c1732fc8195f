"""When a straight line through the items is better than what lies close together."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from samekind.clusterers.linear_head import LinearHead, logistic_regression
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.orientation import Axes, Orientation, spread
from samekind.clusterers.live.seeds import Seeds
from samekind.constraints import Constraints

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def faces(n: int = 240, seed: int = 0) -> tuple[Floats, Ints, Ints]:
    """Twelve faces far from each other; the same slight move opens the eyes of each."""
    rng = np.random.default_rng(seed)
    face, eyes = np.arange(n) % 12, (np.arange(n) // 12) % 2
    middles = 4 * rng.normal(size=(12, 12))
    X = np.concatenate([middles[face] + 0.3 * rng.normal(size=(n, 12)), np.zeros((n, 1))], axis=1)
    X[:, 12] = 1.2 * (2 * eyes - 1) + 0.3 * rng.normal(size=n)
    return X, face.astype(np.intp), eyes.astype(np.intp)


def told(kinds: Ints, placed: Ints) -> Constraints:
    """Each of the placed items beside the first one of each kind before it."""
    first: dict[int, int] = {}
    links = []
    for item in placed.tolist():
        links += [(head, item, kinds[item] == kind) for kind, head in first.items()]
        first.setdefault(int(kinds[item]), item)
    return Constraints.from_links(len(kinds), links)


@pytest.mark.parametrize("n_kinds", [2, 12])
def test_a_head_is_what_scikit_learn_fits(n_kinds: int) -> None:
    X, face, _ = faces()
    rows, labels = np.arange(60), face[:60] % n_kinds
    weight = np.linspace(0.1, 1, len(rows))
    head = LinearHead.of(X[rows], labels, weight, n_kinds + 1, C=0.5, tol=1e-7, max_iter=500)
    model = logistic_regression(X[rows], labels, weight, C=0.5, tol=1e-7, max_iter=500)
    np.testing.assert_allclose(head(X)[:, :n_kinds], model.predict_proba(X), atol=1e-4)
    assert head(X)[:, n_kinds].max() == 0  # no example stands for it


@pytest.mark.parametrize("seed", range(2))
def test_live_finds_a_wish_that_cuts_across_what_lies_together(seed: int) -> None:
    X, face, eyes = faces(seed=seed)
    placed = np.random.default_rng(seed).permutation(len(X))[:40]
    found = Live(random_state=0).fit(X, constraints=told(eyes, placed))
    assert found.n_clusters_ == 2
    same = np.mean(found.labels_ == eyes)
    assert max(same, 1 - same) > 0.92
    assert np.mean(found.predict(X) == found.labels_) > 0.97
    Z = Axes.of(X, np.arange(len(X)), 100)(X)
    seeds = Seeds(placed, eyes[placed], 2)
    alone = spread(Orientation.learnt(Z, seeds, 0.3)(Z), seeds, 10).argmax(axis=1)
    assert np.mean(alone == eyes) < 0.9  # spreading alone would have failed
    by_face = Live(random_state=0).fit(X, constraints=told(face, placed))
    assert by_face.n_clusters_ >= 10
