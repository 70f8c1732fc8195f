"""GCC: items are drawn to their neighbours in a graph, and away from all others."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision, positive


class GraphContrast(nn.Module):
    r"""The representation part of GCC (RGC, Eq. 5-6), as its program computes it.

    .. math:: \mathcal L=-\frac1B\sum_i\log
        \frac{e^{z_i\cdot z'_i/\tau}+\sum_{j\in\mathcal N(i)}w_je^{z_i\cdot w_jz_j/\tau}}
        {\sum_{k\notin\{i'\}\cup\mathcal N(i)}e^{z_i\cdot z_k/\tau}}

    where k runs over both views of the batch, the item's own first view included, and over the
    weighted neighbours of the other items. What attracts is not in the denominator, so the loss
    may become negative. The assignment part (AGC) is PICA's
    :class:`~samekind.objectives.pica.PartitionConfidence` between items and neighbours.

    Parameters
    ----------
    temperature : 0.1 as published.

    References
    ----------
    Zhong et al., Graph Contrastive Clustering, ICCV 2021, arXiv 2104.01429.

    >>> z = torch.eye(2)
    >>> round(GraphContrast(temperature=1.0)(z, z, z[None], torch.ones(1, 2)).item(), 4)
    0.0505
    """

    def __init__(self, *, temperature: float = 0.1) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(self, z: Tensor, other: Tensor, near: Tensor, weights: Tensor) -> Tensor:
        """The loss of unit vectors.

        Parameters
        ----------
        z, other : (B, d) two views of the items.
        near : (m, B, d) m neighbours of each of them.
        weights : (m, B) of these neighbours, above 0.
        """
        m, n = _checked(z, other, near, weights)
        z, other, near = (full_precision(x) for x in (z, other, near))
        weights = weights.to(z.dtype)
        rows = torch.cat([z, other, (near * weights[..., None]).flatten(0, 1)])  # ((2 + m) B, d)
        with torch.autocast(device_type=z.device.type, enabled=False):
            logits = (z @ rows.T / self.temperature).view(n, 2 + m, n)
        own = logits.diagonal(dim1=0, dim2=2)  # (2 + m, B): each item and what belongs to it
        attracting = torch.cat([own[1:2], own[2:] + weights.log()])  # (1 + m, B)
        mine = torch.eye(n, dtype=torch.bool, device=z.device)[:, None]  # (B, 1, B)
        first = (torch.arange(2 + m, device=z.device) == 0)[:, None]  # (2 + m, 1)
        repelling = logits.masked_fill(mine & ~first, -math.inf).flatten(1)
        return (repelling.logsumexp(dim=1) - attracting.logsumexp(dim=0)).mean()

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"


def _checked(z: Tensor, other: Tensor, near: Tensor, weights: Tensor) -> tuple[int, int]:
    """Neighbours of each item and items, if all belong together."""
    good = z.ndim == 2 and near.ndim == 3 and z.shape == other.shape == near.shape[1:]
    if not good or weights.shape != near.shape[:2]:
        shapes = ", ".join(str(tuple(x.shape)) for x in (z, other, near, weights))
        raise InputError(
            "Two views (B, d), neighbours (m, B, d) and their weights (m, B) belong together; the "
            f"shapes are {shapes}."
        )
    return near.shape[0], near.shape[1]
