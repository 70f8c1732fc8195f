"""A second look: each point goes to the group that it most probably belongs to.

Passes decide one group at a time and never look back, so a point that was missed by its group ends
in a small one of its own. The sweep asks for every group, as if it came first and with its members
known, how probably each point belongs to it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseFunctions, Items
from samekind.clusterers.ncp.amortized.clusterwise_answers import Together
from samekind.clusterers.ncp.amortized.clusterwise_sampler import join_odds
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.ordered import AT_ONCE


@torch.no_grad()
def swept(
    network: ClusterwiseFunctions,
    x: Any,
    labels: Tensor,
    *,
    together: Together | None = None,
    smallest: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Groupings (P, N) of one data set `x` (1, N, ...) after one sweep; groups may vanish.

    The result is a better single grouping, not a sample of the posterior: the sweep has no
    probability, so score it anew before comparing.

    Parameters
    ----------
    together : items that an answer is about stay where they are, so all answers stay honoured.
    smallest : groups with at most this part of the points cannot attract any; their points leave
        for a group that takes them more probably than not. 0 does so with single points only.
    """
    items = network.items(x, None)
    device, N = items.e.device, items.e.shape[1]
    labels = labels.to(device)
    fixed = torch.zeros(N, dtype=torch.bool, device=device)
    if together is not None:
        fixed = (together.component != together.n).to(device)
    most = max(1, int(smallest * N))
    rows = [_swept_one(network, items, row, fixed, most, generator) for row in labels]
    return relabel(torch.stack(rows))


def _swept_one(
    network: ClusterwiseFunctions,
    items: Items,
    labels: Tensor,
    fixed: Tensor,
    most: int,
    generator: torch.Generator | None,
) -> Tensor:
    names, own, size = torch.unique(labels, return_inverse=True, return_counts=True)
    large = (size > most).nonzero()[:, 0]  # groups that attract
    if not len(large):
        return labels
    # A point of a small group stays unless another takes it more probably than not.
    best = torch.where(size[own] > most, -torch.inf, 0.0)
    group = own.clone()
    rows = max(1, AT_ONCE // len(labels))
    for begin in range(0, len(large), rows):
        some = large[begin : begin + rows]
        odds = _belonging(network, items, own == some[:, None], generator)  # (R, N)
        top, which = odds.max(0)
        better = top > best
        group = torch.where(better, some[which], group)
        best = torch.where(better, top.to(best.dtype), best)
    moved: Tensor = names[torch.where(fixed, own, group)]
    return moved


def _belonging(
    network: ClusterwiseFunctions,
    items: Items,
    member: Tensor,
    generator: torch.Generator | None,
) -> Tensor:
    """(R, N) log-odds that each point belongs to groups (R, N), each taken first."""
    chance = torch.rand(member.shape, generator=generator, device=member.device)
    anchor = chance.masked_fill(~member, -1.0).argmax(-1)[None]  # (1, R)
    left = torch.ones_like(member)[None].scatter(-1, anchor[..., None], False)
    G = torch.zeros_like(network.describe(items, member[None]))
    outlook = network.look(items, left, anchor, G)
    z = G.new_zeros(*anchor.shape, 0)
    if network.latent:
        z = network.guide(items, outlook, left, member[None]).mean
    return join_odds(network, items, outlook, z[:, :, None])[0, :, 0]
