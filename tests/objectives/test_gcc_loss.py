"""GCC's contrast along a graph against a worked example and a slow loop."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.gcc import GraphContrast
from samekind.objectives.pica import PartitionConfidence

VECTORS = json.loads((VECTORS / "baselines.json").read_text())


def example(n: int, m: int, d: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(seed)
    rows = torch.randn(2 + m, n, d, generator=chance, dtype=torch.float64)
    z, other, *near = normalize(rows, dim=2)
    weights = 0.2 + torch.rand(m, n, generator=chance, dtype=torch.float64)
    return z, other, torch.stack(near), weights


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gcc_agrees_with_the_worked_example(dtype: torch.dtype) -> None:
    inputs, wanted = VECTORS["inputs"], VECTORS["GCC"]
    z, other = (torch.tensor(inputs[key], dtype=dtype) for key in ("Za", "Zb"))
    near, weights = (torch.tensor(wanted[key], dtype=dtype) for key in ("neighbours", "weights"))
    tolerance = 1e-8 if dtype == torch.float64 else 2e-6
    found = GraphContrast()(z, other, near, weights).item()
    assert found == pytest.approx(wanted["rgc_tau_0_1"], abs=tolerance)
    p, q = (torch.tensor(inputs[f"logits_{v}"], dtype=dtype).softmax(dim=1) for v in "ab")
    assignment = sum(PartitionConfidence()(p, q))
    assert float(assignment) == pytest.approx(wanted["agc_total_lambda_2"], abs=tolerance)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_gcc_equals_a_slow_loop(m: int, temperature: float) -> None:
    z, other, near, weights = example(5, m, 4, m)
    a, b, w = z.tolist(), other.tolist(), weights.tolist()
    scaled = (near * weights[..., None]).tolist()
    slow = 0.0
    for i in range(5):
        power = [math.exp(dot(a[i], b[i]) / temperature)]
        power += [w[j][i] * math.exp(dot(a[i], scaled[j][i]) / temperature) for j in range(m)]
        others = [a[k] for k in range(5)] + [b[k] for k in range(5) if k != i]
        others += [scaled[j][k] for j in range(m) for k in range(5) if k != i]
        below = sum(math.exp(dot(a[i], row) / temperature) for row in others)
        slow -= math.log(sum(power) / below) / 5
    found = GraphContrast(temperature=temperature)(z, other, near, weights)
    assert found.item() == pytest.approx(slow, abs=1e-9)


def test_gcc_has_the_gradients_of_its_value() -> None:
    z, other, near, weights = example(4, 2, 3, 7)
    for x in (z, other, near):
        x.requires_grad_()
    loss = GraphContrast(temperature=0.5)
    assert torch.autograd.gradcheck(lambda *x: loss(*x, weights), (z, other, near))


def test_items_at_their_neighbours_have_a_smaller_loss() -> None:
    z = torch.eye(4)
    here = GraphContrast()(z, z, z[None], torch.ones(1, 4))
    away = GraphContrast()(z, z, z.roll(1, 0)[None], torch.ones(1, 4))
    assert here < away


def test_gcc_computes_in_single_precision_under_autocast() -> None:
    z, other, near, weights = example(16, 3, 8, 9)
    rows = [x.bfloat16() for x in (z, other, near)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = GraphContrast()(*rows, weights.float())
    exact = GraphContrast()(*(x.double() for x in rows), weights)
    assert found.dtype == torch.float32 and found.item() == pytest.approx(exact.item(), abs=1e-4)


def test_neighbours_of_other_items_are_refused() -> None:
    z, other, near, weights = example(4, 2, 3, 0)
    with pytest.raises(InputError, match="belong together"):
        GraphContrast()(z, other, near[:, :3], weights)
    with pytest.raises(InputError, match="belong together"):
        GraphContrast()(z, other, near, weights[:1])
