"""The losses against worked examples, computed elsewhere and stored beside the tests."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from objective_loops import links_of
from places import VECTORS
from samekind.objectives import (
    ActiveContrast,
    ClusterContrast,
    ConstrainedContrast,
    NTXent,
    balance,
)

HERE = VECTORS
PCL = json.loads((HERE / "pcl.json").read_text())
OCC = json.loads((HERE / "occ.json").read_text())
CC = json.loads((HERE / "cc.json").read_text())
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def stacked(inputs: dict[str, Any], letter: str, dtype: torch.dtype) -> Tensor:
    return torch.tensor(inputs[f"{letter}a"] + inputs[f"{letter}b"], dtype=dtype)


def agrees(found: Tensor, wanted: Any) -> None:
    tolerance = 1e-9 if found.dtype == torch.float64 else 1e-6
    torch.testing.assert_close(
        found, torch.tensor(wanted, dtype=found.dtype), atol=tolerance, rtol=0
    )


def pcl(dtype: torch.dtype) -> tuple[Tensor, Tensor, Any]:
    inputs = PCL["inputs"]
    return stacked(inputs, "Z", dtype), stacked(inputs, "P", dtype), links_of(inputs["answers"])


@DTYPES
def test_eq1_of_pcl_as_printed_and_as_programmed(dtype: torch.dtype) -> None:
    z, p, links = pcl(dtype)
    known = links.masks(4)
    cos_z = torch.nn.functional.normalize(z) @ torch.nn.functional.normalize(z).T
    cos_p = torch.nn.functional.normalize(p) @ torch.nn.functional.normalize(p).T
    paper, program = ConstrainedContrast(profile="paper"), ConstrainedContrast()
    agrees(paper.pair_losses(cos_z, known), PCL["eq1"]["paper"]["l_z"])
    agrees(paper.pair_losses(cos_p, known), PCL["eq1"]["paper"]["l_p_cosine"])
    agrees(program.pair_losses(cos_z, known), PCL["eq1"]["reference"]["l_z"])
    agrees(program.pair_losses(p @ p.T, known), PCL["eq1"]["reference"]["l_p_dot_no_temperature"])


@DTYPES
def test_eq2_of_pcl_as_printed_and_as_programmed(dtype: torch.dtype) -> None:
    known = pcl(dtype)[2].masks(4)
    agrees(
        ConstrainedContrast(profile="paper").pair_weights(known, dtype),
        PCL["eq2"]["paper_with_pairs"],
    )
    agrees(ConstrainedContrast().pair_weights(known, dtype), PCL["eq2"]["reference"])


@DTYPES
def test_eq3_of_pcl_as_printed(dtype: torch.dtype) -> None:
    z, p, links = pcl(dtype)
    loss = ConstrainedContrast(profile="paper")
    agrees(loss(z, p, links), PCL["eq3"]["paper_mean"])
    agrees(loss.instance(z, links) + loss.assignment(p, links), PCL["eq3"]["paper_mean"])


@DTYPES
def test_eq3_of_pcl_as_programmed(dtype: torch.dtype) -> None:
    z, p, links = pcl(dtype)
    loss, wanted = ConstrainedContrast(), PCL["eq3"]
    agrees(loss.instance(z, links), wanted["reference_instance"])
    agrees(loss.assignment(p, links), wanted["reference_assignment"])
    agrees(loss(z, p, links), wanted["reference_instance"] + wanted["reference_assignment"])


@DTYPES
def test_eq4_of_pcl_as_printed_and_as_programmed(dtype: torch.dtype) -> None:
    p = pcl(dtype)[1]
    agrees(ClusterContrast(temperature=2.0, profile="paper")(p), PCL["eq4"]["paper_scaled"])
    agrees(ClusterContrast(temperature=2.0)(p), PCL["eq4"]["reference_mean_over_2K"])


@DTYPES
def test_eq5_of_pcl_as_printed_and_as_programmed(dtype: torch.dtype) -> None:
    z, p, links = pcl(dtype)
    paper = ConstrainedContrast(profile="paper")(z, p, links)
    paper = paper + ClusterContrast(temperature=2.0, profile="paper")(p)
    agrees(balance(p), PCL["entropy"]["reference_sum_logK_minus_H"])
    agrees(math.log(2) - balance(p, views=1), PCL["entropy"]["H_both_views"])
    agrees(paper + balance(p, views=1), PCL["eq5"]["paper_sign_repaired"])
    agrees(paper + math.log(2) - balance(p, views=1), PCL["eq5"]["paper_literal_plus_H"])
    program = ConstrainedContrast()(z, p, links) + ClusterContrast(temperature=2.0)(p) + balance(p)
    agrees(program, PCL["eq5"]["reference"])


def test_the_weight_of_answers_fades_with_their_number_as_in_the_program() -> None:
    loss = ConstrainedContrast()
    for example in PCL["proportion_examples"]:
        n, ordered = example["batch"], example["n_pos_ordered"]
        if ordered % 2 or ordered == 0:
            continue  # ordered pairs come in twos
        pairs = [(i, j) for i in range(n) for j in range(i)][: ordered // 2]
        known = links_of([[0] * n] * n)._replace(same=torch.tensor(pairs)).masks(n)
        assert loss.pair_weights(known).max().item() == pytest.approx(
            1 + example["value"], abs=1e-3
        )


@DTYPES
@pytest.mark.parametrize(("space", "letter"), [("representation", "Z"), ("assignment", "Y")])
def test_eq3_and_eq4_of_occ(space: str, letter: str, dtype: torch.dtype) -> None:
    inputs, wanted = OCC["inputs"], OCC[space]
    x, lam = stacked(inputs, letter, dtype), inputs["lam"]
    links = links_of([[int(c > 0) for c in row] for row in inputs["C"]])
    loss = ActiveContrast(temperature=inputs["tau"])
    agrees((-loss.rows(x, links, lam)).exp(), wanted["l_a"] + wanted["l_b"])
    agrees(loss(x, links, lam), wanted["L"])
    without = ActiveContrast(temperature=inputs["tau"], include_self=False)
    agrees(without(x, links, lam), wanted["L_without_self"])


@DTYPES
def test_eq5_of_occ(dtype: torch.dtype) -> None:
    inputs = OCC["inputs"]
    z, y, lam = stacked(inputs, "Z", dtype), stacked(inputs, "Y", dtype), inputs["lam"]
    links = links_of([[int(c > 0) for c in row] for row in inputs["C"]])
    groups = ClusterContrast(temperature=inputs["tau"], profile="occ")(y)
    agrees(groups, OCC["cluster"]["L"])
    agrees(balance(y, views=1), OCC["balance"]["log_K_minus_entropy"])
    active = ActiveContrast(temperature=inputs["tau"])
    total = active(z, links, lam) + active(y, links, lam) + groups + balance(y, views=1)
    agrees(total, OCC["total"]["sign_repaired_plus_logK_minus_entropy"])


@DTYPES
def test_occ_without_answers_is_infonce_and_a_constant(dtype: torch.dtype) -> None:
    z = stacked(OCC["inputs"], "Z", dtype)
    nothing, wanted = links_of([[0] * 3] * 3), OCC["degenerate"]
    loss = ActiveContrast(temperature=0.5)(z, nothing, 2.0)
    agrees(loss, wanted["eq4_with_C_zero"])
    agrees(loss - math.log(3), wanted["infonce_self_in_denominator"])
    agrees(NTXent(temperature=0.5)(z), wanted["infonce_without_self"])


def test_the_weight_of_occ_fades_as_published() -> None:
    for step in OCC["lam_schedule"]:
        assert ActiveContrast.lam_at(step["epoch"], 1000) == pytest.approx(step["value"], abs=1e-9)
    assert ActiveContrast.lam_at(30, 60) == pytest.approx(25)
    assert ActiveContrast.lam_at(70, 60) == 0


@DTYPES
def test_all_parts_of_cc(dtype: torch.dtype) -> None:
    inputs, wanted = CC["inputs"], CC["CC"]
    z = stacked(inputs, "Z", dtype)
    p = stacked(inputs, "logits_", dtype).softmax(dim=1)
    agrees(NTXent()(z), wanted["instance_tau_0_5"])
    agrees(ClusterContrast()(p), wanted["cluster_tau_1"])
    agrees(balance(p), wanted["balance"])
    agrees(NTXent()(z) + ClusterContrast()(p) + balance(p), wanted["total"])
