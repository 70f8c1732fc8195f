"""DEC's shares, targets and divergence."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.dec import StudentShares, self_training, target_shares

BASELINES = json.loads((VECTORS / "baselines.json").read_text())
DEC = BASELINES["DEC"]
EXACT = {torch.float32: 1e-6, torch.float64: 1e-9}


def shares_at(centres: Tensor, **wanted: float | bool) -> StudentShares:
    k, width = centres.shape
    shares = StudentShares(width, k, **wanted).to(centres.dtype)  # type: ignore[arg-type]
    shares.centres.data.copy_(centres)
    return shares


def slow_shares(Z: Tensor, centres: Tensor, alpha: float) -> list[list[float]]:
    """DEC, Eq. 1, one number at a time."""
    found = []
    for z in Z.tolist():
        heights = []
        for mu in centres.tolist():
            far = sum((a - b) ** 2 for a, b in zip(z, mu, strict=True))
            heights.append((1 + far / alpha) ** (-(alpha + 1) / 2))
        found.append([height / sum(heights) for height in heights])
    return found


def slow_target(q: list[list[float]]) -> list[list[float]]:
    """DEC, Eq. 3."""
    sizes = [sum(row[j] for row in q) for j in range(len(q[0]))]
    found = []
    for row in q:
        heights = [share**2 / size for share, size in zip(row, sizes, strict=True)]
        found.append([height / sum(heights) for height in heights])
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shares_targets_and_divergence_are_the_worked_example(dtype: torch.dtype) -> None:
    z, centres = (torch.tensor(DEC[key], dtype=dtype) for key in ("Z", "centres"))
    close = {"atol": EXACT[dtype], "rtol": 0.0}
    q = shares_at(centres)(z)
    torch.testing.assert_close(q, torch.tensor(DEC["q"], dtype=dtype), **close)
    p = target_shares(q)
    torch.testing.assert_close(p, torch.tensor(DEC["p"], dtype=dtype), **close)
    assert self_training(p, q).item() == pytest.approx(DEC["kl_mean"], abs=EXACT[dtype])
    published = shares_at(centres, published_bracket=True)(z)
    wanted = torch.tensor(DEC["q_as_the_DCC_program_computes_it"], dtype=dtype)
    torch.testing.assert_close(published, wanted, **close)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_shares_and_targets_equal_a_slow_loop(alpha: float) -> None:
    draw = torch.Generator().manual_seed(0)
    z, centres = (torch.randn(n, 3, generator=draw, dtype=torch.float64) for n in (7, 4))
    q = slow_shares(z, centres, alpha)
    found = shares_at(centres, alpha=alpha)(z)
    torch.testing.assert_close(found, torch.tensor(q, dtype=torch.float64))
    p = slow_target(q)
    torch.testing.assert_close(target_shares(found), torch.tensor(p, dtype=torch.float64))
    kl = sum(
        a * math.log(a / b) for r, s in zip(p, q, strict=True) for a, b in zip(r, s, strict=True)
    )
    assert self_training(target_shares(found), found).item() == pytest.approx(kl / 7, abs=1e-10)


def test_gradients_are_those_of_the_value_and_none_goes_into_the_target() -> None:
    draw = torch.Generator().manual_seed(1)
    z = torch.randn(5, 3, generator=draw, dtype=torch.float64, requires_grad=True)
    shares = shares_at(torch.randn(4, 3, generator=draw, dtype=torch.float64))
    p = target_shares(shares(z)).detach().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: self_training(p.detach(), shares(x)), (z,))
    self_training(p, shares(z)).backward()
    assert p.grad is None and shares.centres.grad is not None and shares.centres.grad.any()


def test_the_target_is_sharper_than_the_shares_and_makes_sizes_more_equal() -> None:
    q = torch.tensor([[0.7, 0.3], [0.7, 0.3], [0.6, 0.4], [0.3, 0.7]])
    p = target_shares(q)
    entropy = [-(x * x.log()).sum() for x in (q, p)]
    assert entropy[1] < entropy[0]
    assert target_shares(torch.full((3, 2), 0.5)).tolist() == [[0.5, 0.5]] * 3


def test_empty_groups_far_items_and_half_precision_give_no_nan() -> None:
    z = torch.tensor([[1e4, 0.0], [0.0, 0.0], [0.0, 1e-4]], requires_grad=True)
    shares = shares_at(torch.tensor([[0.0, 0.0], [1e6, 0.0]]))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q = shares(z)
        value = self_training(target_shares(torch.tensor([[1.0, 0.0]] * 3)), q)
    value.backward()
    assert q.dtype == torch.float32 and value.isfinite()
    assert z.grad is not None and z.grad.isfinite().all()


def test_wrong_input_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="at least 1"):
        StudentShares(2, 0)
    with pytest.raises(InputError, match="Expected a target for each share"):
        self_training(torch.ones(2, 3), torch.ones(2, 2))
