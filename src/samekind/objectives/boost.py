"""TCL's boosting: the method's own confident labels spare a pair, and teach the groups."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.links import both_views
from samekind.objectives.similarity import cosines, full_precision, items_of, positive, without_self


class BoostedContrast(nn.Module):
    r"""Contrast in which items of one pseudo-label no longer repel each other (TCL, boosting).

    .. math:: \ell_i=-\log\frac{e^{s_{ii'}/\tau}}
        {\sum_{k\ne i,\ \neg(\hat y_k=\hat y_i\ge0,\ k\notin\{i,i'\})}e^{s_{ik}/\tau}}

    The own other view stays the only positive, and it stays in the denominator. Without labels
    this is :class:`~samekind.objectives.NTXent`.

    Parameters
    ----------
    temperature : lower looks harder at the nearest rows, higher treats all alike.

    References
    ----------
    Twin Contrastive Learning for Online Clustering, arXiv 2210.11680.

    >>> rows = torch.tensor([[1.0, 0.0], [0.6, 0.8]]).repeat(2, 1)
    >>> contrast = BoostedContrast()
    >>> none, same = torch.tensor([-1, -1]), torch.tensor([1, 1])
    >>> round(contrast(rows, none).item(), 4), round(contrast(rows, same).item(), 4)
    (0.6411, 0.0)
    """

    def __init__(self, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        """The loss of the rows x (2N, M) whose items have the labels (N,); -1: none."""
        n = items_of(x)
        check_labels(labels, n)
        similarity = cosines(x) / self.temperature  # (2N, 2N)
        own = similarity.diagonal(offset=n).repeat(2)  # (2N,): s is symmetric
        alike = (labels[:, None] == labels) & (labels >= 0)  # (N, N)
        alike = alike & ~torch.eye(n, dtype=torch.bool, device=x.device)
        kept = without_self(similarity.masked_fill(both_views(alike), -math.inf))
        return (kept.logsumexp(dim=1) - own).mean()

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"


def balanced_nll(p: Tensor, labels: Tensor, k: int, *, logs: bool = False) -> Tensor:
    r"""Cross-entropy in which every group counts the same, however many items carry its label.

    The weights :math:`n/n_k` of the published programs (TCL, SCAN, IDC) with their weighted mean
    come to the mean over the groups present of the mean over their items. No labelled item gives 0.

    Parameters
    ----------
    p : (N, k) memberships, rows sum to 1.
    labels : (N,) group of each item; -1: none, the row does not count.
    k : groups.
    logs : p holds logarithms of memberships, as ``log_softmax`` gives them.

    >>> p = torch.tensor([[0.5, 0.5], [0.5, 0.5], [0.75, 0.25]])
    >>> round(balanced_nll(p, torch.tensor([0, 0, 1]), 2).item(), 4)  # (log 2 + log 4) / 2
    1.0397
    >>> balanced_nll(p, torch.tensor([-1, -1, -1]), 2).item()
    0.0
    """
    loss, mine = label_losses(p, labels, k, logs=logs)
    counts = mine.sum(dim=0)  # (k,)
    means = loss.sum(dim=0) / counts.clamp_min(1)
    return means.sum() / (counts > 0).sum().clamp_min(1)


def label_losses(p: Tensor, labels: Tensor, k: int, *, logs: bool = False) -> tuple[Tensor, Tensor]:
    """-log p where an item's label is and 0 elsewhere, and where that is; both (N, k)."""
    if p.ndim != 2 or p.shape[1] != k:
        raise InputError(
            f"Memberships in {k} groups form a matrix (N, {k}); the shape is {tuple(p.shape)}. "
            "Give one column for each group."
        )
    check_labels(labels, len(p))
    p = full_precision(p)
    # A share of 0 must give neither an infinite loss nor an infinite gradient.
    logp = p if logs else p.clamp_min(torch.finfo(p.dtype).tiny).log()
    mine = labels[:, None] == torch.arange(k, device=p.device)  # (N, k)
    return torch.where(mine, -logp, torch.zeros_like(logp)), mine


def check_labels(labels: Tensor, n: int) -> None:
    """Refuse labels that are not one whole number for each of n items."""
    if labels.shape != (n,) or labels.dtype.is_floating_point or labels.dtype == torch.bool:
        raise InputError(
            f"Expected one integer label for each of {n} items, -1 for none, got "
            f"{str(labels.dtype).removeprefix('torch.')} of shape {tuple(labels.shape)}."
        )
