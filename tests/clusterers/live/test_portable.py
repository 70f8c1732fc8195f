"""Portable heads: small, true to the learner that they come from, and calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.portable import (
    Portable,
    PortableHead,
    calibrated,
    condensed,
    portable_head,
    vote,
)
from samekind.clusterers.live.propagation import Propagation
from samekind.constraints import Constraints
from samekind.neighbours import nearest_points


def blobs(n: int, seed: int = 0, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    centres = 6 * np.eye(3, d)
    return (centres[kinds] + rng.normal(size=(n, d))).astype(np.float32), kinds


def told(kinds: np.ndarray, n: int = 30) -> Constraints:
    links = [(i, j, bool(kinds[i] == kinds[j])) for i in range(3) for j in range(i + 1, n)]
    return Constraints.from_links(len(kinds), links)


def fitted(n: int) -> tuple[Propagation, np.ndarray]:
    X, kinds = blobs(n)
    return Propagation(random_state=0).fit(X, constraints=told(kinds)), X


def test_the_same_item_decides_alone() -> None:
    points = np.array([[0.0], [1.0], [1.1]])
    strengths = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = vote(nearest_points(np.array([[0.001], [0.2]]), points, 3), strengths, same=0.01)
    assert found[0, 0] > 0.999 and 0.3 < found[1, 0] < 0.9


@pytest.mark.parametrize("n", [90, 3000])
def test_a_head_places_as_its_learner_does(n: int) -> None:
    model, X = fitted(n)
    assert isinstance(model, Portable)
    head = model.portable()
    assert len(head.points) <= max(n, 1000) and (n == 90 or len(head.points) < n)
    others, _ = blobs(500, seed=7)
    assert np.mean(head.predict(X).labels == model.labels_) >= 0.99
    assert np.mean(head.predict(others).labels == model.predict(others)) >= 0.99


def test_few_of_new_items_like_the_pile_are_strange_and_far_ones_all_are() -> None:
    model, _ = fitted(600)
    head = model.portable()
    others, _ = blobs(1000, seed=7)
    assert np.mean(head.strangeness(head.predict(others)) > 1) <= 0.03
    far = np.random.default_rng(0).normal(size=(50, 8)) * 30
    assert np.mean(head.strangeness(head.predict(far)) > 1) >= 0.95


def test_answered_items_stay_among_the_reference_items() -> None:
    X, kinds = blobs(3000)
    strengths = np.full((3000, 3), 0.1) + 0.7 * np.eye(3)[kinds]
    strengths[5:3000:30] = np.eye(3)[(kinds[5:3000:30] + 1) % 3]  # against all neighbours
    rows = condensed(X.astype(np.float64), strengths, 10, 1000)
    assert set(range(5, 3000, 30)) <= set(rows.tolist())


def test_limits_follow_the_density_of_each_group() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(200, 3)), 50 + 4 * rng.normal(size=(200, 3))])
    limits, typical = calibrated(points, np.arange(400) // 200, np.arange(400), 2)
    assert 2 < limits[1] / limits[0] < 7 and limits[0] > typical / 8
    alone, _ = calibrated(points[:2], np.array([0, 1]), np.arange(2), 2)
    assert np.isfinite(alone).all() and (alone > 0).all()


def test_a_learner_without_a_head_is_replaced_by_prototypes_with_a_note() -> None:
    X, _ = blobs(300)
    model = KMeans(3, random_state=0).fit(X * 1e6)
    head, note = portable_head(model, X * 1e6)
    assert "KMeans" in note and "100.0%" in note
    others, _ = blobs(300, seed=5)
    placing = head.predict(others * 1e6)
    assert (placing.labels == model.predict(others * 1e6)).all()
    np.testing.assert_allclose(placing.strengths.sum(axis=1), 1)
    assert np.mean(head.strangeness(placing) > 1) <= 0.05


def test_a_head_comes_back_from_its_parts_and_wrong_parts_are_refused() -> None:
    model, X = fitted(90)
    head = model.portable()
    again = PortableHead.from_state(head.state())
    for one, other in zip(head.predict(X), again.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    broken = head.points.copy()
    broken[0, 0] = np.nan
    for wrong in (
        {"points": broken},
        {"mean": head.mean[:-1]},
        {"labels": head.labels[:1]},
        {"n_neighbors": -1},
    ):
        with pytest.raises(ValueError, match="head"):
            PortableHead.from_state({**head.state(), **wrong})
    with pytest.raises(KeyError):
        PortableHead.from_state({})
