"""SCAN: an item and its neighbour belong together, all groups are used, sure items teach."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.boost import balanced_nll
from samekind.objectives.similarity import full_precision, items_of, positive


class NeighbourAgreement(nn.Module):
    r"""An item has the group of its neighbour, and items spread over all groups (SCAN, Eq. 2).

    .. math:: \mathcal L=-\frac1N\sum_i\log\langle p_i,p_{nb(i)}\rangle
        -\lambda H\Bigl(\frac1N\sum_i p_i\Bigr)

    Parameters
    ----------
    weight : of the entropy; 5 as published. Higher holds groups at equal sizes more firmly.

    References
    ----------
    SCAN: Learning to Classify Images without Labels, ECCV 2020, arXiv 2005.12320.

    >>> p = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)
    >>> round(NeighbourAgreement()(p).item(), 4)  # agreement is whole: -5 log 2 remains
    -3.4657
    """

    def __init__(self, *, weight: float = 5.0) -> None:
        super().__init__()
        self.weight = positive("weight", weight)

    def forward(self, p: Tensor) -> Tensor:
        """The loss of memberships p (2N, K): those of the items, then those of a neighbour each."""
        return self.disagreement(p) - self.weight * self.entropy(p)

    def disagreement(self, p: Tensor) -> Tensor:
        """Mean of minus the logarithm of the chance that both are of one group."""
        n, logs = items_of(p), _logs(p)
        return -(logs[:n] + logs[n:]).logsumexp(dim=1).mean()

    def entropy(self, p: Tensor) -> Tensor:
        """Entropy of the shares that the groups have of the items, without their neighbours."""
        share = full_precision(p)[: items_of(p)].mean(dim=0)  # (K,)
        return -(share * _logs(share)).sum()

    def extra_repr(self) -> str:
        return f"weight={self.weight}"


class SelfLabelling(nn.Module):
    r"""Train strong views on the confident memberships of plain ones (SCAN, section 2.3).

    Cross-entropy of the strong view on the items whose other view is sure, in which every group
    counts the same. Nothing sure gives 0; the published program stops there with an error.

    Parameters
    ----------
    sure : membership above which an item teaches; .99 as published.

    >>> p = torch.tensor([[1.0, 0.0], [0.6, 0.4], [0.5, 0.5], [0.1, 0.9]])
    >>> round(SelfLabelling()(p).item(), 4)  # only the first of two items: log 2
    0.6931
    """

    def __init__(self, *, sure: float = 0.99) -> None:
        super().__init__()
        if not 0 < sure < 1:
            raise InputError(f"Expected a membership between 0 and 1, got sure={sure!r}. Try 0.99.")
        self.sure = sure

    def forward(self, p: Tensor) -> Tensor:
        """The loss of memberships p (2N, K): plain or weak views first, then strong ones."""
        n = items_of(p)
        top, group = full_precision(p.detach())[:n].max(dim=1)
        labels = (group + 1) * (top > self.sure) - 1  # -1: not sure
        return balanced_nll(p[n:], labels, p.shape[1])

    def extra_repr(self) -> str:
        return f"sure={self.sure}"


def _logs(p: Tensor) -> Tensor:
    """Logarithms of shares; one of 0 gives neither infinity nor an infinite gradient."""
    p = full_precision(p)
    return p.clamp_min(max(torch.finfo(p.dtype).tiny, math.exp(-80))).log()
