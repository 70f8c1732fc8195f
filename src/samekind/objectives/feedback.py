"""IDC's losses: the chosen group attracts, the refused ones repel, the rest stays where it is."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import InputError
from samekind.objectives.boost import balanced_nll, check_labels, label_losses
from samekind.objectives.similarity import full_precision

FeedbackProfile = Literal["program", "paper", "repaired"]
"""``program``: as published: groups count alike, refused shares above 1 - 1e-5 are cut off.
``paper``: plain means, as printed. ``repaired``: as the program, without the cut, which takes the
gradient from just those items that are most surely in a group the person refused."""
PROFILES = ("program", "paper", "repaired")
CUT = 1e-5  # smallest 1 - p of the program


def positive_loss(p: Tensor, chosen: Tensor, *, profile: FeedbackProfile = "repaired") -> Tensor:
    r"""Items go to the group that the person chose (IDC, Eq. 12): mean of :math:`-\log p`.

    Parameters
    ----------
    p : (N, K) memberships of a batch; rows sum to 1.
    chosen : (N,) group chosen for each item; -1: none, the row does not count.
    profile : see :data:`FeedbackProfile`.

    Returns
    -------
    loss : 0 when no item of the batch has an answer.

    >>> p = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    >>> round(positive_loss(p, torch.tensor([-1, 0])).item(), 4)
    1.3863
    """
    if _checked(profile) != "paper":
        return balanced_nll(p, chosen, p.shape[-1])
    loss, mine = label_losses(p, chosen, p.shape[-1])
    return loss.sum() / mine.sum().clamp_min(1)


def negative_loss(p: Tensor, refused: Tensor, *, profile: FeedbackProfile = "repaired") -> Tensor:
    r"""Items leave the groups that the person refused (IDC, Eq. 13): mean of :math:`-\log(1-p)`.

    Parameters
    ----------
    p : (N, K) memberships of a batch; rows sum to 1.
    refused : (N,) one refused group of each item, drawn anew in every step, -1: none (see
        :func:`one_of`); or (N, K) bool, all of them, whose losses are added up: less noisy.
    profile : see :data:`FeedbackProfile`.

    Returns
    -------
    loss : mean over the items with a refused group; 0 when there is none.

    >>> p = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    >>> round(negative_loss(p, torch.tensor([-1, 1])).item(), 4)
    1.3863
    """
    if p.ndim != 2:
        raise InputError(f"Memberships form a matrix (N, K); the shape is {tuple(p.shape)}.")
    n, k = p.shape
    p = full_precision(p)
    if refused.dtype != torch.bool:
        check_labels(refused, n)
        refused = refused[:, None] == torch.arange(k, device=p.device)  # (N, K)
    elif refused.shape != p.shape:
        raise InputError(
            f"All refused groups are a table {(n, k)} of true and false, as the memberships; "
            f"the shape is {tuple(refused.shape)}. Or give one group for each item."
        )
    loss = -_others(p, cut=_checked(profile) == "program").log()
    loss = torch.where(refused, loss, torch.zeros_like(loss))
    return loss.sum() / refused.any(dim=1).sum().clamp_min(1)


def regularisation(p: Tensor, labels: Tensor, *, profile: FeedbackProfile = "repaired") -> Tensor:
    r"""Sure items stay in their group (IDC, Eq. 14): :math:`-\log p` of the strong view.

    Labels come from the plain view (Eq. 14 on one view is almost 0, and teaches nothing): from
    :func:`confident`, or from the memory of :mod:`samekind.training.pseudo_labels`.

    Parameters
    ----------
    p : (N, K) memberships of the strong views; rows sum to 1.
    labels : (N,) pseudo-labels; -1: none.
    profile : ``paper`` divides by all N items; otherwise groups count alike among those labelled.

    Returns
    -------
    loss : 0 when no item is labelled.

    >>> p = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    >>> round(regularisation(p, torch.tensor([0, -1]), profile="paper").item(), 4)  # log 2 / 2
    0.3466
    """
    if _checked(profile) != "paper":
        return balanced_nll(p, labels, p.shape[-1])
    return label_losses(p, labels, p.shape[-1])[0].sum() / len(p)


def confident(p: Tensor, threshold: float = 0.99) -> Tensor:
    """Labels (N,) of items whose largest membership in p (N, K) is above the threshold, else -1.

    >>> confident(torch.tensor([[0.995, 0.005], [0.6, 0.4]])).tolist()
    [0, -1]
    """
    largest, label = full_precision(p.detach()).max(dim=1)
    return (label + 1) * (largest > threshold) - 1


def one_of(refused: Tensor, chances: Tensor) -> Tensor:
    """One refused group of each item, all equally likely; -1 where nothing was refused.

    Parameters
    ----------
    refused : (N, K) bool.
    chances : (N,) uniform numbers from 0 to 1, drawn by the caller.

    >>> refused = torch.tensor([[True, False, True], [False, False, False]])
    >>> one_of(refused, torch.tensor([0.7, 0.7])).tolist()
    [2, -1]
    """
    rank = refused.cumsum(dim=1)  # (N, K): 1 at the first refused group, 2 at the second
    count = rank[:, -1]
    wanted = torch.minimum((chances * count).long() + 1, count)  # the product may round up
    hit = refused & (rank == wanted[:, None])
    return (hit.int().argmax(dim=1) + 1) * (count > 0) - 1


def _others(p: Tensor, *, cut: bool) -> Tensor:
    """1 - p (N, K), which no logarithm makes infinite."""
    if cut:
        return (1 - p).clamp_min(CUT)
    # Shares of the other groups added up: where p is almost 1, 1 - p has lost all its digits.
    rest = 1 - torch.eye(p.shape[1], dtype=p.dtype, device=p.device)
    with torch.autocast(device_type=p.device.type, enabled=False):
        return (p @ rest).clamp_min(torch.finfo(p.dtype).tiny)


def _checked(profile: FeedbackProfile) -> FeedbackProfile:
    if profile not in PROFILES:
        raise InputError(
            f"{profile!r} is not a profile of IDC's losses. Choose one of: {', '.join(PROFILES)}."
        )
    return profile
