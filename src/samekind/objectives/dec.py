"""DEC: shares by nearness to centres, and a sharper version of them to learn from."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision, positive

FLOOR = 1e-8
"""Below this a share counts as this in a logarithm."""


class StudentShares(nn.Module):
    r"""Shares of vectors in groups, by Student's t around the centres (DEC, Eq. 1).

    .. math:: q_{ij}=\frac{(1+\lVert z_i-\mu_j\rVert^2/\alpha)^{-(\alpha+1)/2}}
        {\sum_l(1+\lVert z_i-\mu_l\rVert^2/\alpha)^{-(\alpha+1)/2}}

    Parameters
    ----------
    width : of the vectors.
    k : groups; their centres are trained, and begin at 0.
    alpha : lower has heavier tails, so that far items still have a say.
    published_bracket : take the exponent :math:`-(\alpha+1)`, as a misplaced bracket in the
        program of DCC has it: twice as sharp.

    References
    ----------
    Xie et al., Unsupervised Deep Embedding for Clustering Analysis, ICML 2016, arXiv 1511.06335.

    >>> shares = StudentShares(1, 2)
    >>> _ = shares.centres.data.copy_(torch.tensor([[0.0], [2.0]]))
    >>> shares(torch.tensor([[0.0], [1.0]])).round(decimals=3).tolist()
    [[0.8330000042915344, 0.16699999570846558], [0.5, 0.5]]
    """

    def __init__(
        self, width: int, k: int, *, alpha: float = 1.0, published_bracket: bool = False
    ) -> None:
        super().__init__()
        if k < 1:
            raise InputError(f"{k} groups cannot be made. Ask for at least 1.")
        self.k, self.alpha = k, positive("alpha", alpha)
        self.published_bracket = published_bracket
        self.centres = nn.Parameter(torch.zeros(k, width))

    def forward(self, z: Tensor) -> Tensor:
        """Shares (N, k) of vectors z (N, width), in float32 or better."""
        far = squared_distances(z, self.centres)  # (N, k)
        power = (self.alpha + 1) * (1.0 if self.published_bracket else 0.5)
        return torch.softmax(-power * torch.log1p(far / self.alpha), dim=1)

    def extra_repr(self) -> str:
        return f"k={self.k}, alpha={self.alpha}, published_bracket={self.published_bracket}"


def squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """Between every row of x (N, D) and every row of y (M, D), as (N, M); exact when near."""
    x, y = full_precision(x), full_precision(y)
    return (x[:, None, :] - y).square().sum(dim=2)


def target_shares(q: Tensor) -> Tensor:
    r"""Compute targets (DEC, Eq. 3): confident memberships count more, large groups less.

    .. math:: p_{ij}=\frac{q_{ij}^2/f_j}{\sum_lq_{il}^2/f_l},\qquad f_j=\sum_iq_{ij}

    Parameters
    ----------
    q : (N, k) shares, of all items.

    >>> target_shares(torch.tensor([[0.8, 0.2], [0.2, 0.8]])).round(decimals=2).tolist()
    [[0.9399999976158142, 0.05999999865889549], [0.05999999865889549, 0.9399999976158142]]
    """
    q = full_precision(q)
    weight = q.square() / q.sum(dim=0).clamp_min(FLOOR)
    return weight / weight.sum(dim=1, keepdim=True).clamp_min(FLOOR)


def self_training(p: Tensor, q: Tensor) -> Tensor:
    r"""How far shares are from their target (DEC, Eq. 2), :math:`\mathrm{KL}(p\Vert q)` per item.

    Parameters
    ----------
    p : (N, k) the target; no gradient goes into it.
    q : (N, k) shares.

    >>> self_training(torch.tensor([[0.5, 0.5]]), torch.tensor([[0.5, 0.5]])).item()
    0.0
    """
    p, q = full_precision(p.detach()), full_precision(q)
    if p.shape != q.shape:
        raise InputError(
            f"Expected a target for each share, got shapes {tuple(p.shape)} and {tuple(q.shape)}."
        )
    gap = p.clamp_min(FLOOR).log() - q.clamp_min(FLOOR).log()
    return (p * gap).sum(dim=1).mean()
