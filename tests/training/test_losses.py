"""The scale of each self-supervised loss is that of the published programs.

A loss that is twice as large is a learning rate that is twice as large. The worked examples were
checked against the programs' own functions; here the losses are called as training calls them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from torch import Tensor

from places import VECTORS
from samekind.training.losses import BoostLoss, BYOLLoss, CCLoss, ProPosLoss
from samekind.training.momentum import MomentumOutput
from samekind.training.network import Output
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.simclr import ItemContrast
from samekind.training.steps import SchedulePoint

BASELINES = json.loads((VECTORS / "baselines.json").read_text())
POINT = SchedulePoint(0.5, 1.0)
LINKS: Any = None
"""None of these losses looks at answers."""


def given(name: str) -> Tensor:
    return torch.tensor(BASELINES["inputs"][name], dtype=torch.float64)


def output() -> Output:
    z = torch.cat([given("Za"), given("Zb")])
    p = torch.softmax(torch.cat([given("logits_a"), given("logits_b")]), dim=1)
    return Output(z, z, p)


def momentum_output() -> MomentumOutput:
    """Both directions are the worked example: a mean of both is its value, a sum twice that."""
    online, target = given("Za").repeat(2, 1), given("Zb").repeat(2, 1)
    return MomentumOutput(online, online, online, target)


def test_simclr_has_the_scale_of_the_program() -> None:
    parts = ItemContrast(temperature=0.5)(output(), LINKS, POINT)
    assert list(parts) == ["instance"]
    wanted = BASELINES["CC"]["instance_tau_0_5"]
    assert parts["instance"].item() == pytest.approx(wanted, abs=1e-9)


def test_cc_and_the_twin_contrast_of_tcl_have_the_scale_of_their_programs() -> None:
    parts = {name: part.item() for name, part in CCLoss()(output(), LINKS, POINT).items()}
    wanted = BASELINES["CC"]
    assert parts == pytest.approx(
        {
            "instance": wanted["instance_tau_0_5"],
            "groups": wanted["cluster_tau_1"],
            "balance": wanted["balance"],
        },
        abs=1e-9,
    )
    assert sum(parts.values()) == pytest.approx(wanted["total"], abs=1e-9)


def test_the_boosting_of_tcl_has_the_scale_of_the_program() -> None:
    items = torch.arange(4)
    memory = PseudoLabels(4, 3)
    memory.labels.copy_(torch.tensor(BASELINES["TCL"]["pseudo"]))
    found = BoostLoss(memory).of_items(output(), items, LINKS, POINT)
    wanted = BASELINES["TCL"]["boost_instance_tau_0_5"]
    assert found["instance"].item() == pytest.approx(wanted, abs=1e-9)
    # TCL and SCAN have the same cross-entropy, weighted by groups; the vectors have SCAN's.
    sure = BASELINES["SCAN"]["self_label"]
    kept, label = torch.tensor(sure["keep"]), torch.tensor(sure["weak_logits"]).argmax(dim=1)
    memory.labels.copy_(torch.where(kept, label, -1))
    found = BoostLoss(memory).of_items(output(), items, LINKS, POINT)
    assert found["groups"].item() == pytest.approx(sure["loss_with_logits_b"], abs=1e-8)


def test_byol_has_the_scale_of_the_program_whose_rates_it_uses() -> None:
    parts = BYOLLoss()(momentum_output(), LINKS, POINT)
    assert list(parts) == ["alignment"]
    wanted = BASELINES["ProPos"]["psa_mean_of_minus_2cos"]
    assert parts["alignment"].item() - 2 == pytest.approx(wanted, abs=1e-9)  # a constant more


def test_propos_has_the_scale_of_the_program() -> None:
    wanted = BASELINES["ProPos"]
    loss = ProPosLoss(4, 2)
    loss.labels.copy_(torch.tensor(wanted["labels"]))
    parts = loss.of_items(momentum_output(), torch.arange(4), LINKS, POINT)
    assert sorted(parts) == ["alignment", "scattering"]
    align, scatter = wanted["psa_mean_of_minus_2cos"], wanted["psl_tau_0_5"]
    assert parts["alignment"].item() - 2 == pytest.approx(align, abs=1e-9)
    assert parts["scattering"].item() == pytest.approx(0.1 * scatter, abs=1e-9)


def test_gradients_of_propos_are_those_of_the_mean_of_both_directions() -> None:
    """The shift by a constant cannot hide a factor here."""
    online = torch.cat([given("Za"), given("Zb").flip(0)]).requires_grad_()
    target = torch.cat([given("Zb"), given("Za").flip(1)])
    labels = torch.tensor([0, 1, 1, 0])
    loss = ProPosLoss(4, 2)
    loss.labels.copy_(labels)
    out = MomentumOutput(online, online, online, target)
    total = sum(loss.of_items(out, torch.arange(4), LINKS, POINT).values())
    (found,) = torch.autograd.grad(total, online)  # type: ignore[arg-type]
    halves = (online[:4], target[4:]), (online[4:], target[:4])
    slow = sum(one_direction(q, k, labels) for q, k in halves) / 2
    (wanted,) = torch.autograd.grad(slow, online)  # type: ignore[arg-type]
    torch.testing.assert_close(found, wanted)


def one_direction(q: Tensor, k: Tensor, labels: Tensor) -> Tensor:
    """-2 cos and .1 times the scattering, group by group, without the code under test."""
    cosine = torch.nn.functional.cosine_similarity
    align = -2 * cosine(q, k).mean()
    units = [torch.nn.functional.normalize(x) for x in (q, k)]
    here, there = ([x[labels == g].mean(dim=0) for g in (0, 1)] for x in units)
    scatter = torch.zeros((), dtype=q.dtype)
    for g in (0, 1):
        own = cosine(here[g], there[g], dim=0) / 0.5
        other = cosine(here[g], here[1 - g], dim=0) / 0.5
        scatter = scatter - torch.log(own.exp() / (own.exp() + other.exp())) / 2
    return align + 0.1 * scatter
