"""TCL's boosting: contrast that spares items of one label, and cross-entropy by groups."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

from objective_loops import case, cosine
from places import VECTORS
from samekind.errors import InputError
from samekind.objectives import BoostedContrast, NTXent, balanced_nll

HERE = VECTORS
BASELINES = json.loads((HERE / "baselines.json").read_text())
LABELS = torch.tensor([0, 2, 0, -1, 2, 0, -1, 1])


def slow_contrast(X: list[list[float]], labels: list[int], tau: float) -> float:
    """The printed sum, one term at a time."""
    n = len(labels)
    total = 0.0
    for i in range(2 * n):
        bottom = 0.0
        for k in range(2 * n):
            spared = labels[k % n] == labels[i % n] >= 0 and k % n != i % n
            if k != i and not spared:
                bottom += math.exp(cosine(X[i], X[k]) / tau)
        total -= math.log(math.exp(cosine(X[i], X[(i + n) % (2 * n)]) / tau) / bottom)
    return total / (2 * n)


def slow_nll(P: list[list[float]], labels: list[int]) -> float:
    """Weights n / n_k for each labelled item, and the weighted mean."""
    known = [(row, label) for row, label in zip(P, labels, strict=True) if label >= 0]
    weight = {k: len(known) / sum(label == k for _, label in known) for _, k in known}
    top = sum(-weight[label] * math.log(row[label]) for row, label in known)
    return top / sum(weight[label] for _, label in known)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_boosting_is_the_worked_example(dtype: torch.dtype) -> None:
    inputs, wanted = BASELINES["inputs"], BASELINES["TCL"]
    x = torch.tensor(inputs["Za"] + inputs["Zb"], dtype=dtype)
    found = BoostedContrast(temperature=0.5)(x, torch.tensor(wanted["pseudo"]))
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    assert found.item() == pytest.approx(wanted["boost_instance_tau_0_5"], abs=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cross_entropy_by_groups_is_the_worked_example(dtype: torch.dtype) -> None:
    wanted = BASELINES["SCAN"]["self_label"]
    labels = torch.tensor(wanted["weak_logits"]).argmax(dim=1)
    labels[~torch.tensor(wanted["keep"])] = -1
    logits = torch.tensor(BASELINES["inputs"]["logits_b"], dtype=dtype)
    tolerance = 1e-9 if dtype == torch.float64 else 1e-6
    for found in (
        balanced_nll(logits.softmax(dim=1), labels, 3),
        balanced_nll(logits.log_softmax(dim=1), labels, 3, logs=True),
    ):
        assert found.item() == pytest.approx(wanted["loss_with_logits_b"], abs=tolerance)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
def test_both_equal_slow_loops(temperature: float) -> None:
    for seed in range(5):
        z, p, _ = case(8, 3, seed)
        labels = torch.randint(-1, 3, (8,), generator=torch.Generator().manual_seed(seed))
        labels[0] = 1
        loss = BoostedContrast(temperature=temperature)(z, labels)
        slow = slow_contrast(z.tolist(), labels.tolist(), temperature)
        assert loss.item() == pytest.approx(slow, abs=1e-10)
        found = balanced_nll(p[:8], labels, 3)
        assert found.item() == pytest.approx(slow_nll(p[:8].tolist(), labels.tolist()), abs=1e-10)


def test_without_labels_it_is_plain_contrast_and_labels_only_lower_it() -> None:
    z = case(8, 3, 1)[0]
    plain = NTXent()(z)
    torch.testing.assert_close(BoostedContrast()(z, torch.full((8,), -1)), plain)
    torch.testing.assert_close(BoostedContrast()(z, torch.arange(8)), plain)  # all different
    assert BoostedContrast()(z, LABELS) < plain


def test_when_all_items_have_one_label_only_the_own_view_is_left() -> None:
    z = case(6, 3, 2)[0].requires_grad_()
    loss = BoostedContrast()(z, torch.zeros(6, dtype=torch.long))
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert z.grad is not None and z.grad.abs().max() < 1e-12


def test_neither_the_order_of_items_nor_of_views_nor_the_numbers_of_groups_matter() -> None:
    z, p, _ = case(8, 3, 3)
    order = torch.randperm(8, generator=torch.Generator().manual_seed(0))
    renamed = torch.tensor([2, 0, 1, -1])[LABELS]  # -1 stays -1
    contrast, wanted = BoostedContrast(), BoostedContrast()(z, LABELS)
    torch.testing.assert_close(contrast(z[torch.cat([order, order + 8])], LABELS[order]), wanted)
    torch.testing.assert_close(contrast(z.roll(8, 0), LABELS), wanted)
    torch.testing.assert_close(contrast(z, renamed), wanted)
    entropy = balanced_nll(p[:8], LABELS, 3)
    torch.testing.assert_close(balanced_nll(p[:8][order], LABELS[order], 3), entropy)
    torch.testing.assert_close(balanced_nll(p[:8][:, [1, 2, 0]], renamed, 3), entropy)


def test_a_group_counts_the_same_however_many_items_it_has() -> None:
    p = case(4, 3, 4)[1][:4]
    labels = torch.tensor([0, 1, 2, 2])
    often = torch.tensor([0] * 7 + [1, 2, 3, 2, 3])
    torch.testing.assert_close(balanced_nll(p[often], labels[often], 3), balanced_nll(p, labels, 3))


@pytest.mark.parametrize("labels", [LABELS, torch.full((8,), -1), torch.zeros(8, dtype=torch.long)])
def test_gradients_are_those_of_the_value(labels: Tensor) -> None:
    z, p, _ = case(8, 3, 5, m=3)
    z.requires_grad_()
    logits = p[:8].log().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: BoostedContrast()(x, labels), (z,))
    assert torch.autograd.gradcheck(lambda x: balanced_nll(x.softmax(dim=1), labels, 3), (logits,))
    assert torch.autograd.gradcheck(
        lambda x: balanced_nll(x.log_softmax(dim=1), labels, 3, logs=True), (logits,)
    )


def test_no_labelled_item_gives_zero_and_a_gradient_of_zero() -> None:
    p = case(4, 3, 6)[1].float().requires_grad_()
    loss = balanced_nll(p, torch.full((8,), -1), 3)
    loss.backward()
    assert loss.item() == 0 and p.grad is not None and not p.grad.any()


def test_shares_of_zero_give_no_nan_and_no_infinity() -> None:
    p = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    loss = balanced_nll(p, torch.tensor([0, 1]), 2)
    loss.backward()
    assert loss.isfinite() and loss > 40 and p.grad is not None and p.grad.isfinite().all()
    logs = torch.tensor([[0.0, -math.inf]], requires_grad=True)
    loss = balanced_nll(logs, torch.tensor([0]), 2, logs=True)
    loss.backward()
    assert loss.item() == 0 and logs.grad is not None and logs.grad.isfinite().all()


def test_half_precision_and_autocast_leave_the_sums_in_single_precision() -> None:
    z, p, _ = case(32, 4, 7)
    labels = torch.arange(32) % 5 - 1
    half_z, half_p = z.bfloat16().requires_grad_(), p[:32].bfloat16().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = [BoostedContrast()(half_z, labels), balanced_nll(half_p, labels, 4)]
    exact = [
        BoostedContrast()(half_z.detach().double(), labels),
        balanced_nll(half_p.detach().double(), labels, 4),
    ]
    for value, wanted in zip(found, exact, strict=True):
        value.backward()
        assert value.dtype == torch.float32
        assert value.item() == pytest.approx(wanted.item(), rel=1e-5)
    assert half_z.grad is not None and half_z.grad.isfinite().all()


def test_wrong_labels_are_refused_in_words() -> None:
    z, p, _ = case(4, 3, 8)
    with pytest.raises(InputError, match=r"each of 4 items.*\(8,\)"):
        BoostedContrast()(z, torch.zeros(8, dtype=torch.long))
    with pytest.raises(InputError, match="float32"):
        balanced_nll(p, torch.zeros(8), 3)
    with pytest.raises(InputError, match="4 groups"):
        balanced_nll(p, torch.zeros(8, dtype=torch.long), 4)
    with pytest.raises(InputError, match="temperature"):
        BoostedContrast(temperature=0)
