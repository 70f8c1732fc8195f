"""IDFD's losses against worked examples and against slow loops of the paper."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from objective_loops import cosine
from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.idfd import FeatureDecorrelation, InstanceDiscrimination

VECTORS = json.loads((VECTORS / "baselines.json").read_text())
ITEMS = torch.tensor([0, 2, 3, 5])


def units(n: int, d: int, seed: int) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return normalize(torch.randn(n, d, generator=chance, dtype=torch.float64), dim=1)


def with_bank(bank: Tensor, **wanted: float) -> InstanceDiscrimination:
    loss = InstanceDiscrimination(*bank.shape, **wanted).to(bank.dtype)
    loss.bank.copy_(bank)
    return loss


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_idfd_agrees_with_the_worked_example(dtype: torch.dtype) -> None:
    wanted = VECTORS["IDFD"]
    v = torch.tensor(VECTORS["inputs"]["Za"], dtype=dtype)
    loss = with_bank(torch.tensor(wanted["memory"], dtype=dtype))
    items, tolerance = torch.tensor(wanted["index"]), 1e-9 if dtype == torch.float64 else 1e-6
    assert loss(v, items).item() == pytest.approx(wanted["L_id_tau_1"], abs=tolerance)
    assert FeatureDecorrelation()(v).item() == pytest.approx(wanted["L_fd_tau_2"], abs=tolerance)
    before = loss.bank.clone()
    loss.remember(v, items)
    after = torch.tensor(wanted["memory_rows_after"], dtype=dtype)
    torch.testing.assert_close(loss.bank[items], after, atol=max(tolerance, 1e-8), rtol=0)
    others = torch.tensor([1, 4])
    assert torch.equal(loss.bank[others], before[others])


@pytest.mark.parametrize("temperature", [0.2, 1.0])
def test_discrimination_equals_a_slow_loop(temperature: float) -> None:
    bank, v = units(6, 3, 0), units(4, 3, 1)
    slow = 0.0
    for a, i in zip(v.tolist(), ITEMS.tolist(), strict=True):
        powers = [math.exp(cosine(a, b) / temperature) for b in bank.tolist()]
        slow -= math.log(powers[i] / sum(powers)) / 4
    found = with_bank(bank, temperature=temperature)(v, ITEMS)
    assert found.item() == pytest.approx(slow, abs=1e-10)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_decorrelation_equals_a_slow_loop(temperature: float) -> None:
    v = units(5, 4, 2)
    columns = v.T.tolist()
    slow = 0.0
    for k in range(4):
        powers = [math.exp(cosine(columns[k], other) / temperature) for other in columns]
        slow -= math.log(powers[k] / sum(powers)) / 4
    assert FeatureDecorrelation(temperature=temperature)(v).item() == pytest.approx(slow, abs=1e-10)


def test_idfd_has_the_gradients_of_its_values_also_after_the_bank_was_changed() -> None:
    bank, v = units(6, 3, 3), units(4, 3, 4).requires_grad_()
    loss = with_bank(bank)
    assert torch.autograd.gradcheck(lambda x: loss(x, ITEMS), (v,))
    assert torch.autograd.gradcheck(FeatureDecorrelation(), (v,))
    value = loss(v, ITEMS)
    loss.remember(v, ITEMS)
    value.backward()
    wanted = torch.autograd.grad(with_bank(bank)(v, ITEMS), v)[0]
    torch.testing.assert_close(v.grad, wanted)


def test_features_that_repeat_each_other_cost_more() -> None:
    apart = torch.eye(4).repeat(2, 1)
    alike = apart + 1
    assert FeatureDecorrelation()(apart) < FeatureDecorrelation()(alike)


def test_idfd_computes_in_single_precision_under_autocast() -> None:
    bank, v = units(20, 16, 5).float(), units(4, 16, 6).bfloat16()
    loss = with_bank(bank)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = loss(v, ITEMS), FeatureDecorrelation()(v)
    exact = with_bank(bank.double())(v.double(), ITEMS), FeatureDecorrelation()(v.double())
    for value, wanted in zip(found, exact, strict=True):
        assert value.dtype == torch.float32
        assert value.item() == pytest.approx(wanted.item(), abs=1e-5)
    loss.remember(v, ITEMS)
    assert loss.bank.dtype == torch.float32
    torch.testing.assert_close(loss.bank.norm(dim=1), torch.ones(20))


def test_a_bank_of_nothing_is_refused() -> None:
    for n, past in ((0, 0.5), (3, 1.0)):
        with pytest.raises(InputError, match="at least one item"):
            InstanceDiscrimination(n, 2, past=past)
