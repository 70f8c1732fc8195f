"""PICA's loss against worked examples and against the slow loop of the paper."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from objective_loops import cosine
from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.pica import PartitionConfidence, columns_alike, unbalance

VECTORS = json.loads((VECTORS / "baselines.json").read_text())


def memberships(n: int, k: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.softmax(2 * torch.randn(n, k, generator=chance, dtype=dtype), dim=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pica_agrees_with_the_worked_example(dtype: torch.dtype) -> None:
    inputs, wanted = VECTORS["inputs"], VECTORS["PICA"]
    p, q = (torch.tensor(inputs[f"logits_{v}"], dtype=dtype).softmax(dim=1) for v in "ab")
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    similarity = torch.tensor(wanted["similarity"], dtype=dtype)
    torch.testing.assert_close(columns_alike(p, q), similarity, atol=tolerance, rtol=0)
    confidence, balance = PartitionConfidence()(p, q)
    assert confidence.item() == pytest.approx(wanted["ce"], abs=tolerance)
    assert balance.item() == pytest.approx(2 * wanted["balance"], abs=tolerance)
    total = (confidence + balance).item()
    assert total == pytest.approx(wanted["total_lambda_2"], abs=tolerance)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_pica_equals_a_slow_loop(k: int) -> None:
    p, q = memberships(7, k, 1), memberships(7, k, 2)
    slow = 0.0
    for a in range(k):
        alike = [cosine(p[:, a].tolist(), q[:, b].tolist()) for b in range(k)]
        slow -= math.log(math.exp(alike[a]) / sum(math.exp(s) for s in alike)) / k
    mean = [sum(p[:, a].tolist()) / 7 for a in range(k)]
    uneven = math.log(k) + sum(m * math.log(m) for m in mean)
    confidence, balance = PartitionConfidence(weight=3.0)(p, q)
    assert confidence.item() == pytest.approx(slow, abs=1e-10)
    assert balance.item() == pytest.approx(3 * uneven, abs=1e-10)


def test_pica_has_the_gradients_of_its_value() -> None:
    p, q = memberships(5, 3, 3).requires_grad_(), memberships(5, 3, 4).requires_grad_()
    loss = PartitionConfidence()
    assert torch.autograd.gradcheck(lambda a, b: sum(loss(a, b)), (p, q))


def test_an_empty_group_gives_neither_nan_nor_an_endless_gradient() -> None:
    p = torch.eye(3)[torch.tensor([0, 1, 0, 1])].requires_grad_()
    confidence, balance = PartitionConfidence()(p, p.detach())
    (confidence + balance).backward()
    assert confidence.isfinite() and balance.isfinite()
    assert p.grad is not None and p.grad.isfinite().all()


def test_confident_groups_of_one_size_are_best() -> None:
    sure = torch.eye(4).repeat(3, 1)
    unsure = 0.5 * sure + 0.125
    one = torch.eye(4)[:1].repeat(12, 1)
    values = [float(sum(PartitionConfidence()(p, p))) for p in (sure, unsure, one)]
    assert values[0] < values[1] < values[2]
    assert unbalance(sure).item() == pytest.approx(0, abs=1e-6)


def test_pica_computes_in_single_precision_under_autocast() -> None:
    p, q = (memberships(64, 8, seed).bfloat16() for seed in (5, 6))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = sum(PartitionConfidence()(p, q))
    exact = sum(PartitionConfidence()(p.double(), q.double()))
    assert found.dtype == torch.float32 and float(found) == pytest.approx(float(exact), abs=1e-5)


def test_memberships_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="Repeat items"):
        PartitionConfidence()(memberships(4, 3, 0), memberships(8, 3, 0))
