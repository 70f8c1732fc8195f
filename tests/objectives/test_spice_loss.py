"""SPICE's labels by prototypes and its smoothed loss, against slow loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from samekind.errors import InputError
from samekind.objectives.spice import prototype_labels, smooth_nll


def slow_labels(x: np.ndarray, p: np.ndarray, share: float) -> np.ndarray:
    """Word by word from the paper: top scores, mean, nearest."""
    m, k = p.shape
    unit = [row / math.sqrt(sum(v * v for v in row)) for row in x]
    chosen = np.zeros((m, k), dtype=bool)
    for group in range(k):
        order = sorted(range(m), key=lambda i: -p[i, group])
        top = order[: int(share * m / k)]
        centre = sum(unit[i] for i in top)
        centre = centre / math.sqrt(sum(v * v for v in centre))
        near = sorted(range(m), key=lambda i: -float(np.dot(unit[i], centre)))
        for i in near[: m // k]:
            chosen[i, group] = True
    return chosen


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_labels_are_those_of_the_slow_loop(share: float) -> None:
    rng = np.random.default_rng(3)
    x, p = rng.normal(size=(60, 5)), rng.dirichlet(np.ones(4), size=60)
    found = prototype_labels(torch.from_numpy(x), torch.from_numpy(p), share=share)
    np.testing.assert_array_equal(found.numpy(), slow_labels(x, p, share))
    assert (found.sum(dim=0) == 15).all()
    assert (found.sum(dim=1) > 1).any() and (found.sum(dim=1) == 0).any()


def test_fewer_items_than_groups_still_give_every_group_an_example() -> None:
    found = prototype_labels(torch.eye(3), torch.full((3, 5), 0.2))
    assert (found.sum(dim=0) == 1).all()


def test_the_loss_is_a_soft_max_of_a_soft_max_over_the_examples_only() -> None:
    torch.manual_seed(0)
    p = torch.randn(2, 7, 3, dtype=torch.float64).softmax(-1)
    chosen = torch.rand(2, 7, 3) < 0.4
    for head in range(2):
        terms = [
            -math.log(math.exp(p[head, i, k]) / sum(math.exp(v) for v in p[head, i]))
            for i in range(7)
            for k in range(3)
            if chosen[head, i, k]
        ]
        assert abs(smooth_nll(p, chosen)[head].item() - sum(terms) / len(terms)) < 1e-12


def test_heads_do_not_disturb_each_other() -> None:
    logits = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    chosen = torch.zeros(2, 4, 3, dtype=torch.bool)
    chosen[0, 1, 2] = chosen[1, 0, 0] = True
    smooth_nll(logits.softmax(-1), chosen)[0].backward()
    assert logits.grad is not None and logits.grad[0].any() and not logits.grad[1].any()
    assert torch.autograd.gradcheck(lambda x: smooth_nll(x.softmax(-1), chosen), logits)


def test_no_example_gives_nothing() -> None:
    p = torch.full((4, 2), 0.5)
    assert smooth_nll(p, torch.zeros(4, 2, dtype=torch.bool)).item() == 0


def test_shapes_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="one shape"):
        smooth_nll(torch.ones(4, 2), torch.ones(4, 3, dtype=torch.bool))
    with pytest.raises(InputError, match="same items"):
        prototype_labels(torch.ones(4, 2), torch.ones(3, 2))
