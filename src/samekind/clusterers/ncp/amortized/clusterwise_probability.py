"""The probability of a grouping under the clusterwise process, over all orders of its groups.

The process takes out one group after the other, so it gives a distribution of ordered lists of
groups. The probability of a grouping is the sum over all K! orders; one order alone says less the
more groups there are, and would favour groupings with few of them.

A pass depends on the groups before it only as a set. So the sum over orders is built up over the
2^K sets of groups that may have been taken before. For many groups, orders are drawn instead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import (
    ClusterwiseFunctions,
    Items,
    Normal,
    log_members,
)
from samekind.errors import InputError

MAX_EXACT_GROUPS = 7
"""Groups up to which all orders are summed."""
MAX_EXACT_POINTS = 500_000
"""Points scored for this, in all passes together."""
CHUNK_POINTS = 1 << 18
"""Points of several passes and draws that are scored together: bounds the memory."""


class Scored(NamedTuple):
    """Log-probabilities of P groupings."""

    log_prob: Tensor
    """(P,) of the grouping."""
    error: Tensor
    """(P,) standard error of the estimated probability, as a part of it; 0 where all is summed."""
    summed: Tensor
    """(P,) True: all orders and anchors are summed; False: drawn, an unbiased estimate."""


class Latents(NamedTuple):
    """How the latent vector of each pass is integrated out; irrelevant for a process without one.

    Parameters
    ----------
    draws : of z for each pass.
    guided : half of them from the guide, which knows the members: an unbiased estimate of the
        probability with little noise. Otherwise all from the prior with the same noise in every
        pass: noisier, but the values of all groupings add up to one.
    """

    draws: int = 16
    guided: bool = True


class Passes(NamedTuple):
    """R passes over one data set."""

    left: Tensor
    """(R, N) points that are left, the anchor among them."""
    member: Tensor
    """(R, N) the group, the anchor among it."""
    anchor: Tensor
    """(R,)"""
    G: Tensor
    """(R, dg) of the groups before."""


@torch.no_grad()
def score(
    network: ClusterwiseFunctions,
    items: Items,
    labels: Tensor,
    *,
    orders: int = 16,
    exact_groups: int = MAX_EXACT_GROUPS,
    latents: Latents | None = None,
    generator: torch.Generator | None = None,
) -> Scored:
    """Log-probability of groupings (P, N) of the items of one data set.

    Sums over orders and anchors where that is feasible, else draws `orders` of them: groups in the
    order in which anchors would find them, which makes all terms alike for a well-trained process.
    Both are unbiased (of the probability, not its logarithm), so groupings with different numbers
    of groups may be compared.
    """
    if labels.ndim != 2 or labels.shape[1] != items.e.shape[1]:
        raise InputError(
            f"Expected one row of {items.e.shape[1]} labels for each grouping, got shape "
            f"{tuple(labels.shape)}."
        )
    noise = Noise(network, items, latents or Latents(), generator)
    found = []
    for row in labels.to(items.e.device):
        blocks = _blocks(row)
        K, N = blocks.shape
        work = N * N * 2 ** min(K - 1, 60) * noise.draws
        if exact_groups >= K and work <= MAX_EXACT_POINTS:
            value = _summed(network, items, blocks, noise)
            found.append((value, torch.zeros_like(value), True))
        else:
            found.append((*_drawn(network, items, blocks, noise, orders, generator), False))
    log_prob, error, summed = zip(*found, strict=True)
    told = torch.tensor(summed, device=items.e.device)
    return Scored(torch.stack(log_prob), torch.stack(error), told)


def log_passes(network: ClusterwiseFunctions, items: Items, passes: Passes, noise: Noise) -> Tensor:
    """(R,) log-probability that just the members join, given the anchor; z integrated out."""
    size = max(1, CHUNK_POINTS // (passes.left.shape[1] * noise.draws))
    found = []
    for begin in range(0, len(passes.left), size):
        some = Passes(*(part[begin : begin + size] for part in passes))
        found.append(_log_some(network, items, some, noise))
    return torch.cat(found)


def _log_some(network: ClusterwiseFunctions, items: Items, passes: Passes, noise: Noise) -> Tensor:
    left, member, anchor, G = (part[None] for part in passes)  # (1, R, ...)
    left = left.scatter(-1, anchor[..., None], False)
    context = network.look(items, left, anchor, G)
    drawn = noise.rows(anchor.shape[1])  # (1, R, S, L)
    if not network.latent:
        return log_members(network.join(items, context, drawn), left, member)[0, :, 0]
    prior = _rows(network.prior(context))
    if not noise.guided:
        z = prior.mean + prior.log_std.exp() * drawn
        joined = log_members(network.join(items, context, z), left, member)
        return (joined.logsumexp(-1) - math.log(noise.draws))[0]
    guide = _rows(network.guide(items, context, left, member))
    n_guided = (noise.draws + 1) // 2
    first, second = drawn[:, :, :n_guided], drawn[:, :, n_guided:]
    z = torch.cat(
        [guide.mean + guide.log_std.exp() * first, prior.mean + prior.log_std.exp() * second], 2
    )
    # Each draw is weighed by the mixture of both distributions, so that no weight exceeds two.
    part = n_guided / noise.draws
    terms = [guide.log_density(z) + math.log(part)]
    if part < 1:
        terms.append(prior.log_density(z) + math.log(1 - part))
    log_mixture = torch.stack(terms).logsumexp(0)
    joined = log_members(network.join(items, context, z), left, member)
    log_w = joined + prior.log_density(z) - log_mixture
    found = log_w.logsumexp(-1) - math.log(noise.draws)
    # Where no point is left to join there is nothing to estimate.
    return torch.where(left.any(-1), found, 0.0)[0]


def _summed(network: ClusterwiseFunctions, items: Items, blocks: Tensor, noise: Noise) -> Tensor:
    """Over all orders: the sum of what leads to each set of groups, set by set."""
    K, device = len(blocks), blocks.device
    sets = torch.arange(1 << K, device=device)
    inside = (sets[:, None] >> torch.arange(K, device=device)) & 1 == 1  # (2^K, K)
    before, turn = (~inside).nonzero(as_tuple=True)
    log_p = _log_groups(network, items, blocks, inside[before], turn, noise)
    step = log_p.new_full((1 << K, K), -torch.inf).index_put((before, turn), log_p)
    total = log_p.new_full((1 << K,), -torch.inf)
    total[0] = 0.0
    size = inside.sum(1)
    for k in range(1, K + 1):
        mine = (size == k).nonzero()[:, 0]
        last = torch.arange(K, device=device)
        without = mine[:, None] & ~(1 << last)  # the set without each of its groups
        found = (total[without] + step[without, last]).masked_fill(~inside[mine], -torch.inf)
        total[mine] = found.logsumexp(1)
    return total[-1]


def _log_groups(
    network: ClusterwiseFunctions,
    items: Items,
    blocks: Tensor,
    before: Tensor,
    turn: Tensor,
    noise: Noise,
) -> Tensor:
    """(T,) that group `turn` (T,) comes next after the groups `before` (T, K), by any anchor."""
    described = network.describe(items, blocks[None])[0]  # (K, dg)
    G = before.to(described.dtype) @ described
    taken = before.to(torch.float32) @ blocks.to(torch.float32) > 0.5  # (T, N)
    row, anchor = blocks[turn].nonzero(as_tuple=True)  # one row per anchor
    passes = Passes((~taken)[row], blocks[turn][row], anchor, G[row])
    log_p = log_passes(network, items, passes, noise)
    table = log_p.new_full((len(turn), blocks.shape[1]), -torch.inf)
    table = table.index_put((row, anchor), log_p)
    return table.logsumexp(1) - (~taken).sum(1).to(log_p.dtype).log()


def _drawn(
    network: ClusterwiseFunctions,
    items: Items,
    blocks: Tensor,
    noise: Noise,
    orders: int,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor]:
    """Mean over random orders and anchors, and its standard error.

    Points in random order: groups in order of their first point, which is the anchor. That order
    and its anchors have just the probability with which the process draws its anchors, so what is
    left to average is the product of the passes.
    """
    K, N = blocks.shape
    device = blocks.device
    uniform = torch.rand(orders, 1, N, generator=generator, device=device)
    first, anchor = uniform.masked_fill(~blocks, 2.0).min(-1)  # (orders, K)
    before = first[:, None, :] < first[:, :, None]  # (orders, K, K)
    described = network.describe(items, blocks[None])[0]
    G = before.to(described.dtype) @ described
    taken = before.to(torch.float32) @ blocks.to(torch.float32) > 0.5  # (orders, K, N)
    member = blocks.expand(orders, K, N).flatten(0, 1)
    passes = Passes((~taken).flatten(0, 1), member, anchor.flatten(), G.flatten(0, 1))
    log_p = log_passes(network, items, passes, noise).view(orders, K).sum(1)
    mean = log_p.logsumexp(0) - math.log(orders)
    spread = (log_p - mean).exp().std(correction=1) if orders > 1 else mean.new_tensor(math.nan)
    return mean, spread / math.sqrt(orders)


def _blocks(labels: Tensor) -> Tensor:
    """(K, N) members of each group, in the order of their numbers."""
    names, numbered = torch.unique(labels, return_inverse=True)
    slots = torch.arange(len(names), device=labels.device)
    members: Tensor = numbered == slots[:, None]
    return members


class Noise:
    """Standard normal vectors behind the draws of z.

    Guided draws are new in every pass: a product of passes is unbiased only if they do not share
    them. Others are the same in every pass.
    """

    def __init__(
        self,
        network: ClusterwiseFunctions,
        items: Items,
        wanted: Latents,
        generator: torch.Generator | None,
    ) -> None:
        if wanted.draws < 1:
            raise InputError(f"Expected at least 1 draw of z, got {wanted.draws}.")
        self.draws = wanted.draws if network.latent else 1
        self.guided, self.generator = wanted.guided and network.latent > 0, generator
        self._like, self._length = items.e, network.latent
        self._fixed = None if self.guided else self._new(1)

    def rows(self, R: int) -> Tensor:
        """(1, R, S, L)"""
        return self._new(R) if self._fixed is None else self._fixed.expand(1, R, -1, -1)

    def _new(self, R: int) -> Tensor:
        return torch.randn(
            1, R, self.draws, self._length, generator=self.generator,
            device=self._like.device, dtype=self._like.dtype,
        )  # fmt: skip


def _rows(normal: Normal) -> Normal:
    """With a dimension for draws."""
    return Normal(normal.mean[:, :, None], normal.log_std[:, :, None])
