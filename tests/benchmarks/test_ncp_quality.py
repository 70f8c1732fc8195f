"""The comparison of the clustering process with others: same data, fair scores, resumable rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.ncp import quality, rivals
from benchmarks.ncp.summaries import read_rows, summary
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import save
from samekind.evaluation import ari


def four_clouds(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    truth = np.arange(n) % 4
    centres = np.array([[-20.0, 0], [20, 0], [0, 20], [0, -20]])
    return centres[truth] + np.random.default_rng(0).normal(size=(n, 2)), truth


@pytest.mark.parametrize("name", list(quality.OTHERS))
def test_every_rival_finds_clouds_that_lie_far_apart(name: str) -> None:
    x, truth = four_clouds()
    assert ari(truth, quality.OTHERS[name](x)) > 0.95


def test_noise_joins_the_nearest_group_and_nothing_but_noise_is_one_group() -> None:
    x, _ = four_clouds()
    far = np.vstack([x, [[60.0, 0]]])
    labels = rivals.hdbscan(far)
    assert labels[-1] == labels[1] and labels.min() == 0
    assert len(np.unique(rivals.hdbscan(np.random.default_rng(0).normal(size=(6, 2))))) == 1


def test_the_central_draw_is_wrong_about_the_fewest_pairs() -> None:
    often, rare = [0, 0, 1, 1], [0, 1, 2, 3]
    draws = np.array([rare, often, [0, 0, 1, 2], often, [0, 0, 0, 0]])
    assert rivals.central(draws).tolist() == often


def test_all_methods_get_the_same_data_and_seeds_give_other_data() -> None:
    world = quality.WORLDS["overlapping"]
    x, truth = quality.drawn(world, 30, 4, seed=0)
    more, _ = quality.drawn(world, 30, 30, seed=0)
    other, _ = quality.drawn(world, 30, 4, seed=1)
    assert x.shape == (4, 30, 2) and truth.shape == (4, 30)
    assert np.array_equal(x, more[:4]) and not np.array_equal(x, other)
    assert len(np.unique(x[:, :, 0])) == 120, "no point is blanked"


def test_pieces_are_put_together_with_the_interval_and_the_errors_of_k() -> None:
    row = {"world": "clear", "N": 4, "method": "m", "sha256": None, "sets": 1}
    first = {**row, "first": 0, "ari": [1.0], "groups": [2], "true_groups": [2],
             "processor_seconds": 1.0}  # fmt: skip
    second = {**row, "first": 1, "ari": [0.0], "groups": [3], "true_groups": [1],
              "processor_seconds": 3.0}  # fmt: skip
    (one,) = summary([second, first])
    assert one.sets == 2 and one.ari == 0.5 and list(one.each) == [1.0, 0.0]
    assert one.half == pytest.approx(12.706 * 0.5, rel=1e-3)
    assert (one.k_error, one.k_bias, one.k_right, one.seconds) == (1.0, 1.0, 0.5, 2.0)


def test_a_stopped_comparison_continues_and_other_weights_are_another_piece(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, file = tmp_path / "w.safetensors", tmp_path / "rows.jsonl"
    save(weights, NCPNetwork(Sizes(features=8, width=8, h_outputs=8, g_outputs=8)))
    common = ["--worlds", "clear", "--sizes", "12", "--sets", "2", "--sweeps", "5", "--json",
              str(file)]  # fmt: skip
    quality.main([*common, "--methods", "hdbscan", "gibbs"])
    some = [*common, "--methods", "hdbscan", "gibbs", "ncp mine", "--weights", f"mine={weights}"]
    quality.main(some)
    rows = read_rows(file)
    assert [row["method"] for row in rows] == ["hdbscan", "gibbs", "gibbs central", "ncp mine"]
    assert all(len(row["ari"]) == row["sets"] == 2 and row["commit"] for row in rows)
    assert rows[-1]["sha256"] == quality.digest(str(weights)) and rows[0]["sha256"] is None
    assert "K right" in capsys.readouterr().out
    save(weights, NCPNetwork(Sizes(features=8, width=8, h_outputs=8, g_outputs=9)))
    quality.main(some)
    again = read_rows(file)[len(rows) :]
    assert [row["method"] for row in again] == ["ncp mine"]
