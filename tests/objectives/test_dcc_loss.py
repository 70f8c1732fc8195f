"""DCC's losses of pairs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.objectives.dcc import apart_loss, together_loss
from samekind.objectives.links import BatchLinks

BASELINES = json.loads((VECTORS / "baselines.json").read_text())
SAME, DIFFERENT = [(0, 3), (1, 4), (0, 4)], [(2, 3), (0, 2)]
LINKS = BatchLinks.from_pairs(same=SAME, different=DIFFERENT)
Loss = Callable[[Tensor, BatchLinks], Tensor]


def shares(seed: int = 0) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(6, 3, generator=draw, dtype=torch.float64).softmax(dim=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_losses_are_the_worked_example(dtype: torch.dtype) -> None:
    q = torch.tensor(BASELINES["DEC"]["q"], dtype=dtype)
    links = BatchLinks.from_pairs(BASELINES["SDEC"]["must"], BASELINES["SDEC"]["cannot"])
    exact = 1e-6 if dtype == torch.float32 else 1e-9
    for loss, key in ((together_loss, "must_loss"), (apart_loss, "cannot_loss")):
        assert loss(q, links).item() == pytest.approx(BASELINES["DCC"][key], abs=exact)


def test_both_losses_equal_a_slow_loop() -> None:
    for seed in range(3):
        q = shares(seed)
        rows = q.tolist()
        both = {
            (i, j): sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
            for i, j in SAME + DIFFERENT
        }
        same = [-math.log(both[pair]) for pair in SAME]
        different = [-math.log(1 - both[pair]) for pair in DIFFERENT]
        assert together_loss(q, LINKS).item() == pytest.approx(sum(same) / 3, abs=1e-10)
        assert apart_loss(q, LINKS).item() == pytest.approx(sum(different) / 2, abs=1e-10)


@pytest.mark.parametrize("loss", [together_loss, apart_loss])
def test_gradients_are_those_of_the_value(loss: Loss) -> None:
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: loss(x.softmax(dim=1), LINKS), (x,))


@pytest.mark.parametrize("loss", [together_loss, apart_loss])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_sure_shares_one_group_and_no_links_give_finite_numbers(loss: Loss, k: int) -> None:
    q = torch.eye(max(k, 2), k)[[0, 1, 0, 1, 0, 1]].clone()
    q = (q + 1e-12) / (q + 1e-12).sum(dim=1, keepdim=True)
    q.requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss(q, LINKS)
    value.backward()
    assert value.dtype == torch.float32 and value.isfinite()
    assert q.grad is not None and q.grad.isfinite().all()
    assert loss(q, BatchLinks.none()).item() == 0


def test_a_honoured_answer_costs_less_than_a_broken_one() -> None:
    q = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    one, other = BatchLinks.from_pairs(same=[(0, 1)]), BatchLinks.from_pairs(same=[(0, 2)])
    assert together_loss(q, one) < together_loss(q, other)
    one, other = (BatchLinks.from_pairs(different=pair) for pair in ([(0, 2)], [(0, 1)]))
    assert apart_loss(q, one) < apart_loss(q, other)
