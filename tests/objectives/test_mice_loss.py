"""MiCE's mixture of experts against a worked example and slow loops."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives.mice import ExpertContrast, simplex

WANTED = json.loads((VECTORS / "baselines.json").read_text())["MiCE"]


def example(n: int, k: int, q: int, d: int, seed: int) -> tuple[list[Tensor], dict[str, Tensor]]:
    chance = torch.Generator().manual_seed(seed)

    def units(*shape: int) -> Tensor:
        return normalize(torch.randn(*shape, generator=chance, dtype=torch.float64), dim=-1)

    fixed = {"gates": units(k, d), "prototypes": units(k, d), "queue": units(q, k, d)}
    return [units(n, k, d), units(n, k, d), units(n, d)], fixed


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mice_agrees_with_the_worked_example(dtype: torch.dtype) -> None:
    f, v, g, queue, gates, prototypes = (
        torch.tensor(WANTED[key], dtype=dtype)
        for key in ("f", "v", "g", "queue", "gating_prototypes", "expert_prototypes")
    )
    contrast = ExpertContrast(temperature=WANTED["tau"])
    joint = contrast.joint(f, v, g, gates=gates, prototypes=prototypes, queue=queue)
    loss, posterior = contrast(joint)
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    assert loss.item() == pytest.approx(WANTED["loss"], abs=tolerance)
    wanted = torch.tensor(WANTED["posterior"], dtype=dtype)
    torch.testing.assert_close(posterior, wanted, atol=tolerance, rtol=0)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_mice_equals_a_slow_loop_over_the_printed_bound(k: int, temperature: float) -> None:
    rows, fixed = example(3, k, 5, 6, k)
    f, v, g = (x.tolist() for x in rows)
    gates, mu, queue = (fixed[key].tolist() for key in ("gates", "prototypes", "queue"))
    slow, wanted = 0.0, []
    for i in range(3):
        weights = [math.exp(dot(gates[c], g[i]) / temperature) for c in range(k)]
        pi = [w / sum(weights) for w in weights]
        phi = []
        for c in range(k):
            aim = [a + b for a, b in zip(f[i][c], mu[c], strict=True)]
            own = math.exp(dot(v[i][c], aim) / temperature)
            phi.append(own / (own + sum(math.exp(dot(q[c], aim) / temperature) for q in queue)))
        p = [a * b for a, b in zip(pi, phi, strict=True)]
        p = [x / sum(p) for x in p]
        wanted.append(p)
        slow -= sum(p[c] * math.log(pi[c] * phi[c] / p[c]) for c in range(k)) / 3
    contrast = ExpertContrast(temperature=temperature)
    loss, posterior = contrast(contrast.joint(*rows, **fixed))
    assert loss.item() == pytest.approx(slow, abs=1e-10)
    torch.testing.assert_close(posterior, torch.tensor(wanted, dtype=torch.float64))


def test_mice_has_the_gradients_of_its_value() -> None:
    (f, v, g), fixed = example(2, 3, 4, 3, 5)
    f.requires_grad_()
    g.requires_grad_()
    prototypes = fixed.pop("prototypes").requires_grad_()
    contrast = ExpertContrast()

    def value(f: Tensor, g: Tensor, mu: Tensor) -> Any:
        return contrast(contrast.joint(f, v, g, prototypes=mu, **fixed))[0]

    assert torch.autograd.gradcheck(value, (f, g, prototypes))


def test_mice_computes_in_single_precision_under_autocast() -> None:
    rows, fixed = example(4, 3, 50, 16, 6)
    small = [x.bfloat16() for x in rows]
    contrast = ExpertContrast()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        joint = contrast.joint(*small, **{name: x.float() for name, x in fixed.items()})
        found, _ = contrast(joint)
    exact, _ = contrast(contrast.joint(*(x.double() for x in small), **fixed))
    assert found.dtype == torch.float32 and found.item() == pytest.approx(exact.item(), abs=1e-4)


def test_gates_are_those_of_the_worked_example() -> None:
    wanted = torch.tensor(WANTED["simplex_K4_d5"])
    torch.testing.assert_close(simplex(4, 5), wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 1), (2, 128), (4, 3), (10, 128), (20, 128)])
def test_gates_have_length_one_and_are_equally_far_apart(k: int, d: int) -> None:
    gates = simplex(k, d)
    wanted = torch.full((k, k), -1 / max(1, k - 1)).fill_diagonal_(1)
    torch.testing.assert_close(gates @ gates.T, wanted, atol=1e-5, rtol=0)


def test_what_does_not_belong_together_is_refused() -> None:
    (f, v, g), fixed = example(3, 2, 4, 5, 7)
    with pytest.raises(InputError, match="belong together"):
        ExpertContrast().joint(f, v, g[:2], **fixed)
    with pytest.raises(InputError, match="belong together"):
        ExpertContrast().joint(f, v, g, **{**fixed, "queue": fixed["queue"][:, :1]})
    with pytest.raises(InputError, match="3 coordinates"):
        simplex(4, 2)
