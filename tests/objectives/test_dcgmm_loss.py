"""DC-GMM: responsibilities, the prior of VaDE, and what answers add."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.objectives.dcgmm import Mixture, log_responsibilities, prior_loss, tilted_prior
from samekind.objectives.links import BatchLinks

BASELINES = json.loads((VECTORS / "baselines.json").read_text())


def case(seed: int = 0, n: int = 5, k: int = 3, d: int = 2) -> tuple[Tensor, Tensor, Mixture]:
    draw = torch.Generator().manual_seed(seed)

    def some(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    mixture = Mixture(some(k).log_softmax(dim=0), some(k, d), 0.3 * some(k, d))
    return some(n, d), some(n, d) - 1, mixture


def density(x: float, mean: float, variance: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def slow_gamma(z: Tensor, mixture: Mixture) -> list[list[float]]:
    found = []
    for code in z.tolist():
        heights = []
        for c in range(len(mixture.mean)):
            height = math.exp(mixture.log_share[c].item())
            for j, x in enumerate(code):
                variance = math.exp(mixture.log_variance[c, j].item())
                height *= density(x, mixture.mean[c, j].item(), variance)
            heights.append(height)
        found.append([height / sum(heights) for height in heights])
    return found


def slow_prior(code: Tensor, log_spread: Tensor, gamma: list[list[float]], mix: Mixture) -> float:
    """VaDE's terms without the reconstruction, one number at a time."""
    total = 0.0
    for i in range(len(code)):
        for c, g in enumerate(gamma[i]):
            inner = 0.0
            for d in range(code.shape[1]):
                variance = math.exp(mix.log_variance[c, d].item())
                spread = math.exp(log_spread[i, d].item())
                away = (code[i, d] - mix.mean[c, d]).item() ** 2
                inner += math.log(variance) + spread / variance + away / variance
            total += 0.5 * g * inner - g * (mix.log_share[c].item() - math.log(g))
        total -= 0.5 * sum(1 + x for x in log_spread[i].tolist())
    return total / len(code)


def test_the_part_of_the_answers_is_the_worked_example() -> None:
    wanted = BASELINES["DC-GMM"]
    gamma = torch.tensor(wanted["responsibilities"], dtype=torch.float64)
    links = BatchLinks.from_pairs(same=[(0, 1)], different=[(1, 2)])
    found = tilted_prior(gamma, links, alpha=10.0).item()
    assert found == pytest.approx(wanted["constraint_loss"], abs=1e-9)


def test_responsibilities_and_prior_equal_slow_loops() -> None:
    for seed in range(3):
        z, log_spread, mixture = case(seed)
        gamma = slow_gamma(z, mixture)
        log_gamma = log_responsibilities(z, mixture)
        torch.testing.assert_close(log_gamma.exp(), torch.tensor(gamma, dtype=torch.float64))
        found = prior_loss(z, log_spread, log_gamma, mixture).item()
        assert found == pytest.approx(slow_prior(z, log_spread, gamma, mixture), abs=1e-10)


def test_the_prior_of_one_standard_group_is_the_usual_divergence() -> None:
    code, log_spread, _ = case(4, d=3)
    one = Mixture(*(torch.zeros(shape, dtype=torch.float64) for shape in ((1,), (1, 3), (1, 3))))
    log_gamma = log_responsibilities(code, one)
    spread = log_spread.exp()
    usual = 0.5 * (spread + code.square() - 1 - log_spread).sum(dim=1).mean()
    found = prior_loss(code, log_spread, log_gamma, one).item()
    assert found == pytest.approx(usual.item(), abs=1e-10)


def test_answers_equal_a_slow_loop() -> None:
    gamma = torch.rand(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gamma = gamma / gamma.sum(dim=1, keepdim=True)
    same, different = [(0, 1), (2, 4)], [(1, 3)]
    total = 0.0
    for sign, pairs in ((1, same), (-1, different)):
        for i, j in [*pairs, *[(b, a) for a, b in pairs]]:
            total -= sign * 7.0 * sum((gamma[i] * gamma[j]).tolist())
    found = tilted_prior(gamma, BatchLinks.from_pairs(same, different), alpha=7.0).item()
    assert found == pytest.approx(total / 5, abs=1e-10)
    assert tilted_prior(gamma, BatchLinks.none(), alpha=7.0).item() == 0


def test_gradients_are_those_of_the_value() -> None:
    z, log_spread, mixture = case(1)
    links = BatchLinks.from_pairs(same=[(0, 1)], different=[(1, 2)])

    def whole(z: Tensor, log_spread: Tensor, *parts: Tensor) -> Tensor:
        mixture = Mixture(*parts)
        log_gamma = log_responsibilities(z, mixture)
        prior = prior_loss(z, log_spread, log_gamma, mixture)
        return prior + tilted_prior(log_gamma.exp(), links, 3.0)

    inputs = tuple(x.clone().requires_grad_() for x in (z, log_spread, *mixture))
    assert torch.autograd.gradcheck(whole, inputs)


@pytest.mark.parametrize("k", [1, 2])
def test_far_codes_and_large_alpha_stay_finite_in_single_precision(k: int) -> None:
    z = torch.tensor([[1e4, -1e4], [0.0, 0.0]], requires_grad=True)
    mixture = Mixture(torch.zeros(k), torch.arange(2.0 * k).view(k, 2), torch.full((k, 2), -6.0))
    links = BatchLinks.from_pairs(different=[(0, 1)])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        log_gamma = log_responsibilities(z, mixture)
        value = prior_loss(z, torch.zeros(2, 2), log_gamma, mixture)
        value = value + tilted_prior(log_gamma.exp(), links, 1e4)
    value.backward()
    assert value.dtype == torch.float32 and value.isfinite()
    assert z.grad is not None and z.grad.isfinite().all()
