"""ProPos's prototype scattering."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from objective_loops import cosine, dot
from places import VECTORS
from samekind.errors import InputError
from samekind.objectives import PrototypeScattering
from samekind.objectives.prototypes import prototypes

BASELINES = json.loads((VECTORS / "baselines.json").read_text())
LABELS = torch.tensor([0, 2, 0, -1, 2, 3, 3])  # group 1 is absent, item 3 in none
Rows = list[list[float]]


def vectors(n: int = 7, d: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    both = torch.randn(2, n, d, generator=draw, dtype=torch.float64)
    return both[0], both[1]


def slow_means(V: Rows, labels: list[int], k: int) -> list[list[float] | None]:
    means: list[list[float] | None] = []
    for group in range(k):
        units = [
            [x / math.sqrt(dot(v, v)) for x in v]
            for v, label in zip(V, labels, strict=True)
            if label == group
        ]
        means.append([sum(c) / len(units) for c in zip(*units, strict=True)] if units else None)
    return means


def slow_loss(V: Rows, W: Rows, labels: list[int], k: int, tau: float, absent: float) -> float:
    """L_psl, one term at a time; cosines stand for dots of unit means."""
    here, there = slow_means(V, labels, k), slow_means(W, labels, k)
    losses = []
    for a in range(k):
        mine, target = here[a], there[a]
        if mine is None or target is None:
            continue
        top = math.exp(cosine(mine, target) / tau)
        bottom = top
        for b in range(k):
            other = here[b]
            if b != a:
                bottom += math.exp(absent if other is None else cosine(mine, other) / tau)
        losses.append(-math.log(top / bottom))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scattering_is_the_worked_example(dtype: torch.dtype) -> None:
    za, zb = (torch.tensor(BASELINES["inputs"][key], dtype=dtype) for key in ("Za", "Zb"))
    wanted = BASELINES["ProPos"]
    labels = torch.tensor(wanted["labels"])
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    found = PrototypeScattering(temperature=0.5)(za, zb, labels, 2)
    assert found.item() == pytest.approx(wanted["psl_tau_0_5"], abs=tolerance)
    for x, key in ((za, "q_centres"), (zb, "k_centres")):
        centres = torch.tensor(wanted[key], dtype=dtype)
        torch.testing.assert_close(prototypes(x, labels, 2), centres, atol=tolerance, rtol=0)


@pytest.mark.parametrize("absent", [-10.0, -math.inf])
@pytest.mark.parametrize("temperature", [0.2, 0.5])
def test_scattering_equals_a_slow_loop_with_absent_groups(
    temperature: float, absent: float
) -> None:
    loss = PrototypeScattering(temperature=temperature, absent=absent)
    for seed in range(4):
        v, w = vectors(seed=seed)
        slow = slow_loss(v.tolist(), w.tolist(), LABELS.tolist(), 5, temperature, absent)
        assert loss(v, w, LABELS, 5).item() == pytest.approx(slow, abs=1e-10)


def test_the_order_of_items_and_the_numbers_of_groups_do_not_matter() -> None:
    v, w = vectors(seed=5)
    loss, order = PrototypeScattering(), torch.tensor([6, 2, 0, 5, 1, 3, 4])
    wanted = loss(v, w, LABELS, 4)
    torch.testing.assert_close(loss(v[order], w[order], LABELS[order], 4), wanted)
    renamed = torch.tensor([1, 3, 0, 2, -1])[LABELS]
    torch.testing.assert_close(loss(v, w, renamed, 4), wanted)


@pytest.mark.parametrize("absent", [-10.0, -math.inf])
@pytest.mark.parametrize("labels", [LABELS, torch.full((7,), -1), torch.zeros(7, dtype=torch.long)])
def test_gradients_are_those_of_the_value_and_none_goes_into_the_target(
    labels: Tensor, absent: float
) -> None:
    v, w = vectors(seed=6)
    v.requires_grad_()
    w.requires_grad_()
    loss = PrototypeScattering(absent=absent)
    assert torch.autograd.gradcheck(lambda x: loss(x, w.detach(), labels, 4), (v,))
    loss(v, w, labels, 4).backward()
    assert v.grad is not None and v.grad.isfinite().all() and w.grad is None


def test_batches_without_any_label_give_zero_and_items_without_one_are_not_moved() -> None:
    v, w = vectors(seed=7)
    v.requires_grad_()
    assert PrototypeScattering()(v, w, torch.full((7,), -1), 4).item() == 0
    PrototypeScattering()(v, w, LABELS, 4).backward()
    assert v.grad is not None and not v.grad[3].any() and v.grad[0].any()


def test_scattered_prototypes_have_a_smaller_loss_than_those_that_lie_together() -> None:
    apart, near = torch.eye(4), torch.eye(4) * 0.1 + 1
    labels = torch.arange(4)
    loss = PrototypeScattering()
    assert loss(apart, apart, labels, 4) < loss(near, near, labels, 4)


@pytest.mark.parametrize("k", [1, 4])
def test_half_precision_and_autocast_leave_the_sums_in_single_precision(k: int) -> None:
    v, w = (x.bfloat16() for x in vectors(64, 8, seed=8))
    v.requires_grad_()
    labels = torch.arange(64) % k
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = PrototypeScattering()(v, w, labels, k)
    exact = PrototypeScattering()(v.detach().double(), w.double(), labels, k)
    value.backward()
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact.item(), rel=1e-5, abs=1e-6)
    assert v.grad is not None and v.grad.isfinite().all()


def test_rows_of_zeros_and_extreme_temperatures_give_no_nan() -> None:
    for temperature in (1e-4, 1e4):
        v = torch.zeros(4, 3, requires_grad=True)
        value = PrototypeScattering(temperature=temperature)(v, v, torch.tensor([0, 0, 1, -1]), 3)
        value.backward()
        assert value.isfinite() and v.grad is not None and v.grad.isfinite().all()


def test_wrong_input_is_refused_in_words() -> None:
    v, w = vectors()
    with pytest.raises(InputError, match="one target for each row"):
        PrototypeScattering()(v, w[:3], LABELS, 4)
    with pytest.raises(InputError, match="each of 7 items"):
        PrototypeScattering()(v, w, LABELS[:3], 4)
