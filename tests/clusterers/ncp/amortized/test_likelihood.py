"""The loop-free likelihood: its tables of group sums and its rows of open choices."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from closed_form import small_network
from samekind.clusterers.ncp.amortized.likelihood import (
    _group_sums,
    open_choices,
    random_order,
    relabel,
    reordered,
    step_distributions,
    unplaced,
)
from samekind.errors import InputError

QUICK = settings(max_examples=20, deadline=None)


def rows(seed: int, B: int = 4, N: int = 9) -> tuple[Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(seed)
    x = torch.randn(B, N, 2, generator=chance, dtype=torch.float64)
    mask = torch.arange(N) < torch.randint(0, N + 1, (B, 1), generator=chance)
    labels = relabel(torch.randint(0, 4, (B, N), generator=chance), mask)
    return x, labels, mask


@QUICK
@given(seed=st.integers(0, 10_000))
def test_group_sums_are_those_of_a_loop(seed: int) -> None:
    x, labels, mask = rows(seed)
    h = torch.where(mask[..., None], x, 0.0)
    found = _group_sums(h, labels, mask)
    for b in range(len(x)):
        for n in range(int(mask[b].sum())):
            mine = labels[b, : n + 1] == labels[b, n]
            assert torch.allclose(found[b, n], h[b, : n + 1][mine].sum(0))


def test_small_groups_after_large_ones_keep_their_digits() -> None:
    h = torch.cat([torch.full((1, 5000, 1), 1e4), torch.full((1, 2, 1), 0.1)], dim=1)
    labels = torch.tensor([[0] * 5000 + [1] * 2])
    found = _group_sums(h, labels, torch.ones_like(labels, dtype=torch.bool))
    assert float(found[0, -1, 0]) == pytest.approx(0.2, rel=1e-5)


@QUICK
@given(seed=st.integers(0, 10_000), spare=st.integers(0, 30))
def test_room_for_the_open_choices_is_enough(seed: int, spare: int) -> None:
    network, (x, labels, mask) = small_network(seed), rows(seed)
    points = network.points(x, mask)
    plain = step_distributions(network, points, labels, mask)
    K = int(labels.max()) + 3
    capacity = int(open_choices(labels, mask).sum()) + spare
    fixed = step_distributions(network, points, labels, mask, n_groups=K, capacity=max(1, capacity))
    assert torch.allclose(plain.exp(), fixed.exp()[..., : plain.shape[2]], atol=1e-12)
    assert not fixed.exp()[..., plain.shape[2] :].any()


@QUICK
@given(seed=st.integers(0, 10_000))
def test_open_choices_bound_every_order(seed: int) -> None:
    _, labels, mask = rows(seed)
    order = random_order(mask, torch.Generator().manual_seed(seed))
    again = relabel(labels.gather(1, order), mask)
    for named in (labels, again):
        groups = torch.where(mask, named, -1).cummax(1).values + 1  # after each step
        before = torch.cat([torch.zeros_like(groups[:, :1]), groups[:, :-1]], dim=1)
        needed = torch.where(mask, before + 1, 0).sum(1)
        assert bool((needed <= open_choices(labels, mask)).all())


def test_nothing_is_left_unplaced_at_the_last_step() -> None:
    u = torch.randn(2, 5, 3)
    found = unplaced(u)
    assert not found[:, -1].any()
    assert torch.allclose(found[:, 1], u[:, 2:].sum(1), atol=1e-6)


def test_labels_must_fit_the_points() -> None:
    network = small_network()
    points = network.points(torch.randn(2, 4, 2, dtype=torch.float64))
    with pytest.raises(InputError, match="one label for each point"):
        step_distributions(network, points, torch.zeros(2, 3, dtype=torch.long))
    swapped = reordered(points, torch.tensor([[3, 2, 1, 0]]).expand(2, 4))
    assert torch.equal(swapped.h[:, 0], points.h[:, 3])
