"""SDEC: vectors of one kind come near each other, those of different kinds go apart."""

from __future__ import annotations

import math

from torch import Tensor, nn

from samekind.objectives.dec import squared_distances
from samekind.objectives.links import BatchLinks, LinkMasks
from samekind.objectives.similarity import positive


class LinkedDistances(nn.Module):
    r"""The pairwise part of SDEC, without its weight :math:`\lambda`.

    .. math:: \frac1n\sum_{i,k}a_{ik}\lVert z_i-z_k\rVert^2,\qquad
        a_{ik}=1\text{ (same)},\ -1\text{ (different)},\ 0

    over ordered pairs of the batch. As printed, the part of the different ones has no lower bound:
    two items can go apart for ever. Here their squared distance counts up to a margin.

    Parameters
    ----------
    margin : squared distance from which different items are far enough apart; ``math.inf``: as
        printed.
    bounded : where links outnumber items, divide by the links: what follows from many answers
        would otherwise outweigh everything else. False: as printed.

    References
    ----------
    Ren et al., Semi-supervised deep embedded clustering, Neurocomputing 325, 2019.

    >>> import torch
    >>> z = torch.tensor([[0.0], [1.0], [3.0]])
    >>> links = BatchLinks.from_pairs(same=[(0, 1)], different=[(1, 2)])
    >>> [round(LinkedDistances(margin=m)(z, links).item(), 3) for m in (math.inf, 1.0)]
    [-2.0, 0.0]
    """

    def __init__(self, *, margin: float = math.inf, bounded: bool = False) -> None:
        super().__init__()
        self.bounded = bounded
        self.margin = margin if margin == math.inf else positive("margin", margin)

    def forward(self, z: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
        """The sum over all linked pairs of vectors z (N, D), by N."""
        known = links.masks(len(z))
        far = squared_distances(z, z)  # (N, N)
        near = far.clamp_max(self.margin)
        same, different = known.same.to(far.dtype), known.different.to(far.dtype)
        total = (same * far - different * near).sum()
        if not self.bounded:
            return total / len(z)
        return total / (same.sum() + different.sum()).clamp_min(len(z))

    def extra_repr(self) -> str:
        return f"margin={self.margin}, bounded={self.bounded}"
