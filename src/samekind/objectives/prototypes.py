"""ProPos: group means that scatter, and vectors that align with their neighbourhood."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.objectives.boost import check_labels
from samekind.objectives.byol import regression, same_rows, unit
from samekind.objectives.similarity import full_precision, positive


class PrototypeScattering(nn.Module):
    r"""Each group's mean stays with itself in the target and away from other means (ProPos, L_psl).

    .. math:: \mathcal L=\frac1{K_b}\sum_k-\log\frac{e^{\mu_k\cdot\mu'_k/\tau}}
        {e^{\mu_k\cdot\mu'_k/\tau}+\sum_{l\ne k}e^{\mu_k\cdot\mu_l/\tau}}

    over the :math:`K_b` groups that have an item in the batch, where :math:`\mu_k` is the mean of
    the unit vectors of group k, brought to unit length, and :math:`\mu'_k` the same of the target.
    No gradient goes into the target.

    Parameters
    ----------
    temperature : lower pushes only the nearest means apart, higher all of them.
    absent : logit at which a group without items stands in the denominators of the others; -10 as
        in the published program, ``-math.inf`` leaves it out.

    References
    ----------
    Learning Representation for Clustering via Prototype Scattering and Positive Sampling,
    arXiv 2111.11821.

    >>> v = torch.eye(2).repeat(2, 1)
    >>> round(PrototypeScattering()(v, v, torch.tensor([0, 1, 0, 1]), 2).item(), 4)
    0.1269
    """

    def __init__(self, *, temperature: float = 0.5, absent: float = -10.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)
        self.absent = absent

    def forward(self, v: Tensor, target: Tensor, labels: Tensor, k: int) -> Tensor:
        """The loss of vectors v and their targets (N, D) in groups `labels` (N,) of k; -1: none.

        No labelled item gives 0.
        """
        same_rows(v, target)
        check_labels(labels, len(v))
        with torch.autocast(device_type=v.device.type, enabled=False):
            here, there = prototypes(v, labels, k), prototypes(target.detach(), labels, k)
            similarity = here @ here.T / self.temperature  # (k, k)
            own = (here * there).sum(dim=1) / self.temperature  # (k,)
        present = (labels[:, None] == torch.arange(k, device=v.device)).any(dim=0)  # (k,)
        diagonal = torch.eye(k, dtype=torch.bool, device=v.device)
        logits = similarity.masked_fill(~present, self.absent)  # whole columns
        logits = torch.where(diagonal, own[:, None], logits)
        losses = logits.logsumexp(dim=1) - own
        return (losses * present).sum() / present.sum().clamp_min(1)

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}, absent={self.absent}"


def prototypes(v: Tensor, labels: Tensor, k: int) -> Tensor:
    """Unit means (k, D) of the unit vectors of each group; zeros for a group without items."""
    mine = labels == torch.arange(k, device=v.device)[:, None]  # (k, N)
    with torch.autocast(device_type=v.device.type, enabled=False):
        means = mine.to(full_precision(v).dtype) @ unit(v) / mine.sum(dim=1, keepdim=True).clamp(1)
    return normalize(means, dim=1)


def alignment(
    v: Tensor,
    target: Tensor,
    noise: Tensor,
    predictor: Callable[[Tensor], Tensor],
    *,
    sigma: float | Tensor = 0.001,
) -> Tensor:
    r"""A vector's surroundings predict the target of the other view (ProPos, L_psa).

    .. math:: \mathcal L=-2\cos\bigl(h(v+\sigma\epsilon),\,v'\bigr)

    Parameters
    ----------
    v : (N, D) vectors of the trained network, before its predictor.
    target : (N, D) what the following network says of the other view.
    noise : (N, D) standard normal numbers, drawn by the caller.
    predictor : h, of the trained network.
    sigma : how far around v; 0, as in the first 50 epochs, is BYOL.

    >>> v = torch.eye(2)
    >>> alignment(v, v, torch.ones(2, 2), torch.nn.Identity(), sigma=0.0).item()
    -2.0
    """
    # In half precision noise this small would be rounded away.
    return regression(predictor(full_precision(v) + sigma * noise), target)
