"""DCC: the shares of two linked items say whether they are in one group."""

from __future__ import annotations

import torch
from torch import Tensor

from samekind.objectives.dec import FLOOR
from samekind.objectives.links import BatchLinks, LinkMasks
from samekind.objectives.similarity import dots, full_precision


def together_loss(q: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
    r"""Items of one kind fall into one group (DCC, must-link loss).

    .. math:: -\log\langle q_i,q_j\rangle,\text{ the mean over the pairs known to be the same}

    Parameters
    ----------
    q : (N, k) shares. links : between the N items. No link gives 0.

    References
    ----------
    Zhang, Zhan, Basu and Davidson, A framework for deep constrained clustering, Data Mining and
    Knowledge Discovery 35, 2021, arXiv 1901.10061.

    >>> q = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> round(together_loss(q, BatchLinks.from_pairs(same=[(0, 1)])).item(), 4)
    0.6931
    """
    return _mean(-dots(q).clamp_min(FLOOR).log(), links.masks(len(q)).same)


def apart_loss(q: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
    r"""Items of different kinds fall into different groups (DCC, cannot-link loss).

    .. math:: -\log(1-\langle q_i,q_j\rangle),\text{ the mean over the pairs known to be different}

    Parameters
    ----------
    q : (N, k) shares. links : between the N items. No link gives 0.

    >>> q = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> round(apart_loss(q, BatchLinks.from_pairs(different=[(0, 1)])).item(), 4)
    0.6931
    """
    q = full_precision(q)
    with torch.autocast(device_type=q.device.type, enabled=False):
        chance = q @ (1 - q).T  # 1 - <q_i, q_j>, without a difference of two large sums
    return _mean(-chance.clamp_min(FLOOR).log(), links.masks(len(q)).different)


def _mean(losses: Tensor, pairs: Tensor) -> Tensor:
    """The mean over the pairs of a symmetric matrix."""
    chosen = pairs.to(losses.dtype)
    return (losses * chosen).sum() / chosen.sum().clamp_min(1)
