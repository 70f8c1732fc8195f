"""The whole loss of each method: parts from `objectives`, put together as published."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.objectives import (
    ActiveContrast,
    ClusterContrast,
    ConstrainedContrast,
    NTXent,
    balance,
)
from samekind.objectives.boost import BoostedContrast, balanced_nll
from samekind.objectives.byol import regression
from samekind.objectives.links import LinkMasks
from samekind.objectives.prototypes import PrototypeScattering
from samekind.training.momentum import MomentumOutput
from samekind.training.network import Output
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.steps import SchedulePoint

Parts = dict[str, Tensor]


class PCLLoss(nn.Module):
    """PCL, Eq. 5: constrained contrast in both spaces, contrast of groups, balance.

    Parameters
    ----------
    contrast : Eq. 1-3; None: as the published program has it.
    """

    def __init__(self, contrast: ConstrainedContrast | None = None) -> None:
        super().__init__()
        self.contrast = contrast or ConstrainedContrast()
        self.groups = ClusterContrast(temperature=2.0, profile=self.contrast.profile)

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        return {
            "instance": self.contrast.instance(out.z, links),
            "assignment": self.contrast.assignment(out.p, links),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=2),
        }


class OCCLoss(nn.Module):
    """OCC, Eq. 5 with the sign of the balance repaired; the weight of answers fades (Eq. 1).

    Parameters
    ----------
    contrast : Eq. 2-4. start : weight of same-answers at the beginning.
    """

    def __init__(self, contrast: ActiveContrast | None = None, *, start: float = 50.0) -> None:
        super().__init__()
        self.contrast = contrast or ActiveContrast()
        self.groups = ClusterContrast(temperature=1.0, profile="occ")
        self.start = start

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        lam = ActiveContrast.lam_at(moment.epoch, moment.epochs, start=self.start)
        return {
            "instance": self.contrast(out.z, links, lam),
            "assignment": self.contrast(out.p, links, lam),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=1),
        }


class CCLoss(nn.Module):
    """CC, and TCL before its boosting: contrast of items, of groups, balance. No answers."""

    def __init__(self, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.items = NTXent(temperature=temperature)
        self.groups = ClusterContrast(temperature=1.0)

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        return {
            "instance": self.items(out.z),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=2),
        }


class ItemContrast(nn.Module):
    """Self-supervised training alone: contrast of items, no groups (SimCLR)."""

    def __init__(self, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.items = NTXent(temperature=temperature)

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The one part of the loss of a batch."""
        return {"instance": self.items(out.z)}


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

    def of_items(
        self, out: Output, items: Tensor, links: LinkMasks, moment: SchedulePoint
    ) -> Parts:
        """The parts of the loss of a batch; the weak view of all comes before the strong one."""
        labels = self.memory.labels[items]
        strong = out.p[len(items) :]
        return {
            "instance": self.contrast(out.z, labels),
            "groups": balanced_nll(strong, labels, self.memory.k),
        }


class BYOLLoss(nn.Module):
    """BYOL, Eq. 2 and its mirror image: each view predicts what the slow copy says of the other."""

    def forward(self, out: MomentumOutput, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The one part of the loss of a batch."""
        return {"alignment": _both_ways(out)}


class ProPosLoss(nn.Module):
    """ProPos: alignment with noise (the network adds it), and prototypes that scatter.

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
        self, out: MomentumOutput, items: Tensor, links: LinkMasks, moment: SchedulePoint
    ) -> Parts:
        """The parts of the loss of a batch."""
        n, labels = len(items), self.labels[items]
        there = self.scattering(out.v[:n], out.t[n:], labels, self.k)
        back = self.scattering(out.v[n:], out.t[:n], labels, self.k)
        return {"alignment": _both_ways(out), "scattering": self.weight * (there + back)}


def _both_ways(out: MomentumOutput) -> Tensor:
    """The first view predicts the second and the second the first; both are added."""
    other = out.t.roll(len(out.t) // 2, dims=0)
    return 2 * regression(out.q, other, shifted=True)
