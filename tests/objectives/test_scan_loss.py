"""SCAN's losses against worked examples, a slow loop, and at their edges."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.clusterers.deep.scan_losses import NeighbourLoss, SelfLabelLoss
from samekind.errors import InputError
from samekind.objectives.scan import NeighbourAgreement, SelfLabelling
from samekind.training.network import Output
from samekind.training.simclr import ItemContrast

WORKED = json.loads((VECTORS / "baselines.json").read_text())
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def shares(key: str, dtype: torch.dtype) -> Tensor:
    return torch.softmax(torch.tensor(WORKED["inputs"][key], dtype=dtype), dim=1)


def close(found: Tensor, wanted: float) -> None:
    assert abs(found.item() - wanted) < (1e-9 if found.dtype == torch.float64 else 1e-6)


@DTYPES
def test_agreement_and_entropy_are_as_worked_out(dtype: torch.dtype) -> None:
    p = torch.cat([shares("logits_a", dtype), shares("logits_b", dtype)])
    loss = NeighbourAgreement()
    close(loss.disagreement(p), WORKED["SCAN"]["consistency"])
    close(loss.entropy(p), WORKED["SCAN"]["entropy_of_mean"])
    close(loss(p), WORKED["SCAN"]["total_weight_5"])


@DTYPES
def test_self_labelling_is_as_worked_out(dtype: torch.dtype) -> None:
    worked = WORKED["SCAN"]["self_label"]
    weak = torch.softmax(torch.tensor(worked["weak_logits"], dtype=dtype), dim=1)
    p = torch.cat([weak, shares("logits_b", dtype)])
    close(SelfLabelling()(p), worked["loss_with_logits_b"])


def total(loss: torch.nn.Module, out: Output) -> Tensor:
    parts: dict[str, Tensor] = loss(out, None, None)
    return torch.stack(list(parts.values())).sum()


@DTYPES
def test_what_is_minimised_has_the_scale_of_the_program(dtype: torch.dtype) -> None:
    p = torch.cat([shares("logits_a", dtype), shares("logits_b", dtype)])
    close(total(NeighbourLoss(), Output(p, p, p)), WORKED["SCAN"]["total_weight_5"])
    worked = WORKED["SCAN"]["self_label"]
    weak = torch.softmax(torch.tensor(worked["weak_logits"], dtype=dtype), dim=1)
    p = torch.cat([weak, shares("logits_b", dtype)])
    close(total(SelfLabelLoss(), Output(p, p, p)), worked["loss_with_logits_b"])


def test_the_contrast_is_the_mean_of_the_program_with_either_view_as_anchor() -> None:
    torch.manual_seed(2)
    z = torch.nn.functional.normalize(torch.randn(10, 4, dtype=torch.float64), dim=1)

    def program(anchors: Tensor, others: Tensor) -> float:
        rows, found = torch.cat([anchors, others]).tolist(), 0.0
        for i, own in enumerate(anchors.tolist()):
            dots = [sum(a * b for a, b in zip(own, row, strict=True)) / 0.1 for row in rows]
            below = sum(math.exp(d) for k, d in enumerate(dots) if k != i)
            found -= math.log(math.exp(dots[i + len(anchors)]) / below) / len(anchors)
        return found

    wanted = (program(z[:5], z[5:]) + program(z[5:], z[:5])) / 2
    close(total(ItemContrast(temperature=0.1), Output(z, z, z)), wanted)


def test_agreement_is_the_sum_written_in_the_paper() -> None:
    p = torch.softmax(3 * torch.randn(10, 4, dtype=torch.float64), dim=1)
    total, mean = 0.0, [0.0] * 4
    for i in range(5):
        total -= math.log(sum(float(p[i, k] * p[i + 5, k]) for k in range(4))) / 5
        mean = [m + float(q) / 5 for m, q in zip(mean, p[i], strict=True)]
    total += 2.5 * sum(m * math.log(m) for m in mean)
    close(NeighbourAgreement(weight=2.5)(p), total)


def test_self_labelling_weighs_groups_alike_as_a_slow_loop_does() -> None:
    torch.manual_seed(1)
    weak = torch.softmax(4 * torch.randn(40, 3, dtype=torch.float64), dim=1)
    strong = torch.softmax(torch.randn(40, 3, dtype=torch.float64), dim=1)
    by_group: dict[int, list[float]] = {}
    for a, b in zip(weak, strong, strict=True):
        if a.max() > 0.9:
            by_group.setdefault(int(a.argmax()), []).append(-math.log(b[a.argmax()]))
    wanted = sum(sum(some) / len(some) for some in by_group.values()) / len(by_group)
    assert len(by_group) == 3
    close(SelfLabelling(sure=0.9)(torch.cat([weak, strong])), wanted)


def test_gradients_are_those_of_the_formula() -> None:
    logits = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: NeighbourAgreement()(x.softmax(1)), logits)
    sure = torch.tensor([[9.0, 0, 0], [0, 9.0, 0]], dtype=torch.float64).softmax(1)
    some = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: SelfLabelling()(torch.cat([sure, x.softmax(1)])), some
    )


def test_the_sure_view_gets_no_gradient() -> None:
    logits = (10 * torch.eye(4)).requires_grad_()
    SelfLabelling()(logits.softmax(1)).backward()
    assert logits.grad is not None and not logits.grad[:2].any() and logits.grad[2:].any()


def test_groups_without_any_share_and_nothing_sure_give_finite_numbers() -> None:
    p = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], requires_grad=True)
    loss = NeighbourAgreement()(p)
    loss.backward()
    assert loss.isfinite() and p.grad is not None and p.grad.isfinite().all()
    assert SelfLabelling()(torch.full((4, 3), 1 / 3)).item() == 0


def test_a_single_group_costs_nothing() -> None:
    assert NeighbourAgreement()(torch.ones(4, 1)).item() == 0


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_an_impossible_membership_is_refused(sure: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        SelfLabelling(sure=sure)
