"""The whole losses of DEC, SDEC and DCC, with the targets that they remember of each item."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.objectives.dcc import apart_loss, together_loss
from samekind.objectives.dec import self_training, target_shares
from samekind.objectives.links import LinkMasks
from samekind.objectives.sdec import LinkedDistances
from samekind.training.autoencoder import Coded
from samekind.training.steps import SchedulePoint

Parts = dict[str, Tensor]


class Reconstruction(nn.Module):
    """Pre-training: what was left out is made again."""

    def forward(self, out: Coded, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The one part of the loss of a batch."""
        return {"reconstruction": out.error.mean()}


class DECLoss(nn.Module):
    """DEC: shares come nearer to their target. IDEC: what is made again stays good meanwhile.

    Parameters
    ----------
    n, k : items and groups.
    groups, reconstruction : weights of the two parts; 1 and 0 are DEC, 0.1 and 1 are IDEC.
    """

    target: Tensor

    def __init__(self, n: int, k: int, *, groups: float = 1.0, reconstruction: float = 0.0) -> None:
        super().__init__()
        self.groups, self.reconstruction = groups, reconstruction
        self.register_buffer("target", torch.full((n, k), 1.0 / k))

    def aim(self, q: Tensor) -> None:
        """Learn from shares (n, k) of all items from now on, made sharper."""
        self.target.copy_(target_shares(q))

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        parts = {"groups": self.groups * self_training(self.target[items], out.p)}
        if self.reconstruction:
            parts["reconstruction"] = self.reconstruction * out.error.mean()
        return parts


class SDECLoss(DECLoss):
    """SDEC: DEC, and linked items come near each other or go apart.

    Parameters
    ----------
    weight : of the links. margin : see :class:`~samekind.objectives.sdec.LinkedDistances`.
    """

    def __init__(self, n: int, k: int, *, weight: float, margin: float) -> None:
        super().__init__(n, k)
        self.weight = weight
        self.pull = LinkedDistances(margin=margin, bounded=True)

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        parts = super().of_items(out, items, links, moment)
        return {**parts, "links": self.weight * self.pull(out.z, links)}


class DCCLoss(DECLoss):
    """DCC: IDEC in one batch, links between items in another; whose turn it is can be changed.

    The turn is a number in memory, so that a recorded step can be used for both.

    Parameters
    ----------
    same, different : weights of the two kinds of links.
    """

    turn: Tensor

    def __init__(self, n: int, k: int, *, groups: float, same: float, different: float) -> None:
        super().__init__(n, k, groups=groups, reconstruction=1.0)
        self.same, self.different = same, different
        self.register_buffer("turn", torch.zeros(()))

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch: of groups (turn 0) or of links (turn 1)."""
        parts = super().of_items(out, items, links, moment)
        return {
            "groups": (1 - self.turn) * parts["groups"],
            "reconstruction": parts["reconstruction"],
            "same": self.turn * self.same * together_loss(out.p, links),
            "different": self.turn * self.different * apart_loss(out.p, links),
        }
