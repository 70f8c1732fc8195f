"""Regression of one network's vectors on those of another that follows it: no row repels."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import normalize

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision


def regression(p: Tensor, z: Tensor, *, shifted: bool = False) -> Tensor:
    r"""How far predictions point away from their targets (BYOL, Eq. 2): mean of :math:`-2\cos`.

    It is used both ways: the first view predicts the target of the second, and the second that of
    the first. BYOL's paper adds them, ProPos' program takes their mean. The caller does so. No
    gradient goes into the target.

    Parameters
    ----------
    p : (N, D) predictions of the trained network, of any length.
    z : (N, D) what the following network says of the other view of the same items.
    shifted : add 2, so that it is the squared distance of unit vectors and never below 0.

    References
    ----------
    Bootstrap Your Own Latent, arXiv 2006.07733.

    >>> import torch
    >>> p = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> regression(p, p).item(), regression(p, p.flip(0), shifted=True).item()
    (-2.0, 2.0)
    """
    same_rows(p, z)
    cosine = (unit(p) * unit(z.detach())).sum(dim=1)  # (N,)
    return (2.0 if shifted else 0.0) - 2 * cosine.mean()


def unit(x: Tensor) -> Tensor:
    """Rows of x (N, D) at length 1, in full precision; a row of zeros stays one."""
    return normalize(full_precision(x), dim=1)


def same_rows(online: Tensor, target: Tensor) -> None:
    """Refuse vectors that do not belong to each other row by row."""
    if online.ndim != 2 or online.shape != target.shape or len(online) == 0:
        raise InputError(
            "Vectors and their targets are two matrices (N, D) of the same items; the shapes are "
            f"{tuple(online.shape)} and {tuple(target.shape)}. Give one target for each row."
        )
