"""PICA: groups that keep their items when these are changed a little, and that are all used."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision


class PartitionConfidence(nn.Module):
    r"""PICA's partition uncertainty, Eq. 3-8: each group is most like itself after a perturbation.

    .. math:: \mathcal L_{ce}=-\frac1K\sum_k\log\frac{e^{\cos(q_k,\tilde q_k)}}
        {\sum_le^{\cos(q_k,\tilde q_l)}},\qquad\mathcal L_{ne}=\log K-H(\bar p)

    where :math:`q_k` is the column of group k over the batch, and :math:`\tilde q_k` the same of
    perturbed items. The cosine lies between 0 and 1 and has no temperature, so for few groups the
    first part cannot fall far: with two groups from 0.69 to 0.31. GCC uses it between items and
    their neighbours.

    Parameters
    ----------
    weight : of the balance, 2 as published.

    References
    ----------
    Huang et al., Deep Semantic Clustering by Partition Confidence Maximisation, CVPR 2020.

    >>> p = torch.eye(2).repeat(3, 1)
    >>> confidence, balance = PartitionConfidence()(p, p)
    >>> round(confidence.item(), 4), balance.item()
    (0.3133, 0.0)
    """

    def __init__(self, *, weight: float = 2.0) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, p: Tensor, perturbed: Tensor) -> tuple[Tensor, Tensor]:
        """Both parts for memberships p (N, K) and those of perturbed items (N, K), row by row.

        The second part is weighted already: add them up.
        """
        similarity = columns_alike(p, perturbed)  # (K, K)
        confidence = (similarity.logsumexp(dim=1) - similarity.diagonal()).mean()
        return confidence, self.weight * unbalance(p)

    def extra_repr(self) -> str:
        return f"weight={self.weight}"


def columns_alike(p: Tensor, perturbed: Tensor) -> Tensor:
    """Cosines (K, K) of the columns of p (N, K) and of those of the perturbed items (N, K)."""
    if p.ndim != 2 or p.shape != perturbed.shape or not len(p):
        raise InputError(
            "Memberships of items and of what they became are two matrices (N, K); the shapes are "
            f"{tuple(p.shape)} and {tuple(perturbed.shape)}. Repeat items with several copies."
        )
    p, perturbed = full_precision(p), full_precision(perturbed)
    with torch.autocast(device_type=p.device.type, enabled=False):
        return normalize(p, dim=0).T @ normalize(perturbed, dim=0)


def unbalance(p: Tensor) -> Tensor:
    r""":math:`\log K-H(\bar p)` of memberships p (N, K), 0 if all groups are of one size."""
    sizes = full_precision(p).sum(dim=0)
    share = sizes / sizes.sum()
    # An empty group must neither give NaN nor an infinite gradient.
    return math.log(p.shape[1]) + (share * share.clamp_min(1e-8).log()).sum()
