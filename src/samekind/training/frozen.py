"""Groups on frozen features: a linear head that is fitted to the answers in a second or two."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, nll_loss, one_hot, softmax

HEAD_STEPS = 60
"""Steps in which a head is fitted at most; few are needed, as each looks along a line."""


class LinearHead(nn.Module):
    """From features (B, width) to shares (B, k), linear on centred features of one scale.

    Parameters
    ----------
    features : (n, width) those of all items; only their mean and spread are kept.
    k : groups.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, features: Tensor, k: int) -> None:
        super().__init__()
        self.k = k
        self.register_buffer("mean", features.mean(dim=0))
        self.register_buffer("scale", features.std(dim=0).mean().clamp_min(1e-8))
        self.linear = nn.Linear(features.shape[1], k).to(features.device)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def logits(self, x: Tensor) -> Tensor:
        """Before the softmax, in float32 also where the network runs in less."""
        with torch.autocast(x.device.type, enabled=False):
            scores: Tensor = self.linear((x.float() - self.mean) / self.scale)
        return scores

    def forward(self, x: Tensor) -> Tensor:
        """Shares; rows sum to 1."""
        return softmax(self.logits(x), dim=-1)


def fit_labels(head: LinearHead, x: Tensor, labels: Tensor, *, decay: float = 1e-3) -> None:
    """Fit the head to items whose group is known: logistic regression, groups weighing alike.

    Parameters
    ----------
    x, labels : (m, width) and (m,). decay : strength of the square penalty on the weights.
    """
    counts = one_hot(labels, head.k).sum(dim=0).clamp_min(1)
    weight = (counts.sum() / counts) ** 0.5  # half way to equal weight: rare groups are not drowned
    weight = weight / weight[labels].mean()

    def loss() -> Tensor:
        fit = nll_loss(log_softmax(head.logits(x), dim=-1), labels, weight=weight)
        return fit + decay * head.linear.weight.square().sum()

    _minimise(head, loss)


def fit_pairs(
    head: LinearHead,
    x: Tensor,
    same: Tensor,
    different: Tensor,
    *,
    decay: float = 1e-3,
    tries: int = 12,
    seed: int = 0,
) -> None:
    """Fit the head to bare pairs: the likelihood that they are of one group, or of two.

    Which column stands for which group is open, so there are several equally good results, and
    bad ones between them: the best of several beginnings is kept.

    Parameters
    ----------
    x : (m, width) items that the pairs (P, 2) speak of by row.
    """
    chance = torch.Generator().manual_seed(seed)
    best, least = None, float("inf")

    def loss() -> Tensor:
        return pair_loss(head(x), same, different) + decay * head.linear.weight.square().sum()

    for _ in range(tries):
        with torch.no_grad():
            shape = head.linear.weight.shape
            start = torch.randn(shape, generator=chance) / shape[1] ** 0.5
            head.linear.weight.copy_(start)
            head.linear.bias.zero_()
        found = _minimise(head, loss)
        if found < least:
            least, best = found, {k: v.clone() for k, v in head.state_dict().items()}
    if best is not None:
        head.load_state_dict(best)


def fit_pairs_around(
    head: LinearHead,
    x: Tensor,
    same: Tensor,
    different: Tensor,
    *,
    decay: float = 1e-3,
    steps: int = 60,
) -> float:
    """Fit the head to pairs from where it is, with a penalty on its distance from there.

    With few pairs it stays what it was; with many it becomes what they say. Arguments are those of
    :func:`fit_pairs`. Returns the loss.
    """
    begun = head.linear.weight.detach().clone()

    def loss() -> Tensor:
        moved = (head.linear.weight - begun).square().sum()
        return pair_loss(head(x), same, different) + decay * moved

    return _minimise(head, loss, steps)


def pair_loss(p: Tensor, same: Tensor, different: Tensor) -> Tensor:
    """Minus log-likelihood per pair of the answers under memberships p (m, k), in both senses.

    Pairs of an item with itself (fillers) count nothing.
    """
    parts = []
    for pairs, agree in ((same, True), (different, False)):
        together = (p[pairs[:, 0]] * p[pairs[:, 1]]).sum(dim=1).clamp(1e-6, 1 - 1e-6)
        value = -(together if agree else 1 - together).log()
        parts.append(torch.where(pairs[:, 0] == pairs[:, 1], 0.0, value))
    real = sum((pairs[:, 0] != pairs[:, 1]).sum() for pairs in (same, different))
    return torch.cat(parts).sum() / torch.as_tensor(real, device=p.device).clamp_min(1)


def _minimise(head: LinearHead, loss: Callable[[], Tensor], steps: int = 60) -> float:
    """Follow a smooth loss down to its bottom; returns it."""
    optimiser = torch.optim.LBFGS(
        head.linear.parameters(),
        max_iter=min(steps, HEAD_STEPS),
        history_size=10,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    with torch.enable_grad():
        optimiser.step(closure)  # type: ignore[no-untyped-call]
    for parameter in head.parameters():
        parameter.grad = None
    with torch.no_grad():
        return float(loss())
