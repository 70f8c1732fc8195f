"""BYOL's regression, and ProPos's alignment that is made of it."""

from __future__ import annotations

import json

import pytest
import torch
from torch import Tensor

from objective_loops import cosine
from places import VECTORS
from samekind.errors import InputError
from samekind.objectives import alignment, regression

BASELINES = json.loads((VECTORS / "baselines.json").read_text())


def rows(n: int, d: int, seed: int) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_alignment_without_noise_is_the_worked_example(dtype: torch.dtype) -> None:
    za, zb = (torch.tensor(BASELINES["inputs"][key], dtype=dtype) for key in ("Za", "Zb"))
    wanted = BASELINES["ProPos"]["psa_mean_of_minus_2cos"]
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    assert regression(za, zb).item() == pytest.approx(wanted, abs=tolerance)
    found = alignment(za, zb, torch.randn_like(za), torch.nn.Identity(), sigma=0.0)
    assert found.item() == pytest.approx(wanted, abs=tolerance)


def test_regression_equals_a_slow_loop_and_the_squared_distance_of_unit_vectors() -> None:
    p, z = rows(7, 5, 0), rows(7, 5, 1)
    slow = sum(-2 * cosine(a, b) for a, b in zip(p.tolist(), z.tolist(), strict=True)) / 7
    assert regression(p, z).item() == pytest.approx(slow, abs=1e-12)
    units = [torch.nn.functional.normalize(x) for x in (p, z)]
    distance = (units[0] - units[1]).square().sum(dim=1).mean()
    torch.testing.assert_close(regression(p, z, shifted=True), distance)


def test_lengths_and_the_order_of_items_do_not_matter() -> None:
    p, z = rows(6, 4, 2), rows(6, 4, 3)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    factor = torch.tensor([0.1, 3, 5, 1, 70, 2], dtype=p.dtype)[:, None]
    torch.testing.assert_close(regression(p[order], z[order]), regression(p, z))
    torch.testing.assert_close(regression(p * factor, z / factor), regression(p, z))


def test_gradients_are_those_of_the_value_and_none_goes_into_the_target() -> None:
    p, z = rows(4, 3, 4).requires_grad_(), rows(4, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: regression(x, z.detach()), (p,))
    regression(p, z).backward()
    assert p.grad is not None and z.grad is None


def test_the_predictor_sees_the_vectors_with_the_noise_and_learns() -> None:
    v, target, noise = rows(5, 4, 6).requires_grad_(), rows(5, 4, 7), rows(5, 4, 8)
    predictor = torch.nn.Linear(4, 4).double()
    found = alignment(v, target, noise, predictor, sigma=0.3)
    torch.testing.assert_close(found, regression(predictor(v + 0.3 * noise), target))
    found.backward()
    assert v.grad is not None and predictor.weight.grad is not None
    assert torch.equal(
        alignment(v, target, noise, predictor, sigma=torch.tensor(0.3, dtype=v.dtype)), found
    )


def test_small_noise_survives_half_precision() -> None:
    v = torch.full((3, 4), 100.0, dtype=torch.bfloat16)
    seen: list[Tensor] = []

    def predictor(x: Tensor) -> Tensor:
        seen.append(x)
        return x

    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = alignment(v, v, torch.ones(3, 4), predictor)
    assert value.dtype == torch.float32 and value.isfinite()
    assert seen[0].dtype == torch.float32 and (seen[0] > 100).all()


def test_half_precision_comes_in_and_single_precision_goes_out() -> None:
    p, z = rows(32, 8, 9).bfloat16().requires_grad_(), rows(32, 8, 10).bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = regression(p, z)
    value.backward()
    exact = regression(p.detach().double(), z.double())
    assert value.dtype == torch.float32 and value.item() == pytest.approx(exact.item(), abs=1e-5)
    assert p.grad is not None and p.grad.isfinite().all()


def test_rows_of_zeros_give_no_nan() -> None:
    p = torch.zeros(3, 4, requires_grad=True)
    value = regression(p, torch.ones(3, 4))
    value.backward()
    assert value.item() == 0 and p.grad is not None and p.grad.isfinite().all()


def test_vectors_without_their_targets_are_refused_in_words() -> None:
    with pytest.raises(InputError, match=r"\(4, 3\) and \(3, 3\)"):
        regression(torch.ones(4, 3), torch.ones(3, 3))
    with pytest.raises(InputError, match="one target for each row"):
        regression(torch.ones(0, 3), torch.ones(0, 3))
