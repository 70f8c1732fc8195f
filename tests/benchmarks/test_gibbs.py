"""The yardstick itself: collapsed Gibbs against the posterior that is known by listing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from benchmarks.ncp import gibbs
from benchmarks.ncp.exact import DirichletGaussians, all_partitions

EXACT = DirichletGaussians(spread=3.0)


def test_pairs_are_together_as_often_as_the_exact_posterior_says() -> None:
    x, _ = EXACT.draw(6, 5, np.random.default_rng(0))
    run = gibbs.sample(
        x, gibbs.Model(spread=3.0), np.random.default_rng(1), sweeps=1000, chains=4, pairs=True
    )
    assert run.together is not None
    exact = EXACT.posterior(x).co_membership()
    assert np.abs(run.together - exact).max() < 0.06
    assert np.abs(run.together - exact).mean() < 0.01


def test_the_best_grouping_is_the_most_probable_one_with_its_joint_probability() -> None:
    x, _ = EXACT.draw(8, 6, np.random.default_rng(2))
    run = gibbs.sample(x, gibbs.Model(spread=3.0), np.random.default_rng(3), sweeps=200)
    found = EXACT.posterior(x)
    assert np.allclose(run.log_joint, found.log_prob.max(axis=1) + found.log_evidence)
    best = found.partitions[found.log_prob.argmax(axis=1)]
    for mine, exact in zip(run.best, best, strict=True):
        assert np.array_equal(mine[:, None] == mine, exact[:, None] == exact)


def test_scales_of_groups_are_integrated_out_one_by_one() -> None:
    x, _ = EXACT.draw(1, 4, np.random.default_rng(4))
    scales = (0.5, 1.0, 2.0)
    rows = all_partitions(4)
    joint = np.array([EXACT.log_prior(row[None])[0] for row in rows])
    for k, row in enumerate(rows):
        for group in range(row.max() + 1):
            members = x[:, row == group]
            alone = [
                # A prior that makes one group certain leaves the likelihood of the group.
                _one_group(DirichletGaussians(0.7, scale, 3.0), members)
                for scale in scales
            ]
            joint[k] += logsumexp(alone) - np.log(len(scales))
    run = gibbs.sample(x, gibbs.Model(0.7, 3.0, scales), np.random.default_rng(5), sweeps=200)
    assert run.log_joint[0] == pytest.approx(joint.max())


def _one_group(model: DirichletGaussians, members: np.ndarray) -> float:
    together = np.zeros(members.shape[1], dtype=np.intp)
    found = model.posterior(members[0])
    joint = float(found.log_prob_of(together)) + float(found.log_evidence)
    return joint - float(model.log_prior(together[None])[0])


def test_more_groups_than_there_was_room_for_are_found() -> None:
    centres = np.stack(np.meshgrid([-40.0, -20, 0, 20, 40], [-30.0, 0, 30]), axis=-1).reshape(-1, 2)
    x = np.repeat(centres, 2, axis=0) + np.random.default_rng(6).normal(size=(30, 2))
    run = gibbs.sample(x[None], gibbs.Model(spread=30.0), np.random.default_rng(7), sweeps=60)
    assert len(np.unique(run.best)) == 15 > gibbs.FIRST_SLOTS


def test_scales_are_the_middles_of_equal_parts_on_a_logarithmic_scale() -> None:
    scales = np.log(gibbs.Model.log_uniform(0.7, 4.0, 0.5, 2.0, n=4).scales)
    assert np.allclose(np.diff(scales), np.log(4) / 4) and scales.mean() == pytest.approx(0)
