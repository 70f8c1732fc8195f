"""Sampler of the clusterwise process: S groupings side by side, one group of each per pass.

Every pass takes at least its anchor, so it ends. Points that all samples have placed are dropped
from the pass, so late passes over the last few points cost little.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseFunctions, Items, PassContext
from samekind.clusterers.ncp.amortized.clusterwise_probability import CHUNK_POINTS, Latents, score
from samekind.clusterers.ncp.amortized.conditioning import ClusterwiseAnswers, joined_freely
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.samples import Samples, merged
from samekind.errors import InputError

MAX_PASSES = 256
"""Passes after which points that are still left become groups of their own."""


@dataclass(frozen=True)
class ClusterwiseSampler:
    """Draws groupings of data sets from a trained clusterwise network.

    Parameters
    ----------
    latent : ``sample`` draws z from its distribution; ``mean`` takes the mean of it.
    join : ``sample`` lets each point join at random; ``threshold`` if that is the more probable.
        Both ``sample``: draws of the posterior. Else anchors are the only randomness, or nearly so:
        good single groupings, too few different ones.
    most_passes : points that are left afterwards become groups of their own, with a warning.
    """

    network: ClusterwiseFunctions
    latent: Literal["sample", "mean"] = "sample"
    join: Literal["sample", "threshold"] = "sample"
    most_passes: int = MAX_PASSES

    @torch.no_grad()
    def sample(
        self,
        x: Any,
        n_samples: int,
        *,
        mask: Tensor | None = None,
        answers: ClusterwiseAnswers | None = None,
        generator: torch.Generator | None = None,
        resample: float = 0.5,
        orders: int = 8,
        draws: int = 8,
        most_scored: int = 100,
    ) -> list[Samples]:
        """`n_samples` draws for each of B data sets (B, N, ...), padded where `mask` is False.

        The probability of a sample is that of the grouping, over all orders of its groups (see
        `clusterwise_probability.score`), so samples with different numbers of groups are ranked
        fairly. Only the `most_scored` samples of largest weight are kept; 0 keeps all and scores
        none (their probability is then NaN).

        Parameters
        ----------
        answers : restrictions for one data set; every sample honours every answer. With
            ``sample`` for both kinds of randomness, weights make averages those of the posterior
            given the answers. Otherwise, and for samples that ran into `most_passes`, the answers
            are only a restriction.
        resample : samples are redrawn by weight when fewer than this part of them are
            effective; 0 never does.
        orders, draws : for the probability: orders of the groups where not all can be summed, and
            draws of z in each pass.
        """
        items = self.network.items(x, mask)
        B, N = items.e.shape[:2]
        if n_samples < 1 or N < 1:
            raise InputError(
                f"Expected at least 1 sample of at least 1 point, got {n_samples} samples of {N} "
                "points."
            )
        if answers is not None and (answers.n_items != N or B != 1):
            raise InputError(
                f"Expected answers about the {N} points of one data set, got answers about "
                f"{answers.n_items} items for {B} data sets. Sample one data set at a time."
            )
        there = torch.ones(B, N, dtype=torch.bool, device=items.e.device) if mask is None else mask
        generator = generator or _own_generator(items.e.device)
        walk = _SamplePasses(self, items, there, n_samples, answers, generator)
        walk.run(resample)
        found = []
        for b in range(B):
            rows = relabel(walk.labels[b], there[b].expand(n_samples, -1))
            blank = torch.zeros_like(walk.log_weight[b])
            part = merged([Samples(rows, blank, torch.ones_like(rows[:, 0]), walk.log_weight[b])])
            mine = Items(*(one[b : b + 1, there[b]] for one in items))
            found.append(self._scored(mine, there[b], part, orders, draws, most_scored, generator))
        return found

    def _scored(
        self,
        items: Items,
        there: Tensor,
        part: Samples,
        orders: int,
        draws: int,
        most: int,
        generator: torch.Generator,
    ) -> Samples:
        if not most:
            return Samples(part.labels, part.log_prob * math.nan, part.count, part.log_weight)
        top = part.weights.argsort(descending=True, stable=True)[:most]
        rows = part.labels[top]
        log_prob = score(
            self.network, items, rows[:, there], orders=orders, latents=Latents(draws),
            generator=generator,
        ).log_prob  # fmt: skip
        best = log_prob.argsort(descending=True, stable=True)
        top = top[best]
        return Samples(part.labels[top], log_prob[best], part.count[top], part.log_weight[top])


def join_odds(
    network: ClusterwiseFunctions, items: Items, context: PassContext, z: Tensor
) -> Tensor:
    """(B, R, S, N) log-odds of joining, some points at a time so that memory stays small."""
    N = items.e.shape[1]
    size = max(1, CHUNK_POINTS // max(1, z.shape[:3].numel()))
    found = []
    for begin in range(0, N, size):
        some = slice(begin, begin + size)
        own = None if context.own is None else context.own[:, :, some]
        found.append(network.join(items.at(some), context._replace(own=own), z))
    return torch.cat(found, -1)


class _SamplePasses:
    """The passes of all samples of all data sets, (B, S) rows."""

    def __init__(
        self,
        settings: ClusterwiseSampler,
        items: Items,
        there: Tensor,
        n_samples: int,
        answers: ClusterwiseAnswers | None,
        generator: torch.Generator,
    ) -> None:
        self.settings, self.network = settings, settings.network
        self.items, self.answers, self.generator = items, answers, generator
        B, N = there.shape
        device = there.device
        self.place = torch.arange(N, device=device)
        """(M,) points that are not placed in every sample yet."""
        self.left = there[:, None].expand(B, n_samples, N).clone()  # (B, S, M)
        self.labels = torch.zeros(B, n_samples, N, dtype=torch.long, device=device)
        nothing = torch.zeros(B, 1, N, dtype=torch.bool, device=device)
        blank = self.network.describe(items, nothing)
        self.G = torch.zeros_like(blank).expand(-1, n_samples, -1).clone()
        self.log_weight = blank.new_zeros(B, n_samples)
        self.n_groups = torch.zeros(B, n_samples, dtype=torch.long, device=device)

    def run(self, resample: float) -> None:
        for _ in range(self.settings.most_passes):
            wanted = self.left.any(0).any(0)  # (M,)
            n_wanted = int(wanted.sum())
            if not n_wanted:
                return
            if 2 * n_wanted <= len(wanted):
                self._drop(wanted.nonzero()[:, 0])
            self._one_pass()
            if self.answers is not None and resample > 0:
                self._resample(resample)
        lost = self.left.any(-1)
        if not bool(lost.any()):
            return
        warnings.warn(
            f"After {self.settings.most_passes} passes {int(lost.sum())} of {lost.numel()} samples "
            f"still had up to {int(self.left.sum(-1).max())} points without a group; each became a "
            "group of its own. Such samples are not from the posterior. Raise most_passes, or use "
            "weights that fit these data.",
            stacklevel=4,
        )
        # Whatever is left: groups of their own, so that all points have one.
        number = self.n_groups[..., None] + self.left.cumsum(-1) - 1
        self._put(self.left, number)

    def _one_pass(self) -> None:
        settings, left = self.settings, self.left
        alive = left.any(-1)  # (B, S)
        rand = torch.rand(left.shape, generator=self.generator, device=left.device)
        anchor = rand.masked_fill(~left, -1.0).argmax(-1)
        rest = left.scatter(-1, anchor[..., None], False)
        odds = self._odds(rest, anchor)
        generator = None if settings.join == "threshold" else self.generator
        if self.answers is None:
            joined = joined_freely(odds, rest, generator)
        else:
            joined = self.answers.joined(odds, rest, anchor, self.place, generator)
            self.log_weight += torch.where(alive, joined.log_mass, 0.0)
        member = joined.member.scatter(-1, anchor[..., None], True) & alive[..., None]
        self._put(member, self.n_groups[..., None].expand(member.shape))
        self.G = self.G + self.network.describe(self.items, member)
        self.left = left & ~member
        self.n_groups += alive

    def _odds(self, rest: Tensor, anchor: Tensor) -> Tensor:
        """(B, S, M) with z drawn, for some samples at a time."""
        size = max(1, CHUNK_POINTS // rest.shape[-1])
        found = []
        for begin in range(0, rest.shape[1], size):
            some = slice(begin, begin + size)
            context = self.network.look(self.items, rest[:, some], anchor[:, some], self.G[:, some])
            if self.network.latent:
                z, log_std = self.network.prior(context)
                if self.settings.latent == "sample":
                    noise = torch.randn(
                        z.shape, generator=self.generator, device=z.device, dtype=z.dtype
                    )
                    z = z + log_std.exp() * noise
            else:
                z = self.G.new_zeros(*anchor[:, some].shape, 0)
            found.append(join_odds(self.network, self.items, context, z[:, :, None])[:, :, 0])
        return torch.cat(found, 1)

    def _put(self, member: Tensor, number: Tensor) -> None:
        """Members (B, S, M) get the group numbers (B, S, M)."""
        before = self.labels[..., self.place]
        self.labels[..., self.place] = torch.where(member, number, before)

    def _drop(self, kept: Tensor) -> None:
        """Drop points that every sample has placed."""
        self.items = self.items.at(kept)
        self.left, self.place = self.left[..., kept], self.place[kept]

    def _resample(self, part: float) -> None:
        """Resample by weight where few samples carry it all (one data set)."""
        w = self.log_weight[0]
        share = w.softmax(0)
        S = len(w)
        if float(1 / share.square().sum()) >= part * S:
            return
        offset = torch.rand(1, generator=self.generator, device=w.device, dtype=w.dtype)
        ticks = (torch.arange(S, device=w.device) + offset) / S
        drawn = torch.searchsorted(share.cumsum(0), ticks).clamp_max(S - 1)
        for name in ("left", "labels", "G", "n_groups"):
            setattr(self, name, getattr(self, name)[:, drawn])
        self.log_weight = (w.logsumexp(0) - math.log(S)).expand(1, S).clone()


def _own_generator(device: torch.device) -> torch.Generator:
    """A generator that follows torch's own seed."""
    seed = int(torch.randint(2**62, (1,)))
    return torch.Generator(device).manual_seed(seed)


@torch.no_grad()
def reassigned(
    network: ClusterwiseFunctions,
    x: Any,
    labels: Tensor,
    *,
    answers: ClusterwiseAnswers | None = None,
    smallest: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Groupings (P, N) of one data set `x` (1, N, ...) after one sweep; groups may vanish.

    The result is a better single grouping, not a sample of the posterior: the sweep has no
    probability, so score it again before comparing.

    Parameters
    ----------
    answers : items that an answer is about stay where they are, so all answers stay honoured.
    smallest : groups with at most this part of the points cannot attract any; their points leave
        for a group that takes them more probably than not. 0 does so with single points only.
    """
    items = network.items(x, None)
    device, N = items.e.device, items.e.shape[1]
    labels = labels.to(device)
    fixed = torch.zeros(N, dtype=torch.bool, device=device)
    if answers is not None:
        fixed = (answers.component != answers.n).to(device)
    most = max(1, int(smallest * N))
    rows = [_reassigned_one(network, items, row, fixed, most, generator) for row in labels]
    return relabel(torch.stack(rows))


def _reassigned_one(
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
    rows = max(1, CHUNK_POINTS // len(labels))
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
    uniform = torch.rand(member.shape, generator=generator, device=member.device)
    anchor = uniform.masked_fill(~member, -1.0).argmax(-1)[None]  # (1, R)
    left = torch.ones_like(member)[None].scatter(-1, anchor[..., None], False)
    G = torch.zeros_like(network.describe(items, member[None]))
    context = network.look(items, left, anchor, G)
    z = G.new_zeros(*anchor.shape, 0)
    if network.latent:
        z = network.guide(items, context, left, member[None]).mean
    return join_odds(network, items, context, z[:, :, None])[0, :, 0]
