"""Random checks over all labels: drawn from every row, and shown with the surest items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from samekind.bulk.check import MAX_CHECKED, N_EXEMPLARS, drawn_rows, exemplar_rows
from samekind.errors import InputError
from stored_vectors import drawn_labels


def test_every_row_is_drawn_equally_often_and_none_twice() -> None:
    counts = np.zeros(20)
    for seed in range(400):
        rows = drawn_rows(20, 5, seed)
        assert len(set(rows.tolist())) == 5
        counts[rows] += 1
    assert counts.sum() == 2000 and abs(counts - 100).max() < 45  # five standard deviations
    halves = [np.mean(drawn_rows(20, 1, seed)) < 10 for seed in range(400)]
    assert 150 < sum(halves) < 250, "the first one is random as well"


def test_a_larger_sample_begins_with_the_smaller_one() -> None:
    few, many = drawn_rows(10**9, 50), drawn_rows(10**9, 500)
    assert few.tolist() == many[:50].tolist() and many.max() > 9 * 10**8
    for size in (0, MAX_CHECKED + 1):
        with pytest.raises(InputError, match="Expected 1 to 10,000 items"):
            drawn_rows(10**9, size)
    with pytest.raises(InputError, match="Expected 1 to 7 items"):
        drawn_rows(7, 8)


def test_exemplars_are_the_surest_and_nearest_that_are_not_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 3000
    group = rng.integers(1, 4, n)
    confidence = np.minimum(rng.random(n) * 1.2, 1).astype(np.float32)  # many are certain
    distance = rng.random(n).astype(np.float32)
    labels = drawn_labels(tmp_path, group, confidence=confidence, distance=distance, parts=7)
    without = rng.permutation(n)[:1500]
    found = exemplar_rows(labels, without)
    assert sorted(found) == [1, 2, 3]
    for number, rows in found.items():
        free = np.setdiff1d(np.flatnonzero(group == number), without)
        order = sorted(free.tolist(), key=lambda i: (-confidence[i], distance[i], i))
        assert rows.tolist() == order[:N_EXEMPLARS]


def test_a_group_that_is_drawn_as_a_whole_has_no_exemplars(tmp_path: Path) -> None:
    labels = drawn_labels(tmp_path, np.array([1, 1, 2, 1]))
    assert sorted(exemplar_rows(labels, np.array([2]))) == [1]
