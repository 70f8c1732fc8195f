"""Layers: the quick PReLU is torch's."""

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
