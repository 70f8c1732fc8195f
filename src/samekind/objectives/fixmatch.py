"""FixMatch: labels teach weak views, and sure guesses about weak views teach strong ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision


def label_loss(p: Tensor, labels: Tensor) -> Tensor:
    r"""Mean cross-entropy of memberships p (B, K) with the labels (B,) of their items (Eq. 3)."""
    return nll_loss(_logs(p), labels)


def guess_loss(weak: Tensor, strong: Tensor, *, sure: float = 0.95) -> Tensor:
    r"""Cross-entropy of strong views with the sure guesses about weak ones (Eq. 4).

    .. math:: \frac1{\mu B}\sum_b\mathbb 1[\max q_b\ge\tau]\;H(\arg\max q_b,\,p_b)

    The mean is over all items, also over those whose guess is not sure: the fewer guesses there
    are, the less they count. Guesses have no gradient.

    Parameters
    ----------
    weak, strong : (N, K) memberships q and p of two views of the same items..
    sure : least membership of a guess that is followed.

    References
    ----------
    FixMatch, NeurIPS 2020, arXiv 2001.07685.

    >>> weak = torch.tensor([[0.96, 0.04], [0.5, 0.5]])
    >>> round(guess_loss(weak, torch.full((2, 2), 0.5)).item(), 4)  # half of log 2
    0.3466
    """
    if weak.shape != strong.shape or weak.ndim != 2:
        raise InputError(
            "Expected memberships (N, K) of the weak and of the strong views of the same items, "
            f"got {tuple(weak.shape)} and {tuple(strong.shape)}."
        )
    top, guess = full_precision(weak).detach().max(dim=1)
    each = nll_loss(_logs(strong), guess, reduction="none") * (top >= sure)
    return each.sum() / max(len(each), 1)


def _logs(p: Tensor) -> Tensor:
    """Logarithms; the smallest number that has one stands in for smaller ones, down to e^-87."""
    p = full_precision(p)
    return p.clamp_min(torch.finfo(p.dtype).tiny).log()
