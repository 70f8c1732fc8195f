"""What answers are worth: runs go through the one loop, and rows can be drawn as curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.ncp import answers
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import save
from samekind.reports.plots.curves import lines
from samekind.simulation.rows import read_runs


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """A network that has learnt nothing."""
    torch.manual_seed(0)
    small = Sizes(features=8, width=8, h_outputs=8, g_outputs=8)
    save(tmp_path / "w.safetensors", NCPNetwork(small))
    return str(tmp_path / "w.safetensors")


def test_piles_follow_the_seed_and_keep_the_truth_beside_them() -> None:
    pile, again = (answers.drawn("digits", 3, 20, 25) for _ in range(2))
    assert list(pile.collection.ids()) == list(again.collection.ids())
    assert pile.X.shape == (25, 64) and pile.truth.shape == (25,)
    other = answers.drawn("digits", 4, 20, 25)
    assert list(other.collection.ids()) != list(pile.collection.ids())
    mixture = answers.drawn("overlapping", 3, 20, 25)
    assert mixture.X.shape == (20, 2) and len(mixture.collection) == 20


def test_scores_are_read_at_the_last_refit_before_each_number_of_answers() -> None:
    curve = {0: {"ari": 0.1}, 5: {"ari": 0.3}, 8: {"ari": 0.4}}
    found = list(answers.at_counts(curve, [0, 5, 7, 20]))
    assert [point["ari"] for point in found] == [0.1, 0.3, 0.3, 0.4]
    assert [point["refitted_at"] for point in found] == [0, 5, 5, 8]


def test_with_all_pairs_answered_any_network_finds_the_truth(weights: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    wanted = [
        "--sets", "overlapping", "--runs", "1", "--points", "8", "--at", "0", "4", "28",
        "--weights", weights, "--refit-every", "2", "--json", str(file), "--systems",
    ]  # fmt: skip
    answers.main([*wanted, "ncp+random"])
    answers.main([*wanted, "ncp+random", "ncp+placement"])
    rows = read_runs([file])
    assert [row["system"] for row in rows] == ["ncp+random", "ncp+placement"], "none runs twice"
    assert rows[0]["sha256"] == answers.digest(weights)
    assert set(lines(rows, by=["strategy"])) == {"random", "placement"}
    for row in rows:
        assert [point["questions"] for point in row["curve"]] == [0, 4, 28]
        assert row["conflicts"] == 0 and sum(row["kinds"].values()) == row["questions"] <= 28
        assert row["curve"][-1]["ari"] == 1.0, row["strategy"]
        assert row["curve"][-1]["groups"] == row["true_groups"]
    assert rows[0]["curve"][0] == rows[1]["curve"][0], "both begin with the same groups"


def test_errors_against_enumeration_are_small_only_for_what_answers_settle(
    weights: str, tmp_path: Path
) -> None:
    x = np.array([[0.0, 0], [0.5, 0], [1.0, 0.4]])
    network = answers.load(weights).network
    chance = torch.Generator().manual_seed(0)
    errors = answers.exact_errors(network, x, np.array([0, 0, 0]), chance)
    assert len(errors) == 3 and errors[0] > 0.05
    assert errors[2] == pytest.approx(0, abs=1e-6), "two links settle three points"


def test_without_weights_the_exact_comparison_says_what_it_needs() -> None:
    with pytest.raises(SystemExit, match="--weights"):
        answers.main(["--sets", "exact"])


def test_rows_of_a_stopped_benchmark_are_kept(weights: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with pytest.raises(Exception, match="nonsense"):
        answers.main([
            "--sets", "overlapping", "--runs", "1", "--points", "6", "--at", "0", "2", "--weights",
            weights, "--systems", "ncp+random", "ncp+nonsense", "--json", str(file),
        ])  # fmt: skip
    assert [row["strategy"] for row in read_runs([file])] == ["random"]


def test_other_learners_answer_the_same_questions_and_have_no_weights(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    answers.main([
        "--sets", "clear", "--runs", "1", "--points", "12", "--at", "0", "5", "--systems",
        "live+live", "--json", str(file),
    ])  # fmt: skip
    (row,) = read_runs([file])
    assert (row["method"], row["sha256"], row["questions"]) == ("live", None, 5)
    assert row["groups_given"] is None
