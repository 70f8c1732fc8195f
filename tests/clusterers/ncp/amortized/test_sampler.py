"""Samples, beams and greedy choices against the list of all partitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.ncp.exact import all_partitions
from closed_form import VECTORS, ClosedForm, small_network, table
from samekind.clusterers.ncp.amortized.likelihood import log_joint, relabel
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, averaged, merged, rescored
from samekind.errors import InputError

N = 5
X = table(VECTORS["engine"]["x"])[None]
ORDER = torch.arange(N)[None]


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def law(order: list[int]) -> Tensor:
    """Probability of every partition (by item) if points are placed in this order."""
    labels = torch.from_numpy(all_partitions(N).copy())
    found = log_joint(ClosedForm(), X[:, order].expand(52, -1, -1), relabel(labels[:, order]))
    return found.exp()


def place(labels: Tensor) -> np.ndarray:
    codes = N ** np.arange(N)[::-1]
    return np.searchsorted(all_partitions(N) @ codes, labels.numpy() @ codes)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [2, 0, 4, 1, 3]])
def test_samples_come_as_often_as_their_probability_says(order: list[int]) -> None:
    (found,) = Sampler(ClosedForm()).sample(
        X, 40_000, order=torch.tensor([order]), generator=chance()
    )
    exact = law(order)
    assert int(found.count.sum()) == 40_000
    assert torch.allclose(found.log_prob.exp(), exact[place(found.labels)], atol=1e-10)
    share = torch.zeros(52, dtype=torch.float64)
    share[place(found.labels)] = found.weights
    assert float((share - exact).abs().max()) < 0.01
    same = torch.from_numpy(all_partitions(N)[:, :, None] == all_partitions(N)[:, None])
    expected = (exact[:, None, None] * same).sum(0)
    assert float((found.co_membership() - expected).abs().max()) < 0.015
    groups = torch.from_numpy(all_partitions(N).max(1) + 1)
    for k, p in enumerate(found.n_groups_distribution()):
        assert float(p) == pytest.approx(float(exact[groups == k].sum()), abs=0.015)


def test_every_partition_comes_once_whatever_the_orders() -> None:
    (found,) = Sampler(ClosedForm()).sample(X, 5000, orders=7, generator=chance(1))
    assert int(found.count.sum()) == 5000
    assert len(torch.unique(found.labels, dim=0)) == len(found.labels)
    assert torch.equal(relabel(found.labels), found.labels)
    assert float(found.weights.sum()) == pytest.approx(1)


def test_a_beam_without_limit_lists_all_partitions_and_a_narrow_one_the_best() -> None:
    sampler = Sampler(ClosedForm())
    (everything,) = sampler.beam(X, None, order=ORDER)
    assert len(everything.labels) == 52
    assert float(everything.log_prob.exp().sum()) == pytest.approx(1, abs=1e-12)
    assert torch.allclose(everything.weights, everything.log_prob.exp(), atol=1e-12)
    (wide,) = sampler.beam(X, 20, order=ORDER)
    assert len(wide.labels) == 20 and bool((wide.log_prob.diff() <= 0).all())
    assert torch.equal(wide.best, everything.best)
    (one,) = sampler.beam(X, 1, order=ORDER)
    (greedy,) = sampler.greedy(X, order=ORDER)
    assert torch.equal(one.labels, greedy.labels) and len(greedy.labels) == 1


def test_several_data_sets_of_different_size_are_sampled_as_if_alone() -> None:
    network, sizes = small_network(2), [6, 3, 1]
    x = torch.randn(3, 6, 2, dtype=torch.float64)
    mask = torch.arange(6) < torch.tensor(sizes)[:, None]
    order = torch.arange(6).expand(3, 6)
    sampler = Sampler(network)
    for b, (together, n) in enumerate(
        zip(sampler.beam(x, None, mask=mask, order=order), sizes, strict=True)
    ):
        (alone,) = sampler.beam(x[b : b + 1, :n], None, order=order[:1, :n])
        assert len(together.labels) == len(alone.labels) == len(all_partitions(n))
        assert torch.equal(relabel(together.labels[:, :n]), alone.labels)
        assert torch.allclose(together.log_prob, alone.log_prob, atol=1e-9)
    drawn = sampler.sample(x, 300, mask=mask, orders=2, generator=chance())
    assert [int(s.count.sum()) for s in drawn] == [300] * 3 and len(drawn[2].labels) == 1


def test_the_same_seed_draws_the_same_samples() -> None:
    first, again = (
        Sampler(ClosedForm()).sample(X, 50, orders=3, generator=chance(4))[0] for _ in range(2)
    )
    assert torch.equal(first.labels, again.labels) and torch.equal(first.count, again.count)


def test_the_probability_over_orders_is_the_mean_and_still_adds_up_to_one() -> None:
    labels = torch.from_numpy(all_partitions(N).copy())
    mean, spread = averaged(ClosedForm(), X, labels, orders=6, generator=chance(3))
    assert float(mean.exp().sum()) == pytest.approx(1, abs=1e-9)
    assert float(spread.max()) > 0.01
    orders = torch.Generator().manual_seed(3)
    expected = torch.zeros(52, dtype=torch.float64)
    for _ in range(6):
        expected += law(torch.rand(1, N, generator=orders).argsort(1)[0].tolist()) / 6
    assert torch.allclose(mean.exp(), expected, atol=1e-9)


def test_rescored_samples_come_in_the_order_of_their_averaged_probability() -> None:
    (found,) = Sampler(ClosedForm()).sample(X, 2000, orders=4, generator=chance(5))
    best = rescored(ClosedForm(), X, found, orders=6, most=10, generator=chance(3))
    everything = torch.from_numpy(all_partitions(N).copy())
    mean, _ = averaged(ClosedForm(), X, everything, orders=6, generator=chance(3))
    assert len(best.labels) == 10 and bool((best.log_prob.diff() <= 0).all())
    assert torch.allclose(best.log_prob, mean[place(best.labels)], atol=1e-9)
    assert int(best.count.min()) >= int(found.count.sort(descending=True).values[9])


def test_merging_counts_the_same_grouping_once_and_two_of_equal_probability_apart() -> None:
    def drawn(labels: list[list[int]], log_prob: list[float], count: list[int]) -> Samples:
        return Samples(
            torch.tensor(labels),
            table(log_prob),
            torch.tensor(count),
            torch.zeros(len(count)).double(),
        )

    both = merged(
        [drawn([[0, 0, 1], [0, 1, 0]], [-1.0, -1.0], [2, 3]), drawn([[0, 1, 0]], [-2.0], [5])]
    )
    assert both.labels.tolist() == [[0, 0, 1], [0, 1, 0]] and both.count.tolist() == [2, 8]
    assert float(both.log_prob[1].exp()) == pytest.approx((np.exp(-1) + np.exp(-2)) / 2)
    assert both.weights.tolist() == pytest.approx([0.2, 0.8])


def test_what_cannot_be_drawn_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="at least 1 sample"):
        Sampler(ClosedForm()).sample(X, 0)
    with pytest.raises(InputError, match="Expected an order of shape"):
        Sampler(ClosedForm()).greedy(X, order=torch.arange(4)[None])
