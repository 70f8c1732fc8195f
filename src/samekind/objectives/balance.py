"""Groups of equal size: the term that keeps all items from falling into one group."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from samekind.objectives.similarity import full_precision, items_of


def balance(p: Tensor, *, views: Literal[1, 2] = 2, sizes: Tensor | None = None) -> Tensor:
    r"""How far the groups are from equal sizes: :math:`\log K - H(\bar p)`, 0 when they are.

    This is the last term of PCL, Eq. 5 and of OCC, Eq. 5. Both print it with the other sign, which
    would drive everything into one group.

    Parameters
    ----------
    p : (2N, K) memberships, view a on view b.
    views : 2 takes each view apart and adds them up (CC, PCL); 1 takes all rows together (OCC).
    sizes : (K,) shares of the groups to aim at, none of them 0; None: equal, as published. Then it
        is the divergence of the shares from these.

    >>> balance(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), views=1).item()
    0.0
    """
    n = items_of(p)
    p = full_precision(p)
    total = p.reshape(views, 2 * n // views, -1).sum(dim=1)  # (views, K)
    share = total / total.sum(dim=1, keepdim=True)
    # An empty group must neither give NaN nor an infinite gradient.
    floor = torch.finfo(share.dtype).tiny
    entropy = -(share * share.clamp_min(floor).log()).sum()
    if sizes is None:
        return views * math.log(p.shape[1]) - entropy
    return -(share * sizes.to(share.dtype).log()).sum() - entropy
