"""The comparison of the clustering process with others: same data, fair scores, a file of rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.ncp import quality


def four_clouds(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    truth = np.arange(n) % 4
    centres = np.array([[-20.0, 0], [20, 0], [0, 20], [0, -20]])
    return centres[truth] + np.random.default_rng(0).normal(size=(n, 2)), truth


@pytest.mark.parametrize(
    "method",
    [
        lambda x: quality.variational(x, "full", 0),
        lambda x: quality.variational(x, "spherical", 0),
        quality.hdbscan,
        lambda x: quality.by_silhouette(x, 0),
    ],
    ids=["full", "spherical", "hdbscan", "silhouette"],
)
def test_every_rival_finds_clouds_that_lie_far_apart(method: quality.Method) -> None:
    x, truth = four_clouds()
    assert quality.ari(truth, method(x)) > 0.95


def test_noise_joins_the_nearest_group_and_nothing_but_noise_is_one_group() -> None:
    x, _ = four_clouds()
    far = np.vstack([x, [[60.0, 0]]])
    labels = quality.hdbscan(far)
    assert labels[-1] == labels[1] and labels.min() == 0
    assert len(np.unique(quality.hdbscan(np.random.default_rng(0).normal(size=(6, 2))))) == 1


def test_all_methods_get_the_same_data_and_seeds_give_other_data() -> None:
    world = quality.WORLDS["overlapping"]
    x, truth = quality.drawn(world, 30, 4, seed=0)
    again, _ = quality.drawn(world, 30, 4, seed=0)
    other, _ = quality.drawn(world, 30, 4, seed=1)
    assert x.shape == (4, 30, 2) and truth.shape == (4, 30)
    assert np.array_equal(x, again) and not np.array_equal(x, other)
    assert len(np.unique(x[:, :, 0])) == 120, "no point is blanked"


def test_a_row_tells_the_score_its_interval_and_the_error_of_k() -> None:
    truth = np.array([[0, 0, 1, 1], [0, 0, 0, 0]])
    times = [np.array([1.0, 0.5]), np.array([3.0, 0.7])]
    row = quality.scored("clear", 4, "m", truth, [truth[0], np.array([0, 0, 1, 2])], times)
    assert row["ari"] == pytest.approx(0.5) and row["ari_each"] == [1.0, 0.0]
    assert row["ari_half"] == pytest.approx(12.706 * 0.5, rel=1e-3)
    assert (row["k_error"], row["k_bias"], row["k_right"]) == (1.0, 1.0, 0.5)
    assert (row["seconds"], row["processor_seconds"]) == (2.0, pytest.approx(0.6))


def test_a_small_comparison_runs_trains_saves_and_uses_the_weights_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--worlds", "clear", "--sizes", "12", "--draws", "2", "--sweeps", "5", "--samples",
              "8", "--device", "cpu", "--without", "ncp shipped"]  # fmt: skip
    train = ["--seconds", "0.3", "--points", "4", "8", "--batch", "4", "--save", f"{tmp_path}/w"]
    quality.main([*common, *train, "--json", f"{tmp_path}/one.json"])
    first = json.loads((tmp_path / "one.json").read_text())
    weights = ["--weights", f"{tmp_path}/w-{{world}}.safetensors"]
    quality.main([*common, *weights, "--json", f"{tmp_path}/two.json"])
    second = json.loads((tmp_path / "two.json").read_text())
    scores = [[(r["method"], r["ari_each"]) for r in c["rows"]] for c in (first, second)]
    assert scores[0] == scores[1]
    names = {name for name, _ in scores[0]}
    assert {"ncp", "dp-gmm full", "hdbscan", "k-means silhouette", "gibbs"} <= names
    assert "K right" in capsys.readouterr().out
