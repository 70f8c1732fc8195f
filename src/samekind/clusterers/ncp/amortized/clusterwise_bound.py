"""The bound that clusterwise training makes large, for all passes at once.

Points come in random order, so the first point of a group that is left is an anchor drawn evenly
from what is left. Passes see the true earlier groups and do not depend on each other; a few are
drawn from each data set, with weights that make up for the others, so that shapes are fixed
whatever the number of groups.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from samekind.clusterers.ncp.amortized.clusterwise import (
    ClusterwiseFunctions,
    Items,
    Normal,
    Outlook,
)
from samekind.clusterers.ncp.amortized.generators import Episode


class Weighted(NamedTuple):
    """An importance-weighted bound over the last dimension."""

    bound: Tensor
    """(...) logarithm of the mean weight: below the log-probability on average."""
    surrogate: Tensor
    """(...) its gradient is minus that of the bound."""
    weights: Tensor
    """(..., S) shares of the draws, without gradient."""


class Loss(NamedTuple):
    """Of one batch: (B,) each."""

    surrogate: Tensor
    """To be made small."""
    nll: Tensor
    """Bound on minus the log-probability of the whole grouping, over all its orders."""


def importance_weighted(log_w: Tensor) -> Weighted:
    """From logarithms of weights (..., S), by log-sum-exp: sums of the weights would underflow."""
    shares = log_w.detach().softmax(-1)
    bound = log_w.logsumexp(-1) - math.log(log_w.shape[-1])
    return Weighted(bound, -(shares * log_w).sum(-1), shares)


def log_members(odds: Tensor, left: Tensor, member: Tensor) -> Tensor:
    """(B, R, S) log-probability that of those left (B, R, N) just the members join."""
    signed = torch.where(member[:, :, None], odds, -odds)
    return torch.where(left[:, :, None], logsigmoid(signed), 0.0).sum(-1)


def pass_bound(
    network: ClusterwiseFunctions,
    items: Items,
    outlook: Outlook,
    left: Tensor,
    member: Tensor,
    noise: Tensor,
) -> Weighted:
    """Of the members of each pass, with the doubly reparametrised gradient for the guide.

    `noise` (B, R, S, L) is standard normal. The density of the guide is taken with its parameters
    held fixed, and the gradient that reaches z is multiplied by the draw's share once more.
    """
    if not network.latent:
        found = log_members(network.join(items, outlook, noise), left, member)
        return importance_weighted(found)
    guide, prior = (
        Normal(*(part[:, :, None] for part in law))
        for law in (network.guide(items, outlook, left, member), network.prior(outlook))
    )
    z = guide.mean + guide.log_std.exp() * noise
    held = Normal(guide.mean.detach(), guide.log_std.detach())
    joined = log_members(network.join(items, outlook, z), left, member)
    result = importance_weighted(prior.log_density(z) + joined - held.log_density(z))
    if z.requires_grad:
        z.register_hook(lambda gradient: gradient * result.weights[..., None])  # type: ignore[no-untyped-call]
    return result


def clusterwise_loss(
    network: ClusterwiseFunctions,
    episode: Episode,
    *,
    passes: int,
    draws: int,
    generator: torch.Generator,
    n_groups: int | None = None,
) -> Loss:
    """Of a few passes of each data set, scaled to all of them.

    Parameters
    ----------
    passes : drawn from each data set, evenly over its groups.
    draws : of z for each of them.
    n_groups : the largest number of groups. Given, nothing waits for the device.
    """
    x, labels, mask = episode
    B, device = len(labels), labels.device
    K = int(labels.max()) + 1 if n_groups is None else n_groups
    items = network.items(x, mask)
    groups = labels[:, None] == torch.arange(K, device=device)[:, None]
    groups = groups & mask[:, None]  # (B, K, N)
    count = groups.any(-1).sum(1)  # (B,) groups of each data set
    start = torch.rand(B, 1, generator=generator, device=device)
    spaced = (torch.arange(passes, device=device) + start) / passes * count[:, None]
    turn = torch.minimum(spaced.long(), (count[:, None] - 1).clamp_min(0))  # (B, R)
    member = torch.take_along_dim(groups, turn[..., None], dim=1)  # (B, R, N)
    anchor = member.int().argmax(-1)  # the first in a random order
    left = (labels[:, None] >= turn[..., None]) & mask[:, None]
    left = left.scatter(-1, anchor[..., None], False)
    described = network.describe(items, groups)  # (B, K, dg)
    earlier = torch.arange(K, device=device) < turn[..., None]  # (B, R, K)
    outlook = network.look(items, left, anchor, earlier.to(described.dtype) @ described)
    noise = torch.randn(
        B, passes, draws, network.latent, generator=generator, device=device, dtype=described.dtype
    )
    found = pass_bound(network, items, outlook, left, member, noise)
    share = torch.where(count > 0, count / passes, 0.0)[:, None]
    return Loss((share * found.surrogate).sum(1), -(share * found.bound.detach()).sum(1))
