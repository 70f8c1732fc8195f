"""The likelihood of answered pairs, against a slow loop; how much an answer weighs with it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from samekind.clusterers.deep.occ import OCCLoss
from samekind.clusterers.deep.pcl import PCLLoss
from samekind.clusterers.deep.repaired import RepairedLoss
from samekind.errors import InputError
from samekind.objectives import BatchLinks, balance
from samekind.objectives.pair_likelihood import PairLikelihood
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint


def memberships(n: int, k: int, seed: int = 0) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.softmax(torch.randn(2 * n, k, generator=chance, dtype=torch.double), dim=1)


def slow(p: list[list[float]], n: int, same: Any, different: Any) -> float:
    """The mean over all pairs of views, one pair of rows at a time."""
    values = []
    for pairs, agree in ((same, True), (different, False)):
        for a, b in pairs:
            for i in (a, a + n):
                for j in (b, b + n):
                    together = sum(x * y for x, y in zip(p[i], p[j], strict=True))
                    values.append(-math.log(together if agree else 1 - together))
    return sum(values) / len(values)


@pytest.mark.parametrize("k", [2, 4])
def test_it_is_the_sum_over_answers_and_views(k: int) -> None:
    p = memberships(6, k)
    same, different = [(0, 1), (2, 5)], [(1, 3), (0, 4), (3, 5)]
    found = PairLikelihood(weight=2.0)(p, BatchLinks.from_pairs(same, different))
    assert found.item() == pytest.approx(2 * slow(p.tolist(), 6, same, different))


def test_its_gradient_is_right_and_reaches_both_answers() -> None:
    links = BatchLinks.from_pairs(same=[(0, 1)], different=[(1, 2)])
    p = memberships(3, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda q: PairLikelihood()(q, links), (p,))


def test_nothing_known_costs_nothing_and_guesses_do_not_count() -> None:
    p = memberships(4, 3)
    assert PairLikelihood()(p, BatchLinks.none()).item() == 0
    assert PairLikelihood()(p, BatchLinks.from_pairs(guessed=[(0, 1)])).item() == 0


def test_groups_that_are_sure_and_wrong_give_a_finite_loss() -> None:
    p = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).repeat(2, 1).requires_grad_()
    loss = PairLikelihood()(p, BatchLinks.from_pairs(same=[(0, 2)], different=[(0, 1)]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.isfinite() and p.grad is not None and p.grad.isfinite().all()


def test_a_weight_that_is_no_number_above_zero_is_refused() -> None:
    with pytest.raises(InputError, match="weight"):
        PairLikelihood(weight=0.0)


def gradient_change(loss: Any, kind: str, n: int = 128) -> float:
    """How far twelve answers of one kind move the gradient of a loss over a batch."""
    chance = torch.Generator().manual_seed(0)

    def noisy(width: int, noise: float) -> Tensor:
        rows = torch.randn(n, width, generator=chance, dtype=torch.double).repeat(2, 1)
        return rows + noise * torch.randn(rows.shape, generator=chance, dtype=torch.double)

    logits, z = noisy(2, 0.1), noisy(64, 0.3)

    def gradient(links: BatchLinks) -> Tensor:
        a, b = logits.clone().requires_grad_(), z.clone().requires_grad_()
        unit = torch.nn.functional.normalize(b, dim=1)
        parts = loss(Output(b, unit, torch.softmax(a, dim=1)), links.masks(n), SchedulePoint(0, 10))
        torch.stack(list(parts.values())).sum().backward()  # type: ignore[no-untyped-call]
        assert a.grad is not None and b.grad is not None
        return torch.cat([a.grad.flatten(), b.grad.flatten()])

    pairs = [(2 * i, 2 * i + 1) for i in range(12)]
    moved = gradient(BatchLinks.from_pairs(**{kind: pairs})) - gradient(BatchLinks.none())
    return float(moved.norm())


@pytest.mark.parametrize("own", [PCLLoss(), OCCLoss()])
def test_different_weighs_almost_nothing_in_the_published_losses_and_as_much_with_it(
    own: Any,
) -> None:
    assert gradient_change(own, "different") < gradient_change(own, "same") / 300
    repaired = RepairedLoss(own)
    ratio = gradient_change(repaired, "different") / gradient_change(repaired, "same")
    assert 0.5 < ratio < 2


def test_balance_aims_at_given_sizes() -> None:
    p = torch.tensor([[0.8, 0.2], [0.4, 0.6]], dtype=torch.double).repeat(2, 1)
    sizes = torch.tensor([0.6, 0.4])
    for views in (1, 2):
        assert balance(p, views=views, sizes=sizes).item() == pytest.approx(0, abs=1e-7)  # type: ignore[arg-type]
        uneven = torch.tensor([0.5, 0.5])
        equal = balance(p, views=views)  # type: ignore[arg-type]
        assert balance(p, views=views, sizes=uneven).item() == pytest.approx(equal.item())  # type: ignore[arg-type]
        assert equal > 0
