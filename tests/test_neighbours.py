"""Nearest neighbours: exact against brute force, and nearly all of them where it is approximate."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from samekind import neighbours
from samekind.compute import as_tensor
from samekind.errors import InputError
from samekind.neighbours import (
    MAX_EXACT_ROWS,
    exact_neighbours,
    find_neighbours,
    nearest_by_cosine,
    nearest_cosines,
    nearest_points,
)

Floats = NDArray[Any]
INDICES = [
    pytest.param(False, id="cells"),
    pytest.param(
        True,
        id="faiss",
        marks=pytest.mark.skipif(
            find_spec("faiss") is None,
            reason="faiss is not installed; pip install 'samekind[ann]' brings it",
        ),
    ),
]


def clusters(n: int, d: int, kinds: int, spread: float = 1.0, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(
        4 * rng.normal(size=(kinds, d))[rng.integers(kinds, size=n)]
        + spread * rng.normal(size=(n, d))
    )


def unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def brute_force(points: Floats, k: int) -> tuple[Floats, Floats]:
    """Rows and distances of the nearest others; of equally near ones the first comes first."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    rows = np.argsort(apart, axis=1, kind="stable")[:, :k]
    return rows, np.take_along_axis(apart, rows, axis=1)


def recall(found: Floats, true: Floats) -> float:
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found, true, strict=True)]
    return float(np.mean(shared)) / true.shape[1]


@pytest.mark.parametrize("search", [exact_neighbours, find_neighbours])
def test_small_sets_are_searched_exactly(search: Any) -> None:
    points = clusters(300, 5, 4)
    rows, distances = brute_force(points, 7)
    found = search(points, 7)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_allclose(found.distances, distances, atol=1e-4)


def test_of_equally_near_points_the_first_comes_first() -> None:
    line = np.arange(9.0)[:, None]
    assert exact_neighbours(line, 4).rows[4].tolist() == [3, 5, 2, 6]
    assert exact_neighbours(line, 2, np.array([[2.5]])).rows.tolist() == [[2, 3]]


@pytest.mark.parametrize("search", [exact_neighbours, find_neighbours])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_with_fewer_points_than_neighbours_all_others_are_found(search: Any, n: int) -> None:
    found = search(np.arange(float(n))[:, None], 10)
    assert found.rows.shape == found.distances.shape == (n, n - 1)
    assert all(sorted([i, *row]) == list(range(n)) for i, row in enumerate(found.rows.tolist()))


def test_queries_find_points_that_are_equal_to_them_at_distance_zero() -> None:
    points = clusters(60, 3, 2)
    found = exact_neighbours(points, 1, points[:5])
    np.testing.assert_array_equal(found.rows[:, 0], np.arange(5))
    same = nearest_points(points[:5] + 0.0, points, 2)
    np.testing.assert_array_equal(same.distances[:, 0], 0.0)


def test_nearest_points_are_those_that_the_slow_loop_finds() -> None:
    rng = np.random.default_rng(0)
    queries, points = rng.normal(size=(20, 4)), rng.normal(size=(50, 4))
    for query, rows, distances in zip(queries, *nearest_points(queries, points, 5), strict=True):
        slow = sorted((float(np.linalg.norm(query - p)), k) for k, p in enumerate(points))[:5]
        assert rows.tolist() == [k for _, k in slow]
        np.testing.assert_allclose(distances, [d for d, _ in slow])


def test_nearest_points_leave_out_the_query_itself_and_only_it() -> None:
    points = np.repeat(clusters(20, 3, 2), 2, axis=0)  # every point twice
    own = np.arange(40)
    own[0] = -1
    found = nearest_points(points, points, 3, own=own)
    assert (found.rows[1:] != np.arange(1, 40)[:, None]).all()
    assert found.rows[0].tolist()[:2] == [0, 1], "-1: the query is none of the points"
    np.testing.assert_array_equal(found.distances[:, 0], 0.0)


@pytest.mark.parametrize("use_faiss", INDICES)
def test_large_sets_find_nearly_all_true_neighbours(use_faiss: bool) -> None:
    points = clusters(MAX_EXACT_ROWS + 500, 16, 30, spread=1.5).astype(np.float32)
    found = find_neighbours(points, 15, use_faiss=use_faiss)
    true = exact_neighbours(points, 15)
    assert recall(found.rows, true.rows) > 0.97
    assert (found.rows != np.arange(len(points))[:, None]).all(), "a row is not its own neighbour"
    assert (np.diff(np.sort(found.rows, axis=1), axis=1) > 0).all(), "nor does one come twice"
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert (found.distances[:, 0] >= true.distances[:, 0] - 1e-3).all()
    again = find_neighbours(points, 15, use_faiss=use_faiss)
    np.testing.assert_array_equal(found.rows, again.rows)


@pytest.mark.parametrize("use_faiss", INDICES)
def test_a_large_set_of_copies_and_outliers_is_searched_too(use_faiss: bool) -> None:
    points = np.tile(np.array([[1.0, 2.0, 3.0]], dtype=np.float32), (MAX_EXACT_ROWS + 50, 1))
    points[:40] = 1e3 * np.random.default_rng(0).normal(size=(40, 3))
    found = find_neighbours(points, 15, use_faiss=use_faiss)
    assert (found.rows >= 0).all() and (found.rows != np.arange(len(points))[:, None]).all()
    assert (found.distances[40:] == 0).all()
    some = nearest_points(points[:40].astype(float), points.astype(float), 15, own=np.arange(40))
    assert (found.distances[:40, 0] <= some.distances[:, 0] + 1e-2).mean() > 0.7


def test_rows_whose_cells_are_too_small_look_at_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "ROWS_PER_CELL", 2)
    monkeypatch.setattr(neighbours, "PROBED_CELLS", 1)
    points = clusters(80, 3, 8)
    rows = neighbours._search_cells(as_tensor(points, "cpu"), 12)
    assert (rows >= 0).all() and (rows != np.arange(80)[:, None]).all()
    assert recall(rows, brute_force(points, 12)[0]) > 0.8


def test_cells_that_are_far_too_large_are_cut() -> None:
    points = np.concatenate([clusters(4000, 6, 1, spread=0.001), clusters(400, 6, 40, seed=4)])
    _, cell = neighbours._cells(as_tensor(points, "cpu"))
    assert int(np.bincount(cell.numpy()).max()) <= 4 * neighbours.ROWS_PER_CELL + 200


@pytest.mark.parametrize("max_cosines", [1, 130, 2**20])
def test_neighbours_by_cosine_are_those_of_a_full_sort(max_cosines: int) -> None:
    x = np.random.default_rng(0).normal(size=(57, 5))
    cosine = unit(x) @ unit(x).T
    np.fill_diagonal(cosine, -np.inf)
    found = nearest_by_cosine(torch.from_numpy(x), 7, max_cosines=max_cosines)
    np.testing.assert_array_equal(found.numpy(), np.argsort(-cosine, axis=1)[:, :7])


def test_a_row_is_not_its_own_neighbour_by_cosine_even_among_copies() -> None:
    found = nearest_by_cosine(torch.ones(6, 3), 5)
    assert all(sorted([*row, i]) == list(range(6)) for i, row in enumerate(found.tolist()))
    assert nearest_by_cosine(torch.zeros(4, 2), 3).shape == (4, 3), "rows without length"


@pytest.mark.parametrize("k", [0, 4])
def test_a_number_of_neighbours_that_cannot_be_found_is_refused(k: int) -> None:
    with pytest.raises(InputError, match=f"got shape .* and {k} neighbours"):
        nearest_by_cosine(torch.ones(4, 2), k)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_exact_cosines_are_those_of_all_pairs(kind: Any) -> None:
    z = unit(clusters(700, 6, 5)).astype(kind)
    cosine = z.astype(np.float64) @ z.astype(np.float64).T
    np.fill_diagonal(cosine, -9)
    found = nearest_cosines(z, 20, exact=True)
    atol = 1e-12 if kind is np.float64 else 1e-5
    np.testing.assert_allclose(found, -np.sort(-cosine, axis=1)[:, :20], atol=atol)


def test_tiles_and_buckets_lose_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    z = unit(clusters(900, 6, 5))
    expected = nearest_cosines(z, 4, exact=True)
    monkeypatch.setattr(neighbours, "BUCKET_COLUMNS", 7)
    monkeypatch.setattr(neighbours, "QUERY_ROWS", {True: 130, False: 130})
    monkeypatch.setattr(neighbours, "TILE_ROWS", {True: 210, False: 210})
    np.testing.assert_allclose(nearest_cosines(z, 4, exact=True), expected, atol=1e-12)


def test_approximate_cosines_are_nearly_all_true_ones_and_none_is_invented() -> None:
    z = unit(clusters(6000, 10, 30, spread=0.3))
    exact, found = (nearest_cosines(z, 20, exact=exact) for exact in (True, False))
    assert (found <= exact + 1e-9).all(), "never nearer than the nearest"
    assert (found >= exact[:, -1:] - 1e-9).mean() > 0.98
    assert np.array_equal(found, nearest_cosines(z, 20, exact=False)), "the same every time"


@pytest.mark.parametrize("n", [1, 2, 30, 250, 900])
def test_approximate_cosines_of_a_small_or_clumped_set_do_no_harm(n: int) -> None:
    clump = np.tile(unit(np.ones((1, 6))), (n, 1))
    clump[: n // 10] = unit(clusters(max(1, n // 10), 6, 3))[: n // 10]
    found = nearest_cosines(clump, 20, exact=False)
    assert found.shape == (n, min(20, n - 1))
    assert np.isfinite(found).all() and (np.abs(found) <= 1 + 1e-6).all()
    few = unit(clusters(150, 6, 5))
    cells, exact = (nearest_cosines(few, 5, exact=exact) for exact in (False, True))
    np.testing.assert_allclose(cells, exact, atol=1e-9)
