"""Layers: the quick PReLU is torch's; attention sees the whole set, and further points see it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.layers import PReLU
from samekind.clusterers.ncp.amortized.likelihood import log_joint
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes


@pytest.mark.parametrize("slope", [0.25, 0.0, 1.0, -0.5])
def test_the_quick_prelu_has_the_values_and_gradients_of_torchs(slope: float) -> None:
    x = torch.randn(7, 5, 3, dtype=torch.float64)
    x[0, 0, 0] = 0.0
    weights = torch.randn(7, 5, 3, dtype=torch.float64)

    def run(kind: type[nn.PReLU]) -> tuple[Tensor, ...]:
        layer, given = kind(init=slope).double(), x.clone().requires_grad_()
        found = layer(given)
        (found * weights).sum().backward()
        assert given.grad is not None and layer.weight.grad is not None
        return found, given.grad, layer.weight.grad

    for mine, torchs in zip(run(PReLU), run(nn.PReLU), strict=True):
        assert torch.allclose(mine, torchs)


def test_the_slope_is_kept_in_the_weights_as_before() -> None:
    network = NCPNetwork(Sizes.reference())
    slopes = [name for name, child in network.named_modules() if isinstance(child, PReLU)]
    assert len(slopes) == 18 and all(f"{s}.weight" in network.state_dict() for s in slopes)
    log_joint(network, torch.randn(1, 4, 2), torch.tensor([[0, 0, 1, 0]])).sum().backward()
    assert all(p.grad is not None for p in network.parameters())


def test_points_see_each_other_in_any_order_and_padding_is_not_seen() -> None:
    torch.manual_seed(0)
    network = NCPNetwork(Sizes(width=16, attention=2, heads=2, inducing=3)).double()
    x = torch.randn(1, 6, 2).double()
    points, order = network.points(x), torch.randperm(6)
    for a, b in zip(points, network.points(x[:, order]), strict=True):
        assert torch.allclose(a[:, order], b)
    moved = x.clone()
    moved[0, 5] += 1
    assert not torch.allclose(network.points(moved).h[0, 0], points.h[0, 0])
    padded = torch.cat([x, torch.full((1, 2, 2), torch.nan).double()], 1)
    found = network.points(padded, torch.arange(8)[None] < 6)
    assert torch.allclose(found.h[:, :6], points.h) and not found.h[:, 6:].any()


def test_further_points_see_the_first_set_and_neither_it_nor_each_other_changes() -> None:
    torch.manual_seed(0)
    network = NCPNetwork(Sizes(width=16, attention=2, heads=2, inducing=3)).double()
    x, more = torch.randn(1, 6, 2).double(), torch.randn(1, 4, 2).double()
    seen = network.summaries(x)
    assert torch.allclose(network.points(x, None, seen).h, network.points(x).h)
    together = network.points(more, None, seen).h
    alone = torch.cat([network.points(more[:, k : k + 1], None, seen).h for k in range(4)], 1)
    assert torch.allclose(together, alone)
    assert not torch.allclose(together, network.points(more).h)
