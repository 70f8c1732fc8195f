"""Ordered lists of groups against groupings, with the published numbers and by enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.ncp.exact import all_partitions
from clusterwise_processes import CCP, ClosedCCP, X, log_ordered, log_partition, network
from samekind.clusterers.ncp.amortized.clusterwise_probability import Latents
from samekind.errors import InputError


def orders_of(labels: Any) -> list[list[int]]:
    """The same grouping with its groups numbered in each possible order."""
    K = max(labels) + 1
    return [[order[k] for k in labels] for order in itertools.permutations(range(K))]


def test_the_published_numbers_come_out_for_one_order_and_for_all() -> None:
    names = list(CCP["partitions"])
    labels = torch.tensor([[int(c) for c in name] for name in names])
    one = log_ordered(ClosedCCP(), X, labels).exp()
    found = log_partition(ClosedCCP(), X, labels)
    for k, name in enumerate(names):
        wanted = CCP["partitions"][name]
        assert float(one[k]) == pytest.approx(wanted["first_appearance_order_only"], abs=1e-12)
        assert float(found.log_prob[k].exp()) == pytest.approx(wanted["all_orders"], abs=1e-12)
    assert bool(found.summed.all()) and float(found.error.abs().max()) == 0


def test_ordered_lists_of_groups_and_groupings_both_add_up_to_one() -> None:
    lists = torch.tensor([o for row in all_partitions(4).tolist() for o in orders_of(row)])
    assert len(lists) == 75
    assert float(log_ordered(ClosedCCP(), X, lists).exp().sum()) == pytest.approx(1, abs=1e-12)
    groupings = torch.from_numpy(all_partitions(4).copy())
    found = log_partition(ClosedCCP(), X, groupings).log_prob
    assert float(found.exp().sum()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("kind", ["ccp", "acp-s", "acp"])
@pytest.mark.parametrize("latent", [0, 2])
def test_a_network_of_every_kind_gives_a_law_of_groupings(kind: str, latent: int) -> None:
    x = torch.randn(1, 5, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    groupings = torch.from_numpy(all_partitions(5).copy())
    latents = Latents(draws=3, guided=False)
    chance = torch.Generator().manual_seed(0)
    made = network(kind=kind, latent=latent)
    found = log_partition(made, x, groupings, latents=latents, generator=chance)
    assert float(found.log_prob.exp().sum()) == pytest.approx(1, abs=1e-6)
    assert float(found.log_prob.exp().max()) < 0.9


def test_summing_set_by_set_is_summing_over_all_orders() -> None:
    x = torch.randn(1, 6, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    made = network(latent=0)
    for row in ([0, 1, 2, 0, 3, 4], [0, 1, 0, 1, 2, 2], [0, 1, 2, 3, 4, 5]):
        slow = log_ordered(made, x, torch.tensor(orders_of(row))).logsumexp(0)
        fast = log_partition(made, x, torch.tensor([row])).log_prob[0]
        assert float(fast) == pytest.approx(float(slow), abs=1e-10)


def test_drawn_orders_estimate_the_sum_over_all_without_bias() -> None:
    x = torch.randn(1, 6, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    made, labels = network(latent=0), torch.tensor([[0, 1, 2, 0, 3, 1]])
    exact = float(log_partition(made, x, labels).log_prob.exp())
    chance = torch.Generator().manual_seed(0)
    found = log_partition(made, x, labels, orders=4000, exact_groups=0, generator=chance)
    assert not bool(found.summed[0])
    relative = float(found.log_prob.exp()) / exact - 1
    assert 0 < float(found.error[0]) < 0.1
    assert abs(relative) < 4 * float(found.error[0])


def test_guided_draws_of_z_estimate_what_many_plain_ones_do() -> None:
    x = torch.randn(1, 4, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    made, labels = network(), torch.tensor([[0, 0, 1, 0], [0, 1, 1, 2]])
    chance = torch.Generator().manual_seed(0)

    def mean_of(rounds: int, latents: Latents) -> tuple[Tensor, Tensor]:
        found = [
            log_partition(made, x, labels, latents=latents, generator=chance) for _ in range(rounds)
        ]
        assert all(bool(one.summed.all()) for one in found)
        values = torch.stack([one.log_prob.exp() for one in found])
        return values.mean(0), values.std(0) / math.sqrt(rounds)

    plain, plain_error = mean_of(8, Latents(4000, guided=False))
    guided, error = mean_of(60, Latents(8))
    assert bool((error < 0.04 * guided).all())
    assert bool(((guided - plain).abs() < 4 * (error + plain_error)).all())


def test_many_groups_are_estimated_and_that_is_told() -> None:
    x = torch.randn(1, 12, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    labels = torch.from_numpy(np.array([np.arange(12), np.arange(12) // 4]))
    found = log_partition(network(), x, labels, orders=4)
    assert found.summed.tolist() == [False, True]
    assert bool(torch.isfinite(found.log_prob).all())


def test_no_draws_of_z_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match="at least 1 draw of z, got 0"):
        log_partition(network(), X, torch.zeros(1, 4, dtype=torch.long), latents=Latents(0))
