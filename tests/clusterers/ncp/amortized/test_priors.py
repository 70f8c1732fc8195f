"""Priors over groupings against the list of all groupings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.ncp.exact import DirichletGaussians, all_partitions
from closed_form import VECTORS
from samekind.clusterers.ncp.amortized.priors import CRP, MFM, EvenKinds, MixedPrior

EXACT = VECTORS["exact"]


@pytest.mark.parametrize("n", range(1, 9))
def test_the_listed_partitions_are_all_and_in_order(n: int) -> None:
    bell = [1, 2, 5, 15, 52, 203, 877, 4140]
    rows = all_partitions(n)
    assert len(rows) == bell[n - 1] == len({tuple(row) for row in rows})
    assert rows.tolist() == sorted(rows.tolist())
    assert np.exp(DirichletGaussians().log_prior(rows)).sum() == pytest.approx(1)


@pytest.mark.parametrize("row", VECTORS["crp"], ids=lambda r: str(r["N"]))
def test_the_crp_has_the_published_moments_exactly_and_when_drawn(row: dict) -> None:
    prior = CRP(0.7)
    mean, variance = prior.moments(row["N"])
    assert (mean, variance) == pytest.approx((row["mean_K"], row["var_K"]), abs=1e-9)
    law = np.array(prior.n_groups_distribution(row["N"]))
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


def test_every_number_of_kinds_is_equally_likely() -> None:
    labels = EvenKinds(most=4, gamma=50.0).draw(4000, 60, torch.Generator().manual_seed(0))
    share = torch.bincount(labels.amax(1), minlength=4) / 4000
    assert torch.allclose(share, torch.full((4,), 0.25), atol=0.04)


def test_a_mixed_prior_draws_from_each_as_often_as_its_share_says() -> None:
    one, many = MFM(most=1), EvenKinds(most=2, gamma=1e6)
    labels = MixedPrior(one, many, share=0.75).draw(4000, 40, torch.Generator().manual_seed(0))
    # Half of the second prior's draws have one kind as well.
    assert float((labels.amax(1) == 0).float().mean()) == pytest.approx(0.875, abs=0.02)
