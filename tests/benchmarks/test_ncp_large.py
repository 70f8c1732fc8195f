"""The clusterwise process on many points: same data for all, rows in a file, weights that tell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.ncp import large
from samekind.clusterers.ncp.amortized.weights import read_tensors


def test_a_row_tells_the_mean_score_the_median_time_and_the_error_of_k() -> None:
    values = np.array([[1.0, 2.0, 3, 4], [0.5, 6.0, 5, 4], [0.0, 3.0, 4, 4]])
    row = large.summary(2, 10, "m", values)
    assert row["ARI"] == pytest.approx(0.5) and row["seconds"] == 3.0
    assert row["+-"] == pytest.approx(1.96 * 0.5 / np.sqrt(3))
    assert (row["K"], row["true K"], row["|K error|"]) == (4.0, 4.0, pytest.approx(2 / 3))


def test_k_means_that_is_told_k_finds_clouds_that_lie_far_apart() -> None:
    truth = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 2)) + 30 * np.eye(3, 2)[truth]
    labels, seconds = large.k_means(X, 3, 0)
    assert large.ari(truth, labels) == 1.0 and seconds > 0


def test_a_small_run_trains_saves_and_uses_the_weights_again(tmp_path: Path) -> None:
    common = ["--sizes", "60", "--dims", "2", "--sets", "2", "--samples", "2", "--device", "cpu"]
    weights, one, two = (str(tmp_path / name) for name in ("w.safetensors", "1.json", "2.json"))
    train = ["--seconds", "0.5", "--width", "16", "--batch", "4", "--train-points", "8", "20"]
    large.main([*common, *train, "--out", weights, "--json", one])
    large.main([*common, "--weights", weights, "--json", two])
    rows = [json.loads(Path(path).read_text())["rows"] for path in (one, two)]
    scores = [[(row["method"], row["ARI"]) for row in each] for each in rows]
    assert scores[0] == scores[1]
    assert [name for name, _ in scores[0]] == [*large.METHODS, "k-means, true K"]
    _, facts = read_tensors(weights)
    assert facts["calibrated"] and facts["steps"] >= 1 and np.isfinite(facts["nll"])
    assert str(tmp_path) not in json.dumps(facts), "no paths of a machine in what is shipped"
