"""The posterior given answers, against the list of all partitions that honour them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmarks.ncp.exact import all_partitions
from closed_form import honours, small_network
from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.likelihood import log_joint, relabel
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.constraints import Constraints

Links = list[tuple[int, int, bool]]
CASES: list[tuple[int, Links]] = [
    (4, [(0, 1, True)]),
    (5, [(0, 1, False), (1, 2, False), (0, 2, False)]),
    (6, [(0, 3, True), (3, 5, True), (1, 2, False), (2, 5, False)]),
    (7, [(6, 0, True), (1, 2, True), (0, 1, False), (4, 5, False), (3, 4, True)]),
]


def data(n: int, seed: int = 0) -> Tensor:
    return torch.randn(1, n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def restricted(network, x: Tensor, links: Links, orders: Tensor) -> tuple[Tensor, Tensor, float]:
    """Partitions that honour the links, their exact conditional law, and their total mass."""
    n = x.shape[1]
    rows = np.array([row for row in all_partitions(n) if honours(row, links)])
    labels = torch.from_numpy(rows)
    total = torch.zeros(len(rows), dtype=torch.float64)
    with torch.no_grad():
        for order in orders:
            many = x[:, order].expand(len(rows), -1, -1)
            total += log_joint(network, many, relabel(labels[:, order])).exp() / len(orders)
    return labels, total / total.sum(), float(total.sum())


def together(labels: Tensor, law: Tensor) -> Tensor:
    return ((labels[:, :, None] == labels[:, None]) * law[:, None, None]).sum(0)


@pytest.mark.parametrize(("n", "links"), CASES)
def test_listing_all_that_is_allowed_gives_the_exact_posterior_given_the_answers(
    n: int, links: Links
) -> None:
    network, x = small_network(n), data(n)
    answers = Answers(Constraints.from_links(n, links))
    order = answers.order(1, torch.Generator().manual_seed(1))
    labels, law, mass = restricted(network, x, links, order)
    (found,) = Sampler(network).beam(x, None, order=order, allowed=answers)
    assert {tuple(r) for r in found.labels.tolist()} == {tuple(r) for r in labels.tolist()}
    assert float(found.log_prob.exp().sum()) == pytest.approx(mass, abs=1e-10)
    assert torch.allclose(found.co_membership(), together(labels, law), atol=1e-9)


@pytest.mark.parametrize(("n", "links"), CASES)
@pytest.mark.parametrize("resample", [0.0, 0.5, 1.1])
def test_weighted_samples_average_to_the_exact_posterior_given_the_answers(
    n: int, links: Links, resample: float
) -> None:
    network, x = small_network(n), data(n)
    answers, chance = Answers(Constraints.from_links(n, links)), torch.Generator().manual_seed(2)
    orders = answers.order(4, chance)
    labels, law, mass = restricted(network, x, links, orders)
    (found,) = Sampler(network).sample(
        x, 40_000, order=orders, orders=4, allowed=answers, generator=chance, resample=resample
    )
    assert all(honours(row, links) for row in found.labels.numpy())
    assert int(found.count.sum()) == 40_000
    error = (found.co_membership() - together(labels, law)).abs().max()
    assert float(error) < 0.025
    # The mean weight estimates the probability of the answers themselves.
    mean = float((found.count * found.log_weight.exp()).sum() / found.count.sum())
    assert mean == pytest.approx(mass, rel=0.05)


def test_without_weights_the_average_would_be_wrong() -> None:
    n, links = CASES[2]
    network, x = small_network(n), data(n)
    answers, chance = Answers(Constraints.from_links(n, links)), torch.Generator().manual_seed(2)
    order = answers.order(1, chance)
    labels, law, _ = restricted(network, x, links, order)
    (found,) = Sampler(network).sample(
        x, 40_000, order=order, allowed=answers, generator=chance, resample=0
    )
    plain = together(found.labels, found.count / found.count.sum())
    exact = together(labels, law)
    assert float((plain - exact).abs().max()) > 2 * float(
        (found.co_membership() - exact).abs().max()
    )
    assert found.n_effective < 40_000


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 14), n_links=st.integers(0, 20))
def test_every_sample_honours_every_answer_in_force(seed: int, n: int, n_links: int) -> None:
    rng = np.random.default_rng(seed)
    links = [
        (int(a), int(b), bool(rng.random() < 0.5))
        for a, b in (rng.choice(n, 2, replace=False) for _ in range(n_links))
    ]
    known = Constraints.from_links(n, links)  # contradictions are kept aside here
    answers, chance = Answers(known), torch.Generator().manual_seed(seed)
    sampler, x = Sampler(small_network(seed)), data(n, seed)
    orders = answers.order(3, chance)
    asked = set(known.touched.tolist())
    assert all(set(order[: len(asked)].tolist()) == asked for order in orders) or known.conflicts
    assert all(sorted(order.tolist()) == list(range(n)) for order in orders)
    drawn = [
        *sampler.sample(x, 60, order=orders, orders=3, allowed=answers, generator=chance),
        *sampler.sample(x, 20, orders=2, allowed=answers, generator=chance),
        *sampler.greedy(x, order=orders[:1], allowed=answers),
        *sampler.beam(x, 4, order=orders[:1], allowed=answers),
    ]
    for found in drawn:
        assert bool(torch.isfinite(found.log_weight).all())
        for row in found.labels.tolist():
            for a in range(n):
                for b in range(a):
                    said = known.same(a, b)
                    assert said is None or (row[a] == row[b]) == said


def test_no_answers_change_nothing() -> None:
    network, x = small_network(3), data(5)
    order = torch.arange(5)[None]
    (free,) = Sampler(network).beam(x, None, order=order)
    (told,) = Sampler(network).beam(x, None, order=order, allowed=Answers(Constraints(5)))
    assert torch.equal(free.labels, told.labels) and torch.equal(free.log_prob, told.log_prob)
