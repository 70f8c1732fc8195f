"""Training of the clusterwise process, and the bound that it makes large.

Points come in random order, so the first point of a group that is left is an anchor drawn evenly
from what is left. Passes see the true earlier groups and do not depend on each other; a few are
drawn from each data set, with weights that make up for the others, so that shapes are fixed
whatever the number of groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import (
    ClusterwiseFunctions,
    ClusterwiseNetwork,
    Items,
    Normal,
    PassContext,
    log_members,
)
from samekind.clusterers.ncp.amortized.generators import Episode, Generator
from samekind.clusterers.ncp.amortized.training_loop import (
    History,
    Progress,
    Sizes,
    TrainingLoop,
    check_end,
)
from samekind.errors import InputError


def train_clusterwise(
    network: ClusterwiseNetwork,
    generator: Generator,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    batch: int = 32,
    lr: float = 1e-3,
    weight_decay: float = 1e-4,
    schedule: Literal["cosine", "constant"] = "cosine",
    passes: int = 4,
    draws: int = 8,
    average: float = 0.998,
    clip: float = 1.0,
    ranges: int | Sequence[Sizes] = 4,
    device: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    most_points: int | None = None,
    quick: bool = False,
) -> History:
    """Train a network in place on data sets from a generator.

    The history tells the bound on the NLL per point of the grouping, over all orders of its groups,
    so it can be compared with that of the pointwise process.

    Parameters
    ----------
    steps, seconds : how long; exactly one of them.
    lr, weight_decay : of AdamW. `clip` is the largest length of the gradient.
    schedule : ``cosine`` rises over the first 2 % and falls to nothing.
    passes : groups of each data set that are learnt from in a step.
    draws : of z for each pass; more make the bound tighter and cost as much more (40 in the
        published program).
    average : the weights in the end are a running mean with this memory per step; 0: the last ones.
    ranges : sizes are drawn from so many ranges, one per step; or ranges of your own.
    checkpoint : file to which the state is written every thousand steps and from which an
        interrupted training continues.
    most_points : a batch has fewer data sets where they are large, so that it holds at most so many
        points.
    quick : products in reduced precision where the device can (TF32 on a GPU, bfloat16 on a CPU);
        sums stay as they are.
    """
    check_end(steps, seconds)
    if passes < 1 or draws < 1:
        raise InputError(
            f"Expected at least one pass and one draw per step, got passes={passes} and "
            f"draws={draws}."
        )
    training = ClusterwiseTraining(
        network, generator, passes, draws, average=average, batch=batch, lr=lr,
        weight_decay=weight_decay, clip=clip, ranges=ranges, device=device, most_points=most_points,
    )  # fmt: skip
    history = training.run(steps, seconds, schedule, seed, progress, checkpoint, quick=quick)
    training.use_average()
    return history


class ClusterwiseTraining(TrainingLoop):
    """Training of a network that takes out one group per pass."""

    network: ClusterwiseNetwork

    def __init__(
        self,
        network: ClusterwiseNetwork,
        generator: Generator,
        passes: int,
        draws: int,
        **settings: Any,
    ) -> None:
        super().__init__(network, generator, **settings)
        self.passes, self.draws = passes, draws

    def _step(self, points: Sizes, rate: Tensor, memory: Tensor) -> Tensor:
        with torch.no_grad():
            episode = self.generator.draw(self._batch(points), self.rng, points)
        n_groups = min(self.generator.max_groups, points[1]) if self.records else None
        loss = clusterwise_loss(
            self.network, episode, passes=self.passes, draws=self.draws, generator=self.rng,
            n_groups=n_groups,
        )  # fmt: skip
        n_points = episode.mask.sum()
        objective = loss.surrogate.sum() / n_points.clamp_min(1)
        self.optimiser.zero_grad(set_to_none=True)
        objective.backward()  # type: ignore[no-untyped-call]
        self._follow_gradient(rate, memory, objective.detach(), (loss.nll.sum(), n_points))
        return objective.detach()


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


def pass_bound(
    network: ClusterwiseFunctions,
    items: Items,
    context: PassContext,
    left: Tensor,
    member: Tensor,
    noise: Tensor,
) -> Weighted:
    """Of the members of each pass, with the doubly reparametrised gradient for the guide.

    `noise` (B, R, S, L) is standard normal. The density of the guide is taken with its parameters
    held fixed, and the gradient that reaches z is multiplied by the draw's share once more.
    """
    if not network.latent:
        found = log_members(network.join(items, context, noise), left, member)
        return importance_weighted(found)
    guide, prior = (
        Normal(*(part[:, :, None] for part in normal))
        for normal in (network.guide(items, context, left, member), network.prior(context))
    )
    z = guide.mean + guide.log_std.exp() * noise
    held = Normal(guide.mean.detach(), guide.log_std.detach())
    joined = log_members(network.join(items, context, z), left, member)
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
    context = network.look(items, left, anchor, earlier.to(described.dtype) @ described)
    noise = torch.randn(
        B, passes, draws, network.latent, generator=generator, device=device, dtype=described.dtype
    )
    found = pass_bound(network, items, context, left, member, noise)
    share = torch.where(count > 0, count / passes, 0.0)[:, None]
    return Loss((share * found.surrogate).sum(1), -(share * found.bound.detach()).sum(1))
