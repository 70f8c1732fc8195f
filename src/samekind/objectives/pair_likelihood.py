"""Likelihood of answered pairs under the memberships: ours, not part of PCL or OCC."""

from __future__ import annotations

from torch import Tensor, nn

from samekind.objectives.links import BatchLinks, LinkMasks, both_views
from samekind.objectives.similarity import dots, full_precision, items_of, positive

SMALLEST = 1e-7
"""Least probability of an answer; below it a pair has no gradient."""


class PairLikelihood(nn.Module):
    r"""Minus the mean log-likelihood of the answers, links and what follows from them.

    Under memberships p two items are of one kind with probability :math:`p_i \cdot p_j`:

    .. math:: \mathcal L = \frac1{|S|+|D|}\Bigl(\sum_{(i,j)\in S}-\log p_i\cdot p_j
        +\sum_{(i,j)\in D}-\log(1-p_i\cdot p_j)\Bigr)

    with S the pairs of rows answered "same" and D those answered "different", in all pairs of
    views. Both answers weigh alike. In PCL's Eq. 1 a "different" only counts one more time among
    2N rows, and OCC leaves it out. Guessed links are not answers and do not count.

    Parameters
    ----------
    weight : factor of the whole term.

    >>> import torch
    >>> p = torch.tensor([[0.9, 0.1], [0.8, 0.2]]).repeat(2, 1)
    >>> likelihood = PairLikelihood()
    >>> round(likelihood(p, BatchLinks.from_pairs(same=[(0, 1)])).exp().item(), 4)  # 1 / 0.74
    1.3514
    >>> round(likelihood(p, BatchLinks.from_pairs(different=[(0, 1)])).exp().item(), 4)  # 1 / 0.26
    3.8462
    """

    def __init__(self, *, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = positive("weight", weight)

    def forward(self, p: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
        """The loss of the memberships p (2N, K) of one batch; 0 if nothing is known of it."""
        known = links.masks(items_of(p))
        p = full_precision(p)
        together = dots(p)
        apart = 1 - together
        same = both_views(known.same).to(p.dtype)
        different = both_views(known.different).to(p.dtype)
        surprise = same * -together.clamp_min(SMALLEST).log()
        surprise = surprise - different * apart.clamp_min(SMALLEST).log()
        return self.weight * surprise.sum() / (same.sum() + different.sum()).clamp_min(1)

    def extra_repr(self) -> str:
        return f"weight={self.weight}"
