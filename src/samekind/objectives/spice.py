"""SPICE: items near a group's prototype carry its label; several heads learn side by side."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from samekind.errors import InputError
from samekind.objectives.prototypes import prototypes
from samekind.objectives.similarity import full_precision


@torch.no_grad()
def prototype_labels(features: Tensor, scores: Tensor, *, share: float = 0.5) -> Tensor:
    r"""Which group each item is an example of, (M, K) bool (SPICE, Eq. 1 and 2).

    The prototype of a group is the mean of the unit features of the :math:`rM/K` items with the
    highest score there; the :math:`M/K` items nearest to it by cosine are its examples. So groups
    have equally many; an item may be an example of several groups, or of none.

    Parameters
    ----------
    features : (M, D). scores : (M, K) memberships, of other views of the same items.
    share : r, .5 as published; less makes a prototype of fewer, surer items.

    References
    ----------
    SPICE: Semantic Pseudo-Labeling for Image Clustering, IEEE TIP 2022, arXiv 2103.09382.

    >>> x = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> p = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.3, 0.7]])
    >>> prototype_labels(x, p).int().tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """
    if features.ndim != 2 or scores.ndim != 2 or len(features) != len(scores) or not 0 < share <= 1:
        raise InputError(
            "Expected features (M, D), scores (M, K) of the same items and a share above 0 and at "
            f"most 1, got {tuple(features.shape)}, {tuple(scores.shape)} and {share!r}."
        )
    m, k = scores.shape
    some, each = max(1, int(share * m / k)), max(1, m // k)
    best = full_precision(scores).topk(min(some, m), dim=0).indices  # (some, K)
    members = features[best.T.reshape(-1)]  # (K some, D), group by group
    group = torch.arange(k, device=features.device).repeat_interleave(min(some, m))
    with torch.autocast(features.device.type, enabled=False):
        centres = prototypes(members, group, k)
        unit = torch.nn.functional.normalize(full_precision(features), dim=1)
        near = (unit @ centres.T).topk(each, dim=0).indices  # (each, K)
    chosen = torch.zeros(m, k, dtype=torch.bool, device=features.device)
    return chosen.scatter_(0, near, torch.ones_like(near, dtype=torch.bool))


def smooth_nll(p: Tensor, chosen: Tensor) -> Tensor:
    r"""Cross-entropy over a second soft-max of the memberships, of each head (SPICE, Eq. 3).

    .. math:: -\frac1{|S|}\sum_{(i,k)\in S}\log\frac{e^{p_{ik}}}{\sum_l e^{p_{il}}}

    Memberships come from a soft-max already. The second one is in the published program: it
    smooths the labels, so that a wrong one costs at most some 1 more than a right one.

    Parameters
    ----------
    p : (..., N, K) memberships; each leading index is a head.
    chosen : (..., N, K) which group each item is an example of for this head.

    >>> p, chosen = torch.eye(2), torch.tensor([[True, False], [False, False]])
    >>> round(smooth_nll(p, chosen).item(), 4)  # log(1 + 1 / e)
    0.3133
    """
    if p.shape != chosen.shape or p.ndim < 2:
        raise InputError(
            "Expected memberships and examples of one shape (heads, N, K), got "
            f"{tuple(p.shape)} and {tuple(chosen.shape)}."
        )
    losses = -log_softmax(full_precision(p), dim=-1) * chosen
    return losses.sum(dim=(-2, -1)) / chosen.sum(dim=(-2, -1)).clamp_min(1)
