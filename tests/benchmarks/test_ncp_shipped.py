"""The checks of a posterior accept an exact one, and reject what is wrong in each way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.ncp import effective, gibbs, shipped
from benchmarks.ncp.exact import DirichletGaussians
from benchmarks.ncp.joint import (
    expected_error,
    groups_calibration,
    joint_test,
    reliability,
    within,
    z_score,
)
from benchmarks.ncp.laws import Enumerable, TrainingLaw
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import save
from samekind.clusterers.ncp.estimator import NCP

MODEL = DirichletGaussians(spread=3.0)
LAW = Enumerable(MODEL)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> NCP:
    """A network that has learnt nothing, on points as they are."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "untrained.safetensors"
    save(path, NCPNetwork(Sizes(features=8, width=8, h_outputs=8, g_outputs=8)))
    return NCP(weights=str(path), random_state=0)


def exactly(x: np.ndarray, seed: int) -> np.ndarray:
    found = MODEL.posterior(x)
    return found.partitions[np.random.default_rng(seed).choice(len(found.prob), p=found.prob)]


def without_looking(x: np.ndarray, seed: int) -> np.ndarray:
    return MODEL.draw(1, len(x), np.random.default_rng(seed))[1][0]


def sharpened(x: np.ndarray, seed: int) -> np.ndarray:
    found = MODEL.posterior(x)
    return found.partitions[found.log_prob.argmax()]


def largest_z(draw: Callable[[np.ndarray, int], np.ndarray]) -> float:
    rows = joint_test(LAW, draw, 6, 300, 2, np.random.default_rng(0))
    return max(abs(row[key]) for row in rows for key in ("first", "z"))


def test_the_joint_test_accepts_the_exact_posterior() -> None:
    assert largest_z(exactly) < 3.5


@pytest.mark.parametrize("draw", [without_looking, sharpened])
def test_the_joint_test_rejects_the_prior_and_the_most_probable_grouping(draw: Callable) -> None:
    assert largest_z(draw) > 5


def test_the_joint_test_rejects_an_untrained_network(untrained: NCP) -> None:
    rows = joint_test(
        LAW, lambda x, seed: untrained.sample_posterior(x, 1)[0], 6, 60, 1,
        np.random.default_rng(0),
    )  # fmt: skip
    assert max(abs(row["first"]) for row in rows) > 5


def pairs_of(flip: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    x, labels = LAW.draw(400, 6, np.random.default_rng(1))
    upper = np.triu_indices(6, 1)
    said = [p[upper] for p in MODEL.posterior(x).co_membership()]
    true = [(row[:, None] == row)[upper].astype(float) for row in labels]
    return [1 - p for p in said] if flip else said, true


def test_exact_probabilities_of_pairs_are_reliable_and_their_opposites_are_not() -> None:
    good, bad = reliability(*pairs_of(False)), reliability(*pairs_of(True))
    assert sum(row["count"] for row in good) == 400 * 15
    assert max(abs(row["z"]) for row in good) < 3.5 and expected_error(good) < 0.03
    assert max(abs(row["z"]) for row in bad) > 8 and expected_error(bad) > 0.3


def test_numbers_of_groups_are_covered_as_often_as_said_and_not_if_they_are_shifted() -> None:
    x, labels = LAW.draw(400, 6, np.random.default_rng(2))
    laws = list(MODEL.posterior(x).n_groups_distribution())
    true = (labels.max(axis=1) + 1).tolist()
    good = groups_calibration(laws, true)
    bad = groups_calibration([np.roll(law, 1) for law in laws], true)
    assert abs(good["z"]) < 3.5 and 0.88 < good["covered"] <= 1
    assert bad["z"] > 8 and bad["covered"] < 0.6


def test_draws_of_the_exact_posterior_are_all_effective_and_others_are_not(
    untrained: NCP,
) -> None:
    x = LAW.draw(1, 6, np.random.default_rng(3))[0][0]
    found = MODEL.posterior(x)
    joint = gibbs.log_joint(x, found.partitions, gibbs.Model(spread=3.0))
    assert np.allclose(joint, found.log_prob + found.log_evidence)
    assert effective.effective(joint - found.log_prob, np.ones(203)) == pytest.approx(203)
    network = untrained._trained("pointwise", x).network
    row = effective.by_network(network, x, x, gibbs.Model(spread=3.0), 2000)
    # The expected share of an importance sampler: one over the mean weight under the posterior.
    assert row["effective"] < 0.6 * 2000 and row["draws"] == 2000


def test_a_chain_that_remembers_is_worth_as_much_less_as_theory_says() -> None:
    rng, memory = np.random.default_rng(4), 0.8
    chain = np.zeros(40_000)
    for t in range(1, len(chain)):
        chain[t] = memory * chain[t - 1] + rng.normal()
    assert effective.autocorrelation_time(chain) == pytest.approx(9.0, rel=0.15)
    assert effective.autocorrelation_time(rng.normal(size=40_000)) == pytest.approx(1.0, abs=0.1)
    assert effective.autocorrelation_time(np.ones(10)) == 1.0


def test_points_drawn_for_given_groups_follow_the_law_and_keep_the_groups() -> None:
    law, rng = TrainingLaw(), np.random.default_rng(5)
    x, labels = law.draw(300, 15, rng)
    again = law.redraw(labels, rng)
    drawn, redrawn, mixed = (
        np.array([within(p, named) for p, named in zip(points, some, strict=True)])
        for points, some in ((x, labels), (again, labels), (again, labels[::-1]))
    )
    assert abs(z_score(redrawn - drawn)) < 3.5 and z_score(mixed - redrawn) > 8


def test_all_checks_write_rows_with_the_digest_of_the_weights(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    shipped.main([
        "--variants", "plane", "--sizes", "8", "--sets", "3", "--joint-sets", "3", "--rounds",
        "1", "--joint-points", "6", "--draws", "20", "--known-sets", "2", "--sweeps", "8", "--json", str(file),
    ])  # fmt: skip
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    names = {row["check"] for row in rows}
    assert names == {"groups", "pairs", "steps", "joint", "effective", "enumeration"}
    assert all(len(row["sha256"]) == 12 and row["commit"] for row in rows)
    (joint,) = [row for row in rows if row["check"] == "joint"]
    assert joint["rounds"] == 1 and len(joint["statistics"]) == 6
