"""The layout of the map: neighbours lie together, nothing jumps, nothing breaks on odd input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from samekind.workspace.layout import (
    aligned,
    by_neighbours,
    in_square,
    main_axes,
    sketch,
)


def agreement(plane: np.ndarray, kinds: np.ndarray) -> float:
    """How often the ten nearest points in the plane are of the same kind."""
    near = NearestNeighbors(n_neighbors=10).fit(plane).kneighbors(return_distance=False)
    return float((kinds[near] == kinds[:, None]).mean())


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:900].astype(np.float32), y[:900]


def test_what_is_alike_lies_together_far_better_than_in_the_sketch(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = digits
    first, better = sketch(X), by_neighbours(X)
    assert agreement(first, y) < 0.65
    assert agreement(better, y) > 0.9
    for plane in (first, better):
        assert plane.shape == (900, 2) and plane.dtype == np.float32
        assert np.abs(plane).max() <= 1 and np.abs(plane).max() > 0.8


def test_the_same_items_give_the_same_layout(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = digits
    assert np.array_equal(by_neighbours(X[:200], seed=3), by_neighbours(X[:200], seed=3))


def test_a_layout_that_goes_on_from_another_moves_little(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    X, _ = digits
    before = by_neighbours(X)
    after = aligned(by_neighbours(X, start=before), before)
    moved = np.linalg.norm(after - before, axis=1)
    anew = np.linalg.norm(before[::-1] - before, axis=1)
    assert moved.mean() < 0.15 * anew.mean()


def test_a_turned_and_mirrored_layout_is_turned_back() -> None:
    rng = np.random.default_rng(0)
    plane = in_square(rng.normal(size=(300, 2)) * [1.0, 0.4])
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) @ np.diag([1.0, -1.0])
    assert np.allclose(aligned(plane @ turn, plane), plane, atol=0.02)


@pytest.mark.parametrize(
    "space",
    [
        np.zeros((5, 4)),
        np.ones((1, 3)),
        np.arange(3.0).reshape(3, 1),
        np.repeat(np.eye(2, 4), 10, axis=0),
        np.arange(40.0).reshape(10, 2, 2),
        np.r_[np.random.default_rng(0).normal(size=(50, 3)), [[1e6, 0, 0]]],
    ],
    ids=["all the same", "one item", "three items", "two places", "pictures", "an outlier"],
)
def test_odd_piles_have_a_layout_too(space: np.ndarray) -> None:
    for plane in (sketch(space), by_neighbours(space)):
        assert plane.shape == (len(space), 2)
        assert np.isfinite(plane).all() and np.abs(plane).max() <= 1


def test_an_outlier_does_not_make_all_others_small() -> None:
    plane = np.r_[np.random.default_rng(0).normal(size=(1_000, 2)), [[1e4, 0]]]
    assert np.abs(in_square(plane)[:-1]).max() > 0.8


def test_a_layout_that_is_stopped_hands_out_what_there_is() -> None:
    X = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    steps = iter([True, True])
    assert np.isfinite(by_neighbours(X, go_on=lambda: next(steps, False))).all()


def test_main_axes_are_the_same_whichever_way_they_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [5, 3, 1, 0.5, 0.1]
    wide = np.pad(X, ((0, 0), (0, 2_100))).astype(np.float32)
    assert np.allclose(np.abs(main_axes(X)), np.abs(main_axes(wide)), atol=1e-2)
