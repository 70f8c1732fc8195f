"""SDEC's distances between linked items."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.dec import StudentShares, self_training, target_shares
from samekind.objectives.links import BatchLinks
from samekind.objectives.sdec import LinkedDistances

BASELINES = json.loads((VECTORS / "baselines.json").read_text())
SAME, DIFFERENT = [(0, 3), (1, 4), (0, 4)], [(2, 3), (0, 2)]
LINKS = BatchLinks.from_pairs(same=SAME, different=DIFFERENT)


def codes(seed: int = 0) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(6, 3, generator=draw, dtype=torch.float64)


def slow_sum(z: Tensor, margin: float) -> float:
    """One pair at a time, both ways round."""
    total = 0.0
    for sign, pairs in ((1, SAME), (-1, DIFFERENT)):
        for i, k in [*pairs, *[(b, a) for a, b in pairs]]:
            far = sum((a - b) ** 2 for a, b in zip(z[i].tolist(), z[k].tolist(), strict=True))
            total += sign * (far if sign > 0 else min(far, margin))
    return total


def test_the_penalty_is_the_worked_example() -> None:
    wanted, dec = BASELINES["SDEC"], BASELINES["DEC"]
    z, centres = (torch.tensor(dec[key], dtype=torch.float64) for key in ("Z", "centres"))
    links = BatchLinks.from_pairs(wanted["must"], wanted["cannot"])
    penalty = LinkedDistances()(z, links)
    assert 3 * penalty.item() == pytest.approx(wanted["penalty_sum_over_ordered_pairs"], abs=1e-9)
    shares = StudentShares(2, 2).double()
    shares.centres.data.copy_(centres)
    loss = self_training(target_shares(shares(z)), shares(z)) + 1e-5 * penalty
    assert loss.item() == pytest.approx(wanted["loss_lambda_1e_5"], abs=1e-9)


@pytest.mark.parametrize("margin", [0.5, 4.0, math.inf])
def test_the_penalty_equals_a_slow_loop(margin: float) -> None:
    for seed in range(3):
        z = codes(seed)
        found = LinkedDistances(margin=margin)(z, LINKS).item()
        assert found == pytest.approx(slow_sum(z, margin) / 6, abs=1e-10)
        bounded = LinkedDistances(margin=margin, bounded=True)(z, LINKS).item()
        assert bounded == pytest.approx(slow_sum(z, margin) / 10, abs=1e-10)  # ten ordered pairs


def test_gradients_are_those_of_the_value_and_stop_at_the_margin() -> None:
    z = codes().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: LinkedDistances(margin=2.0)(x, LINKS), (z,))
    apart = torch.tensor([[0.0], [3.0]], requires_grad=True)
    LinkedDistances(margin=4.0)(apart, BatchLinks.from_pairs(different=[(0, 1)])).backward()
    assert apart.grad is not None and not apart.grad.any()


def test_without_links_nothing_is_moved_and_with_them_the_loss_has_a_lower_bound() -> None:
    z = codes().requires_grad_()
    assert LinkedDistances(bounded=True)(z, BatchLinks.none()).item() == 0
    links = BatchLinks.from_pairs(different=[(0, 1)])
    far = torch.tensor([[0.0], [1e6]])
    assert LinkedDistances(margin=4.0)(far, links).item() == -4
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert LinkedDistances()(far.bfloat16(), links).dtype == torch.float32


def test_a_margin_that_is_no_distance_is_refused() -> None:
    with pytest.raises(InputError, match="Expected margin to be a number above 0"):
        LinkedDistances(margin=0.0)
