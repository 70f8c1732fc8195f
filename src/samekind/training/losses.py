"""Losses of the self-supervised methods: parts from `objectives`, combined as published.

That of SimCLR is in :mod:`samekind.training.simclr`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.objectives import ClusterContrast, NTXent, balance
from samekind.objectives.boost import BoostedContrast, balanced_nll
from samekind.objectives.byol import regression
from samekind.objectives.links import LinkMasks
from samekind.objectives.prototypes import PrototypeScattering
from samekind.training.momentum import MomentumOutput
from samekind.training.network import Output
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.steps import SchedulePoint

Parts = dict[str, Tensor]


class CCLoss(nn.Module):
    """CC, and TCL before its boosting: contrast of items, of groups, balance. No answers."""

    def __init__(self, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.items = NTXent(temperature=temperature)
        self.groups = ClusterContrast(temperature=1.0)

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        return {
            "instance": self.items(out.z),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=2),
        }


class BoostLoss(nn.Module):
    """TCL's boosting: items of one own sure label do not repel; the strong view learns that label.

    Parameters
    ----------
    memory : the labels that the network itself was sure of; somebody else keeps them up to date.
    """

    def __init__(self, memory: PseudoLabels, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.memory = memory
        self.contrast = BoostedContrast(temperature=temperature)

    def of_items(self, out: Output, items: Tensor, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The parts of the loss of a batch; the weak view of all comes before the strong one."""
        labels = self.memory.labels[items]
        strong = out.p[len(items) :]
        return {
            "instance": self.contrast(out.z, labels),
            "groups": balanced_nll(strong, labels, self.memory.k),
        }


class BYOLLoss(nn.Module):
    """BYOL, Eq. 2 and its mirror image: each view predicts what the slow copy says of the other.

    The mean of both directions, as in ProPos' program, whose rates for SGD are used here. BYOL's
    paper adds them, under LARS, whose steps do not depend on the scale of a loss.
    """

    def forward(self, out: MomentumOutput, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The one part of the loss of a batch."""
        return {"alignment": _both_ways(out)}


class ProPosLoss(nn.Module):
    """ProPos: alignment with noise (the network adds it), and prototypes that scatter.

    Each part is the mean of both directions, as in the published program.

    Parameters
    ----------
    n, k : items and groups.
    weight : of the scattering.
    temperature : of the scattering.
    """

    labels: Tensor

    def __init__(self, n: int, k: int, *, weight: float = 0.1, temperature: float = 0.5) -> None:
        super().__init__()
        self.k, self.weight = k, weight
        self.scattering = PrototypeScattering(temperature=temperature)
        # (n,) groups by k-means; -1, none yet, leaves only the alignment.
        self.register_buffer("labels", torch.full((n,), -1, dtype=torch.long))

    def of_items(
        self, out: MomentumOutput, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> Parts:
        """The parts of the loss of a batch."""
        n, labels = len(items), self.labels[items]
        there = self.scattering(out.v[:n], out.t[n:], labels, self.k)
        back = self.scattering(out.v[n:], out.t[:n], labels, self.k)
        return {"alignment": _both_ways(out), "scattering": self.weight * (there + back) / 2}


def _both_ways(out: MomentumOutput) -> Tensor:
    """The first view predicts the second and the second the first: the mean of both."""
    other = out.t.roll(len(out.t) // 2, dims=0)
    return regression(out.q, other, shifted=True)
