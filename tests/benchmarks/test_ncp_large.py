"""The clustering processes on many points: same data for all, rows that say what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.ncp import estimates, large


def test_k_means_that_is_told_k_finds_clouds_that_lie_far_apart() -> None:
    truth = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 2)) + 30 * np.eye(3, 2)[truth]
    row = large.scored(large.k_means, [(X, truth)], [0])
    assert row["ari"] == [1.0] and row["groups"] == row["true_groups"] == [3]
    wrong = large.scored(lambda X, K, seed: np.arange(90) % 2, [(X, truth)], [0])
    assert wrong["ari"][0] < 0.1 and wrong["groups"] == [2]


def test_variants_and_k_means_get_the_same_sets_and_rows_name_the_weights(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    large.main([
        "--sizes", "20", "--dims", "3", "--sets", "2", "--variants", "pointwise", "clusterwise",
        "--json", str(file),
    ])  # fmt: skip
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["method"] for row in rows] == ["pointwise", "clusterwise", large.K_MEANS]
    assert len({tuple(row["true_groups"]) for row in rows}) == 1
    assert [row["sha256"] is None for row in rows] == [False, False, True]
    assert all(len(row["ari"]) == 2 == len(row["processor_seconds"]) for row in rows)


def test_real_sets_are_scored_with_both_estimates_in_both_scales(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    estimates.main(["--sets", "iris", "--runs", "1", "--items", "20", "--json", str(file)])
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(row["scale"], row["estimate"]) for row in rows} == {
        (scale, estimate)
        for scale in ("as it is", "standardised")
        for estimate in ("probable", "central")
    }
    assert all(row["true_groups"] == 3 and -1 <= row["ari"][0] <= 1 for row in rows)
    plain = estimates.standardised(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert plain.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
