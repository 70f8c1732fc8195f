"""FixMatch's two losses against worked examples, a slow loop, and at their edges."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.fixmatch import guess_loss, label_loss

WORKED = json.loads((VECTORS / "baselines.json").read_text())
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def shares(logits: list[list[float]], dtype: torch.dtype) -> Tensor:
    return torch.softmax(torch.tensor(logits, dtype=dtype), dim=1)


def close(found: Tensor, wanted: float) -> None:
    assert abs(found.item() - wanted) < (1e-9 if found.dtype == torch.float64 else 1e-6)


@DTYPES
def test_both_losses_are_as_worked_out(dtype: torch.dtype) -> None:
    told = shares(WORKED["inputs"]["logits_a"], dtype)[:2]
    weak = shares(WORKED["SCAN"]["self_label"]["weak_logits"], dtype)
    strong = shares(WORKED["inputs"]["logits_b"], dtype)
    labelled = label_loss(told, torch.tensor([1, 2]))
    unlabelled = guess_loss(weak, strong)
    close(labelled, WORKED["FixMatch"]["L_x"])
    close(unlabelled, WORKED["FixMatch"]["L_u_mean_over_all"])
    close(labelled + unlabelled, WORKED["FixMatch"]["total"])


def test_guesses_are_counted_as_a_slow_loop_counts_them() -> None:
    torch.manual_seed(0)
    weak = torch.softmax(3 * torch.randn(30, 4, dtype=torch.float64), dim=1)
    strong = torch.softmax(torch.randn(30, 4, dtype=torch.float64), dim=1)
    total, sure = 0.0, 0
    for q, p in zip(weak.tolist(), strong.tolist(), strict=True):
        if max(q) >= 0.8:
            sure += 1
            total -= math.log(p[q.index(max(q))])
    assert 5 < sure < 25
    close(guess_loss(weak, strong, sure=0.8), total / 30)  # not divided by those that are sure


def test_guesses_have_no_gradient_and_very_wrong_strong_views_have_one() -> None:
    weak = torch.tensor([[9.0, 0.0]], requires_grad=True)
    strong = torch.tensor([[-40.0, 40.0]], requires_grad=True)
    guess_loss(weak.softmax(dim=1), strong.softmax(dim=1)).backward()  # type: ignore[no-untyped-call]
    assert weak.grad is None or not weak.grad.any()
    assert strong.grad is not None
    torch.testing.assert_close(strong.grad, torch.tensor([[-1.0, 1.0]]))  # as of the logits


def test_a_guess_exactly_at_the_threshold_counts_and_no_items_cost_nothing() -> None:
    half = torch.full((1, 2), 0.5)
    assert guess_loss(torch.tensor([[0.75, 0.25]]), half, sure=0.75) > 0
    assert guess_loss(torch.tensor([[0.75, 0.25]]), half, sure=0.76) == 0
    assert guess_loss(torch.empty(0, 2), torch.empty(0, 2)) == 0


def test_views_of_other_items_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(2, 3\) and \(3, 3\)"):
        guess_loss(torch.ones(2, 3), torch.ones(3, 3))
