"""The exact posterior and the priors against the published numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from closed_form import VECTORS
from samekind.clusterers.ncp.amortized.exact import DirichletGaussians, all_partitions, loss_floor
from samekind.clusterers.ncp.amortized.priors import CRP, MFM
from samekind.errors import InputError

EXACT = VECTORS["exact"]


def test_the_exact_posterior_is_the_published_one() -> None:
    model = DirichletGaussians(EXACT["alpha"], EXACT["sigma"], EXACT["lam"])
    found = model.posterior(np.array(EXACT["x"]))
    assert float(found.log_evidence) == pytest.approx(EXACT["log_evidence"], abs=1e-9)
    for row, probability in zip(found.partitions, found.prob, strict=True):
        name = "".join(map(str, row))
        assert probability == pytest.approx(EXACT["all"][name], abs=1e-11)
    for top in EXACT["top"]:
        assert np.exp(found.log_prob_of(np.array(top["labels"]))) == pytest.approx(top["prob"])
    assert found.co_membership()[0, 1] == pytest.approx(EXACT["p_same_0_1"], abs=1e-12)
    mean_K = found.n_groups_distribution() @ np.arange(6)
    assert mean_K == pytest.approx(EXACT["expected_K"], abs=1e-12)
    for prefix in ("0", "00", "01"):
        law = found.conditional(np.array([int(k) for k in prefix]))
        assert law == pytest.approx(EXACT[f"conditional_after_{prefix}"], abs=1e-9)


def test_many_data_sets_at_once_are_the_same_as_one_by_one() -> None:
    model, rng = DirichletGaussians(), np.random.default_rng(0)
    x, labels = model.draw(5, 6, rng)
    together = model.posterior(x)
    for b in range(5):
        alone = model.posterior(x[b])
        assert np.allclose(alone.log_prob, together.log_prob[b])
        assert alone.log_prob_of(labels[b]) == pytest.approx(together.log_prob_of(labels)[b])
        assert np.allclose(alone.co_membership(), together.co_membership()[b])


@pytest.mark.parametrize("row", VECTORS["loss_floor"], ids=lambda r: str(r["N"]))
def test_the_loss_floor_is_the_published_one_within_chance(row: dict) -> None:
    mean, error = loss_floor(row["N"], min(row["draws"], 1000), seed=row["N"])
    assert abs(mean - row["mean_nll"]) < 3.5 * np.hypot(error, row["standard_error"])


@pytest.mark.parametrize("n", range(1, 9))
def test_the_listed_partitions_are_all_and_in_order(n: int) -> None:
    bell = [1, 2, 5, 15, 52, 203, 877, 4140]
    rows = all_partitions(n)
    assert len(rows) == bell[n - 1] == len({tuple(row) for row in rows})
    assert rows.tolist() == sorted(rows.tolist())
    assert np.exp(DirichletGaussians().log_prior(rows)).sum() == pytest.approx(1)


def test_too_many_points_are_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="1 to 8 points"):
        DirichletGaussians().posterior(np.zeros((9, 2)))
    with pytest.raises(InputError, match="Expected 1 to 10 items"):
        all_partitions(11)


@pytest.mark.parametrize("row", VECTORS["crp"], ids=lambda r: str(r["N"]))
def test_the_crp_has_the_published_moments_exactly_and_when_drawn(row: dict) -> None:
    prior = CRP(0.7)
    mean, variance = prior.moments(row["N"])
    assert (mean, variance) == pytest.approx((row["mean_K"], row["var_K"]), abs=1e-9)
    law = np.array(prior.law_of_groups(row["N"]))
    assert law.sum() == pytest.approx(1) and law @ np.arange(len(law)) == pytest.approx(mean)
    K = prior.draw(4000, row["N"], torch.Generator().manual_seed(row["N"])).max(1).values + 1.0
    assert abs(float(K.mean()) - mean) < 4 * (variance / 4000) ** 0.5
    assert float(K.var()) == pytest.approx(variance, rel=0.12)


def frequencies(labels: torch.Tensor, n: int) -> np.ndarray:
    codes = n ** np.arange(n)[::-1]
    place = np.searchsorted(all_partitions(n) @ codes, labels.numpy() @ codes)
    return np.bincount(place, minlength=len(all_partitions(n))) / len(labels)


def test_every_partition_is_drawn_as_often_as_the_crp_says() -> None:
    labels = CRP(0.7).draw(20_000, 4, torch.Generator().manual_seed(1))
    expected = np.exp(DirichletGaussians(alpha=0.7).log_prior(all_partitions(4)))
    assert np.abs(frequencies(labels, 4) - expected).max() < 0.01


def test_every_partition_is_drawn_as_often_as_a_mixture_of_finite_mixtures_says() -> None:
    prior, n, rng = MFM(rate=2.0, gamma=1.0, most=12), 4, np.random.default_rng(0)
    kinds = np.minimum(1 + rng.poisson(2.0, 20_000), 12)
    slow = np.stack([rng.choice(K, n, p=rng.dirichlet(np.ones(K))) for K in kinds])
    named = np.array(
        [[{k: i for i, k in enumerate(dict.fromkeys(r))}[k] for k in r] for r in slow.tolist()]
    )
    drawn = prior.draw(20_000, n, torch.Generator().manual_seed(2))
    expected = frequencies(torch.from_numpy(named), n)
    assert np.abs(frequencies(drawn, n) - expected).max() < 0.015
    many = prior.draw(500, 60, torch.Generator().manual_seed(3))
    assert int(many.max()) < 12
