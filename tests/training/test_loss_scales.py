"""The loss that each method trains with has the scale of its program, or of its paper.

The objectives have tests of their own. Here the modules that training calls, with the weights that
the methods give them, meet the worked examples: a weight that is twice as large fails.
SimCLR, CC, TCL, BYOL and ProPos are in test_losses.py, SCAN and IDC beside their own tests.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from objective_loops import columns, links_of, ntxent, occ_rows
from places import VECTORS
from samekind import DCC, DCGMM, DEC, IDEC, IDFD, OCC, PCL, SDEC
from samekind.clusterers.deep.dcgmm import DCGMMLearner, Drawn
from samekind.clusterers.deep.gcc import GCCLoss, ItemGraph
from samekind.clusterers.deep.idfd import IDFDLoss
from samekind.clusterers.deep.mice import ExpertNetwork, ExpertOutput, MiCELoss
from samekind.clusterers.deep.pica import PICALoss
from samekind.compute import Compute
from samekind.objectives import BatchLinks
from samekind.objectives.dcgmm import Mixture
from samekind.training.autoencoder import Coded
from samekind.training.finetune import Changes
from samekind.training.fixmatch import FixMatchTuner, FixMatchTuning
from samekind.training.network import Network, Output
from samekind.training.rows import RowBackbone
from samekind.training.steps import SchedulePoint

BASELINES, PCLS, OCCS = (
    json.loads((VECTORS / f"{name}.json").read_text()) for name in ("baselines", "pcl", "occ")
)
POINT = SchedulePoint(0.5, 1.0)
LINKS: Any = None
"""For losses that do not look at answers."""
PAIR = (0, 1)
"""Known to be the same in the examples with links; items 1 and 2 are known to be different."""
APART = (1, 2)


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def given(name: str) -> Tensor:
    return tensor(BASELINES["inputs"][name])


def shares(view: str) -> Tensor:
    return given(f"logits_{view}").softmax(dim=1)


def agree(parts: Mapping[str, Tensor], wanted: Mapping[str, float], total: float) -> None:
    found = {name: part.item() for name, part in parts.items()}
    assert found == pytest.approx(dict(wanted), abs=1e-8)
    assert sum(found.values()) == pytest.approx(total, abs=1e-8)


def test_pcl_has_the_scale_of_the_program() -> None:
    inputs, wanted = PCLS["inputs"], PCLS["eq3"]
    z, p = (tensor(inputs[f"{letter}a"] + inputs[f"{letter}b"]) for letter in "ZP")
    parts = PCL().published_objective()(
        Output(z, z, p), links_of(inputs["answers"]).masks(4), POINT
    )
    agree(
        parts,
        {
            "instance": wanted["reference_instance"],
            "assignment": wanted["reference_assignment"],
            "groups": PCLS["eq4"]["reference_mean_over_2K"],
            "balance": PCLS["entropy"]["reference_sum_logK_minus_H"],
        },
        PCLS["eq5"]["reference"],
    )


def test_occ_has_the_scale_of_the_paper() -> None:
    """In the worked example groups have the temperature .5; OCC follows CC, where it is 1."""
    inputs = OCCS["inputs"]
    z, y = (tensor(inputs[f"{letter}a"] + inputs[f"{letter}b"]) for letter in "ZY")
    links = links_of([[int(c > 0) for c in row] for row in inputs["C"]])
    faded = SchedulePoint(1000 - inputs["lam"] / 0.05, 1000)  # lambda is (1000 - e) .05
    parts = OCC().published_objective()(Output(z, z, y), links.masks(3), faded)
    alone = [[0, 0], [0, 0]]  # Eq. 3 with O in place of C
    rows = occ_rows(columns(y.tolist()), alone, tau=1.0, lam=0.0, include_self=True)
    groups = sum(-math.log(row) for row in rows) / len(rows)
    wanted = OCCS["total"]["sign_repaired_plus_logK_minus_entropy"]
    agree(
        parts,
        {
            "instance": OCCS["representation"]["L"],
            "assignment": OCCS["assignment"]["L"],
            "groups": groups,
            "balance": OCCS["balance"]["log_K_minus_entropy"],
        },
        wanted - OCCS["cluster"]["L"] + groups,
    )


@pytest.mark.parametrize("copies", [1, 3])
def test_pica_has_the_scale_of_the_program_for_both_heads(copies: int) -> None:
    wanted = BASELINES["PICA"]
    p = torch.cat([shares("a"), *[shares("b")] * copies])
    plain = PICALoss(copies)(Output(p, p, p), LINKS, POINT)
    balance = 2 * wanted["balance"]  # the published lambda
    agree(plain, {"confidence": wanted["ce"], "balance": balance}, wanted["total_lambda_2"])
    finer: Any = nn.Identity()
    both, total = PICALoss(copies, finer), wanted["total_lambda_2"]
    theirs = both(Output(p.float(), p, p), LINKS, SchedulePoint(0.5, 2.0))
    assert theirs["finer"].item() == pytest.approx(total, abs=1e-6)
    ours = both(Output(p.float(), p, p), LINKS, SchedulePoint(1.5, 2.0))
    for parts in (theirs, ours):  # each head has the whole of its epoch
        assert sum(part.item() for part in parts.values()) == pytest.approx(total, abs=1e-6)


def test_gcc_has_the_scale_of_the_program_before_and_with_the_graph() -> None:
    wanted, items = BASELINES["GCC"], torch.arange(4)
    graph = ItemGraph(12, 3, batch=4, drawn=3)
    graph.chosen.copy_(torch.arange(12).view(4, 3))
    loss = GCCLoss(graph).double()
    graph.weight[graph.chosen] = tensor(wanted["weights"]).T
    views = torch.cat([given("Za"), given("Zb")])
    parts = loss.of_items(Output(views, views, views), items, LINKS, POINT)
    alone = 2 * ntxent(views.tolist(), tau=0.1)
    agree(parts, {"instance": alone}, alone)
    z = torch.cat([views, *tensor(wanted["neighbours"])])
    p = torch.cat([shares("a"), shares("a"), shares("b"), shares("a"), shares("a")])
    parts = loss.of_items(Output(z, z, p), items, LINKS, POINT)
    along, pica = 2 * wanted["rgc_tau_0_1"], BASELINES["PICA"]
    agree(
        parts,
        {"graph": along, "agreement": pica["ce"], "balance": 2 * pica["balance"]},
        along + wanted["agc_total_lambda_2"],
    )


def test_idfd_has_the_scale_of_the_program() -> None:
    wanted, z = BASELINES["IDFD"], given("Za")
    loss = IDFDLoss(6, 3, weight=IDFD().weight).double()
    loss.items.bank.copy_(tensor(wanted["memory"]))
    parts = loss.of_items(Output(z, z, z), torch.tensor(wanted["index"]), LINKS, POINT)
    instance, features = wanted["L_id_tau_1"], wanted["L_fd_tau_2"]
    agree(parts, {"instance": instance, "features": features}, instance + features)


def test_mice_has_the_scale_of_the_program() -> None:
    wanted = BASELINES["MiCE"]
    network = ExpertNetwork(RowBackbone(2, width=4), k=3, out=3, queue=5).double()
    cast(Any, network.cluster).gates.copy_(tensor(wanted["gating_prototypes"]))
    network.prototypes.data.copy_(tensor(wanted["expert_prototypes"]))
    network.queue.copy_(tensor(wanted["queue"]))
    out = ExpertOutput(*(tensor(wanted[name]) for name in "fvg"))
    agree(MiCELoss(network)(out, LINKS, POINT), {"mixture": wanted["loss"]}, wanted["loss"])


def objective_of(method: Any, **parameters: Any) -> Any:
    """The loss that a method with an autoencoder trains with, aimed at the target of the example."""
    learner = method(**parameters)._new_learner(np.zeros((3, 2), dtype=np.float32), 0)
    trainer = SimpleNamespace(data=torch.zeros(3, 2), network=SimpleNamespace(k=2))
    loss = learner._objective(trainer).double()
    loss.target.copy_(tensor(BASELINES["DEC"]["p"]))
    return loss


def parts_of(loss: Any, same: Any = (), different: Any = ()) -> dict[str, Tensor]:
    """Its parts for the example of DEC, whose items are made again with errors of 1, 2 and 6."""
    wanted = BASELINES["DEC"]
    z, q = tensor(wanted["Z"]), tensor(wanted["q"])
    links = BatchLinks.from_pairs(same, different).masks(3)
    out = Coded(z, z, q, tensor([1.0, 2.0, 6.0]))
    parts: dict[str, Tensor] = loss.of_items(out, torch.arange(3), links, POINT)
    return parts


def test_dec_and_idec_have_the_scale_of_their_papers() -> None:
    kl = BASELINES["DEC"]["kl_mean"]
    agree(parts_of(objective_of(DEC)), {"groups": kl}, kl)
    wanted = {"groups": 0.1 * kl, "reconstruction": 3.0}
    agree(parts_of(objective_of(IDEC)), wanted, 0.1 * kl + 3)


def test_sdec_has_the_scale_of_the_paper_at_its_weight_and_ours_at_our_own() -> None:
    """One pair at a time: links are divided by the items only where these are more, as ours is."""
    kl, wanted = BASELINES["DEC"]["kl_mean"], BASELINES["SDEC"]["loss_lambda_1e_5"]
    printed = objective_of(SDEC, weight=1e-5, margin=math.inf)
    near, far = parts_of(printed, same=[PAIR]), parts_of(printed, different=[APART])
    assert near["groups"].item() == far["groups"].item() == pytest.approx(kl, abs=1e-9)
    links = near["links"].item() + far["links"].item()
    assert links == pytest.approx(wanted - kl, rel=1e-6)
    ours = parts_of(objective_of(SDEC), same=[PAIR], different=[APART])
    slow = 0.1 * (2 * 1 - 2 * min(2**2 + 3**2, 4)) / 4  # four ordered pairs of three items
    agree(ours, {"groups": kl, "links": slow}, kl + slow)


def test_dcc_has_the_scale_of_the_paper_in_both_turns() -> None:
    kl, wanted = BASELINES["DEC"]["kl_mean"], BASELINES["DCC"]
    loss = objective_of(DCC)
    groups = {"groups": 0.1 * kl, "reconstruction": 3.0, "same": 0.0, "different": 0.0}
    agree(parts_of(loss, [PAIR], [APART]), groups, 0.1 * kl + 3)
    loss.turn.fill_(1.0)
    same, different = 0.1 * wanted["must_loss"], wanted["cannot_loss"]
    links = {"groups": 0.0, "reconstruction": 3.0, "same": same, "different": different}
    agree(parts_of(loss, [PAIR], [APART]), links, 3 + same + different)


def test_dc_gmm_has_the_scale_of_the_paper() -> None:
    """Two groups of variance 1, codes of variance .25; pictures of four numbers, variance .5."""

    class Measured(DCGMMLearner):
        def _error(self, trainer: Any) -> float:
            return 0.5

    made: Any = DCGMM(alpha=10.0)._new_learner(np.zeros((3, 4), dtype=np.float32), 0)
    made.__class__ = Measured
    plain = SimpleNamespace(plain=lambda rows: rows)
    loss = made._objective(SimpleNamespace(views=plain, data=torch.zeros(3, 4)))
    dec, wanted = BASELINES["DEC"], BASELINES["DC-GMM"]
    codes, centres, gamma = dec["Z"], dec["centres"], wanted["responsibilities"]
    mixture = Mixture(tensor([0.5, 0.5]).log(), tensor(centres), torch.zeros(2, 2).double())
    spread = torch.full((3, 2), math.log(0.25), dtype=torch.float64)
    error = tensor([1.0, 2.0, 6.0])  # per number
    out = Drawn(tensor(codes), tensor(codes), spread, tensor(gamma).log(), error, mixture)
    links = BatchLinks.from_pairs(same=[PAIR], different=[APART]).masks(3)
    prior = 0.0
    for code, chances in zip(codes, gamma, strict=True):
        prior -= 0.5 * 2 * (1 + math.log(0.25))
        for centre, chance in zip(centres, chances, strict=True):
            away = sum(0.25 + (x - y) ** 2 for x, y in zip(code, centre, strict=True))
            prior += chance * (0.5 * away - math.log(0.5 / chance))
    likely = sum(4 * each / (2 * 0.5) for each in (1, 2, 6)) / 3  # sums of squares by 2 variances
    parts = {"reconstruction": likely, "prior": prior / 3, "links": wanted["constraint_loss"]}
    agree(loss(out, links, POINT), parts, sum(parts.values()))


class Scaled(nn.Module):
    """A network whose memberships are the softmax of what it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, logits: Tensor, views: int = 1) -> Output:
        return Output(logits, logits, (self.scale * logits).softmax(dim=1))


def test_fixmatch_has_the_scale_of_the_program_in_a_step() -> None:
    """Two labelled and four other items; each row holds its logits in the weak and strong view."""
    wanted = BASELINES["FixMatch"]
    labelled = given("logits_a")[:2].repeat(1, 2)
    weak = tensor(BASELINES["SCAN"]["self_label"]["weak_logits"])
    data = torch.cat([labelled, torch.cat([weak, given("logits_b")], dim=1)])
    changes = Changes(lambda x, chance: x[:, :3], lambda x, chance: x[:, 3:])
    tuner = FixMatchTuner(
        cast(Network, Scaled()),
        data,
        np.arange(2),
        np.array([1, 2]),
        changes,
        FixMatchTuning(),
        compute=Compute("cpu", "float32", "for a test"),
        seed=0,
    )
    numbers, batch = torch.tensor([0.0, 0.0]), tuner._batch()
    assert [len(part) for part in batch] == [64, 4]
    parts = tuner._parts(numbers, *batch)
    two = {"labelled": wanted["L_x"], "unlabelled": wanted["L_u_mean_over_all"]}
    agree(parts, two, wanted["total"])
    scale = cast(Any, tuner.network).scale
    (exact,) = torch.autograd.grad(torch.stack(list(parts.values())).sum(), scale)
    tuner._step(numbers, *batch)
    torch.testing.assert_close(scale.grad, exact)  # the step adds the parts as they are
