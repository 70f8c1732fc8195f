"""The whole loss of each method: parts from `objectives`, put together as published."""

from __future__ import annotations

from torch import Tensor, nn

from samekind.objectives import (
    ActiveContrast,
    ClusterContrast,
    ConstrainedContrast,
    NTXent,
    balance,
)
from samekind.objectives.links import LinkMasks
from samekind.training.network import Output
from samekind.training.steps import Moment

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

    def forward(self, out: Output, links: LinkMasks, moment: Moment) -> Parts:
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

    def forward(self, out: Output, links: LinkMasks, moment: Moment) -> Parts:
        """The parts of the loss of a batch."""
        lam = ActiveContrast.lam_at(moment.epoch, moment.epochs, start=self.start)
        return {
            "instance": self.contrast(out.z, links, lam),
            "assignment": self.contrast(out.p, links, lam),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=1),
        }


class CCLoss(nn.Module):
    """CC: contrast of items, contrast of groups, balance. Answers are not used."""

    def __init__(self) -> None:
        super().__init__()
        self.items = NTXent(temperature=0.5)
        self.groups = ClusterContrast(temperature=1.0)

    def forward(self, out: Output, links: LinkMasks, moment: Moment) -> Parts:
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

    def forward(self, out: Output, links: LinkMasks, moment: Moment) -> Parts:
        """The one part of the loss of a batch."""
        return {"instance": self.items(out.z)}
