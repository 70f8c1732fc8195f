"""The losses of SCAN's second and third stage, by their parts."""

from __future__ import annotations

from torch import Tensor, nn

from samekind.objectives.links import LinkMasks
from samekind.objectives.scan import NeighbourAgreement, SelfLabelling
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint


class NeighbourLoss(nn.Module):
    """The second stage: items agree with their neighbours, groups stay of similar size.

    Parameters
    ----------
    entropy : weight of the entropy of the sizes; 5 as published.
    """

    def __init__(self, *, entropy: float = 5.0) -> None:
        super().__init__()
        self.agreement = NeighbourAgreement(weight=entropy)

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        agreement = self.agreement
        return {
            "neighbours": agreement.disagreement(out.p),
            "entropy": -agreement.weight * agreement.entropy(out.p),
        }


class SelfLabelLoss(nn.Module):
    """The third stage: confident plain views teach strong ones.

    Parameters
    ----------
    sure : membership above which an item teaches.
    entropy : weight of the entropy of the second stage, times the share of confident items; 0 as
        published.
    """

    def __init__(self, *, sure: float = 0.99, entropy: float = 0.0) -> None:
        super().__init__()
        self.labelling = SelfLabelling(sure=sure)
        self.agreement = NeighbourAgreement(weight=entropy) if entropy else None

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        labels = {"labels": self.labelling(out.p)}
        if self.agreement is None:
            return labels
        n = len(out.p) // 2
        strong = out.p.roll(n, dims=0)  # the entropy is that of the first half
        # Weighted by the share of confident items: alone it would only make memberships equal.
        share = (out.p[:n].detach().amax(dim=1) > self.labelling.sure).float().mean()
        entropy = self.agreement.weight * share * self.agreement.entropy(strong)
        return {**labels, "entropy": -entropy}
