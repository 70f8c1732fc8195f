"""IDC's three losses: worked examples, slow loops, and what must hold whatever the numbers."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from places import VECTORS
from samekind.errors import InputError
from samekind.objectives import (
    BoostedContrast,
    PrototypeScattering,
    balanced_nll,
    negative_loss,
    positive_loss,
    regression,
    regularisation,
)
from samekind.objectives.feedback import PROFILES, FeedbackProfile, confident, one_of

IDC = json.loads((VECTORS / "idc.json").read_text())["losses"]
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
EVERY = pytest.mark.parametrize("profile", PROFILES)


def shares(key: str, dtype: torch.dtype) -> Tensor:
    return torch.tensor(IDC[key], dtype=dtype).softmax(dim=1)


def agrees(found: Tensor, wanted: float) -> None:
    tolerance = 1e-9 if found.dtype == torch.float64 else 1e-6
    assert found.item() == pytest.approx(wanted, abs=tolerance)


def memberships(n: int, k: int, seed: int, spread: float = 1.0) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (spread * torch.randn(n, k, generator=draw, dtype=torch.float64)).softmax(dim=1)


def answered(n: int, k: int, seed: int) -> Tensor:
    return torch.randint(-1, k, (n,), generator=torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------- worked examples


@DTYPES
def test_eq12_as_printed_and_as_programmed(dtype: torch.dtype) -> None:
    p, chosen = shares("logit_pos", dtype), torch.tensor(IDC["y_pos"])
    agrees(positive_loss(p, chosen, profile="paper"), IDC["L_pos"])
    agrees(positive_loss(p, chosen, profile="program"), IDC["L_pos_class_balanced"])
    agrees(positive_loss(p, chosen), IDC["L_pos_class_balanced"])


@DTYPES
@EVERY
def test_eq13_with_one_refused_group_and_with_all(
    profile: FeedbackProfile, dtype: torch.dtype
) -> None:
    p = shares("logit_neg", dtype)
    drawn = torch.tensor(IDC["drawn"])
    agrees(negative_loss(p, drawn, profile=profile), IDC["L_neg_one_drawn"])
    every = torch.zeros(2, 3, dtype=torch.bool).scatter_(1, torch.tensor(IDC["refused"]), True)
    agrees(negative_loss(p, every, profile=profile), IDC["L_neg_all_refused"])


@DTYPES
def test_eq14_on_one_view_on_the_strong_view_and_as_programmed(dtype: torch.dtype) -> None:
    plain, strong = shares("logit_reg_plain", dtype), shares("logit_reg_strong", dtype)
    labels = confident(plain, IDC["tau"])
    assert (labels >= 0).tolist() == IDC["keep"]
    agrees(regularisation(plain, labels, profile="paper"), IDC["L_reg_eq14_same_view"])
    agrees(regularisation(strong, labels, profile="paper"), IDC["L_reg_eq14_strong_view_over_all"])
    wanted = IDC["L_reg_reference_balanced_over_kept"]
    agrees(regularisation(strong, labels, profile="program"), wanted)
    agrees(regularisation(strong, labels), wanted)


@DTYPES
@pytest.mark.parametrize(
    ("profile", "key"),
    [("paper", "total_eq11"), ("program", "total_reference"), ("repaired", "total_reference")],
)
def test_eq11_adds_them_up(profile: FeedbackProfile, key: str, dtype: torch.dtype) -> None:
    labels = confident(shares("logit_reg_plain", dtype), IDC["tau"])
    total = (
        positive_loss(shares("logit_pos", dtype), torch.tensor(IDC["y_pos"]), profile=profile)
        + negative_loss(shares("logit_neg", dtype), torch.tensor(IDC["drawn"]), profile=profile)
        + regularisation(shares("logit_reg_strong", dtype), labels, profile=profile)
    )
    agrees(total, IDC[key])


# ---------------------------------------------------------------- slow loops


def slow_mean(P: list[list[float]], labels: list[int]) -> float:
    known = [-math.log(row[y]) for row, y in zip(P, labels, strict=True) if y >= 0]
    return sum(known) / len(known)


def slow_balanced(P: list[list[float]], labels: list[int]) -> float:
    """Weights n / n_k for each labelled item, and the weighted mean."""
    known = [(row, y) for row, y in zip(P, labels, strict=True) if y >= 0]
    weight = {y: len(known) / [z for _, z in known].count(y) for _, y in known}
    top = sum(-weight[y] * math.log(row[y]) for row, y in known)
    return top / sum(weight[y] for _, y in known)


def test_all_three_equal_slow_loops_with_items_left_out() -> None:
    for seed in range(5):
        p, labels = memberships(9, 4, seed), answered(9, 4, seed + 20)
        P, y = p.tolist(), labels.tolist()
        agrees(positive_loss(p, labels, profile="paper"), slow_mean(P, y))
        agrees(positive_loss(p, labels), slow_balanced(P, y))
        agrees(regularisation(p, labels), slow_balanced(P, y))
        part = sum(label >= 0 for label in y) / 9
        agrees(regularisation(p, labels, profile="paper"), slow_mean(P, y) * part)
        one = [-math.log(1 - P[i][y[i]]) for i in range(9) if y[i] >= 0]
        agrees(negative_loss(p, labels), sum(one) / len(one))
        table = torch.rand(9, 4, generator=torch.Generator().manual_seed(seed)) < 0.4
        rows = [[j for j in range(4) if table[i, j]] for i in range(9)]
        every = [-sum(math.log(1 - P[i][j]) for j in rows[i]) for i in range(9) if rows[i]]
        agrees(negative_loss(p, table), sum(every) / len(every))


# ---------------------------------------------------------------- properties


@EVERY
def test_the_order_of_items_and_the_numbers_of_groups_do_not_matter(
    profile: FeedbackProfile,
) -> None:
    p, labels = memberships(8, 4, 1), answered(8, 4, 2)
    order = torch.randperm(8, generator=torch.Generator().manual_seed(0))
    to = torch.tensor([2, 3, 1, 0, -1])  # group to its new number; -1 stays -1
    back = to[:4].argsort()
    for loss in (positive_loss, negative_loss, regularisation):
        wanted = loss(p, labels, profile=profile)
        torch.testing.assert_close(loss(p[order], labels[order], profile=profile), wanted)
        torch.testing.assert_close(loss(p[:, back], to[labels], profile=profile), wanted)


@EVERY
@pytest.mark.parametrize("nothing", [True, False])
def test_gradients_are_those_of_the_value(profile: FeedbackProfile, nothing: bool) -> None:
    labels = torch.full((6,), -1) if nothing else answered(6, 3, 3)
    table = torch.zeros(6, 3, dtype=torch.bool) if nothing else memberships(6, 3, 5) > 0.4
    logits = memberships(6, 3, 4).log().requires_grad_()
    for loss, given in (
        (positive_loss, labels),
        (negative_loss, labels),
        (negative_loss, table),
        (regularisation, labels),
    ):
        assert torch.autograd.gradcheck(
            lambda x, loss=loss, given=given: loss(x.softmax(dim=1), given, profile=profile),
            (logits,),
        )


@EVERY
def test_empty_groups_give_zero_and_a_gradient_of_zero(profile: FeedbackProfile) -> None:
    for loss in (positive_loss, negative_loss, regularisation):
        p = memberships(5, 3, 6).float().requires_grad_()
        value = loss(p, torch.full((5,), -1), profile=profile)
        value.backward()
        assert value.item() == 0 and p.grad is not None and not p.grad.any()
    p = memberships(5, 3, 6).requires_grad_()
    value = negative_loss(p, torch.zeros(5, 3, dtype=torch.bool), profile=profile)
    value.backward()
    assert value.item() == 0 and p.grad is not None and not p.grad.any()


@EVERY
def test_shares_of_zero_and_one_give_no_nan_and_no_infinity(profile: FeedbackProfile) -> None:
    for loss in (positive_loss, negative_loss, regularisation):
        for label in (0, 1):
            p = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
            value = loss(p, torch.tensor([label, -1]), profile=profile)
            value.backward()
            assert value.isfinite() and p.grad is not None and p.grad.isfinite().all()


def test_the_program_lets_go_of_items_that_are_surely_in_a_refused_group_the_repair_does_not() -> (
    None
):
    gradients = {}
    for profile in get_args(FeedbackProfile):
        logits = torch.tensor([[20.0, 0.0, 0.0]], requires_grad=True)
        loss = negative_loss(logits.softmax(dim=1), torch.tensor([0]), profile=profile)
        loss.backward()
        assert logits.grad is not None
        gradients[profile] = logits.grad[0, 0].item()
        wanted = -math.log(1e-5) if profile == "program" else 20 - math.log(2)
        assert loss.item() == pytest.approx(wanted, rel=1e-4)
    assert gradients["program"] == 0
    assert gradients["repaired"] == pytest.approx(1, abs=1e-4)


@EVERY
def test_half_precision_and_autocast_leave_the_sums_in_single_precision(
    profile: FeedbackProfile,
) -> None:
    labels = answered(64, 5, 8)
    for loss in (positive_loss, negative_loss, regularisation):
        p = memberships(64, 5, 7).bfloat16().requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            value = loss(p, labels, profile=profile)
        value.backward()
        exact = loss(p.detach().double(), labels, profile=profile)
        assert value.dtype == torch.float32
        assert value.item() == pytest.approx(exact.item(), rel=1e-4)
        assert p.grad is not None and p.grad.isfinite().all()


def test_one_refused_group_is_drawn_evenly_from_those_of_the_item() -> None:
    refused = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]]).bool()
    chances = torch.rand(3, 30_000, generator=torch.Generator().manual_seed(0))
    found = torch.stack([one_of(refused, column) for column in chances.T[:3000]], dim=1)
    counts = torch.bincount(found[0], minlength=4) / 3000
    assert counts[1] == 0 and (counts[[0, 2, 3]] - 1 / 3).abs().max() < 0.04
    assert (found[1] == -1).all() and (found[2] == 1).all()
    assert one_of(refused, torch.ones(3)).tolist() == [3, -1, 1]
    assert one_of(refused, torch.zeros(3)).tolist() == [0, -1, 1]


def test_the_mean_over_the_draws_is_that_part_of_the_full_sum() -> None:
    p = memberships(1, 5, 9)
    refused = torch.tensor([[True, False, True, True, False]])
    each = [negative_loss(p, torch.tensor([j])).item() for j in (0, 2, 3)]
    assert negative_loss(p, refused).item() == pytest.approx(sum(each), abs=1e-12)


def test_no_new_loss_looks_at_a_number_on_the_device() -> None:
    """A fake tensor has a shape and no numbers: whoever asks for one is told so."""
    with FakeTensorMode():
        x, p = torch.rand(8, 3, requires_grad=True), torch.rand(4, 3, requires_grad=True)
        labels, table = torch.zeros(4, dtype=torch.long), torch.zeros(4, 3, dtype=torch.bool)
        found = [
            regression(x, x),
            BoostedContrast()(x, labels),
            PrototypeScattering()(p, p, labels, 3),
            balanced_nll(p, labels, 3),
            *(positive_loss(p, labels, profile=profile) for profile in PROFILES),
            *(negative_loss(p, labels, profile=profile) for profile in PROFILES),
            *(regularisation(p, labels, profile=profile) for profile in PROFILES),
            negative_loss(p, table),
        ]
        for value in found:
            value.backward()
        assert confident(p).shape == one_of(table, torch.rand(4)).shape == (4,)
    assert all(value.shape == () for value in found)


def test_wrong_input_is_refused_in_words() -> None:
    p: Any = memberships(4, 3, 0)
    with pytest.raises(InputError, match="program, paper, repaired"):
        positive_loss(p, torch.zeros(4, dtype=torch.long), profile="reference")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"\(4, 3\) of true and false"):
        negative_loss(p, torch.zeros(4, 2, dtype=torch.bool))
    with pytest.raises(InputError, match="each of 4 items"):
        negative_loss(p, torch.zeros(3, dtype=torch.long))
    with pytest.raises(InputError, match="matrix"):
        negative_loss(p[0], torch.zeros(3, dtype=torch.long))
    with pytest.raises(InputError, match="form a matrix"):
        regularisation(p[0], torch.zeros(3, dtype=torch.long))
