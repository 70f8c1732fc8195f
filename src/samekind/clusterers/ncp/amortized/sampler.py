"""Sampler: greedy, many samples side by side, and beam search over groupings.

Samples that have made the same choices so far are one state, so five thousand samples of a clear
data set cost as much as a handful. Groupings are compared by their labels, never by their
probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.engine import Allowed, Engine, State, StepChoices
from samekind.clusterers.ncp.amortized.likelihood import random_order
from samekind.clusterers.ncp.amortized.network import Functions, Points
from samekind.clusterers.ncp.amortized.samples import Samples, in_item_order, merged
from samekind.errors import InputError

Select = Callable[[State, StepChoices], tuple[State, Tensor, Tensor]]
"""From the states of a step (perhaps with new weights) to parents and choices of the next."""
LEAST_EFFECTIVE = 0.5
"""Part of the samples that must be effective, else heavy ones are copied and light ones dropped."""


@dataclass(frozen=True)
class Sampler:
    """Draws groupings of data sets from a trained network.

    `x` is (B, N, ...): B data sets at once, padded where `mask` is False. `order` (B, N) fixes the
    order in which points are placed; without it, random orders come from `generator`. `allowed`
    limits the choices (see conditioning.py) and is about one data set.
    """

    network: Functions

    @torch.no_grad()
    def greedy(
        self,
        x: Any,
        *,
        mask: Tensor | None = None,
        order: Tensor | None = None,
        allowed: Allowed | None = None,
        generator: torch.Generator | None = None,
    ) -> list[Samples]:
        """The most probable choice at each step: one grouping per data set."""
        points = self.network.points(x, mask)

        def select(state: State, choices: StepChoices) -> tuple[State, Tensor, Tensor]:
            choice = choices.proposal.argmax(1)
            return state, torch.arange(len(choice), device=choice.device), choice

        return self._run(points, mask, _orders(points, mask, order, 1, generator), allowed, select)

    @torch.no_grad()
    def sample(
        self,
        x: Any,
        n_samples: int,
        *,
        mask: Tensor | None = None,
        order: Tensor | None = None,
        orders: int = 1,
        allowed: Allowed | None = None,
        generator: torch.Generator | None = None,
        resample: float = LEAST_EFFECTIVE,
    ) -> list[Samples]:
        """`n_samples` draws per data set, spread over so many random orders.

        Parameters
        ----------
        resample : with `allowed`, samples are redrawn by weight when fewer than this part of
            them are effective; 0 never does, and keeps plain importance weights.
        """
        if n_samples < 1:
            raise InputError(f"Expected at least 1 sample, got n_samples={n_samples}.")
        orders = min(orders, n_samples)
        points = self.network.points(x, mask)
        steps = _orders(points, mask, order, orders, generator)
        device = points.h.device
        each = _shares(n_samples, orders, device).repeat(len(points.h))  # (B * orders,)
        draws = _Draws(each, generator, resample if allowed is not None else 0.0)
        return self._run(points, mask, steps, allowed, draws, lambda: draws.where)

    @torch.no_grad()
    def beam(
        self,
        x: Any,
        width: int | None,
        *,
        mask: Tensor | None = None,
        order: Tensor | None = None,
        allowed: Allowed | None = None,
        generator: torch.Generator | None = None,
    ) -> list[Samples]:
        """The `width` most probable partial groupings at each step; None keeps all of them.

        Each grouping counts once; its weight is its probability.
        """
        points = self.network.points(x, mask)
        most = math.inf if width is None else width

        def select(state: State, choices: StepChoices) -> tuple[State, Tensor, Tensor]:
            may = choices.proposal > -torch.inf
            scores = (state.log_prob[:, None] + choices.log_probs).masked_fill(~may, -torch.inf)
            C = scores.shape[1]
            by_score = scores.flatten().argsort(descending=True, stable=True)[: int(may.sum())]
            owner = state.owner[by_score // C]
            codes = by_score[owner.argsort(stable=True)]
            size = torch.bincount(owner)
            rank = torch.arange(len(codes), device=codes.device)
            rank -= (size.cumsum(0) - size).repeat_interleave(size)
            codes = codes[rank < most]
            return state, codes // C, codes % C

        steps = _orders(points, mask, order, 1, generator)
        found = self._run(points, mask, steps, allowed, select)
        return [Samples(s.labels, s.log_prob, s.count, s.log_prob) for s in found]

    def _run(
        self,
        points: Points,
        mask: Tensor | None,
        order: Tensor,
        allowed: Allowed | None,
        select: Select,
        draws: Callable[[], Tensor] | None = None,
    ) -> list[Samples]:
        """Place all points; `draws` tells in the end which state each draw is in."""
        B, orders = len(points.h), len(order) // len(points.h)
        points = Points(*(part.repeat_interleave(orders, 0) for part in points))
        mask = None if mask is None else mask.repeat_interleave(orders, 0)
        engine = Engine(self.network, points, order, mask, allowed)
        state, path = engine.start(), []
        for step in range(order.shape[1]):
            choices = engine.look(state, step)
            state, parent, choice = select(state, choices)
            path.append((parent, choice))
            state = engine.move(state, choices, step, parent, choice)
        labels = in_item_order(_traced(path), order[state.owner])
        count = torch.ones_like(state.owner)
        if draws is not None:
            count = torch.bincount(draws(), minlength=len(count))
        found = []
        for b in range(B):
            mine = (state.owner // orders == b).nonzero()[:, 0]
            part = Samples(labels[mine], state.log_prob[mine], count[mine], state.log_weight[mine])
            found.append(merged([part]))
        return found


class _Draws:
    """Independent draws; those that made the same choices share a state."""

    def __init__(self, each: Tensor, generator: torch.Generator | None, resample: float) -> None:
        self.owner = torch.arange(len(each), device=each.device).repeat_interleave(each)
        self.where = self.owner  # the state of each draw
        self.generator, self.resample = generator, resample
        self._cut = False

    def __call__(self, state: State, choices: StepChoices) -> tuple[State, Tensor, Tensor]:
        if self._cut:
            state = self._resampled(state)
        # Weights change only where something was cut away, which ends with the answered items.
        self._cut = self.resample > 0 and bool((choices.log_mass < -1e-6).any())
        probabilities = choices.proposal.exp()[self.where]  # (draws, C)
        choice = torch.multinomial(probabilities, 1, generator=self.generator)[:, 0]
        C = probabilities.shape[1]
        codes, self.where = torch.unique(self.where * C + choice, return_inverse=True)
        return state, codes // C, codes % C

    def _resampled(self, state: State) -> State:
        """Where few draws carry all the weight, redraw by weight and make weights equal."""
        n_owners = int(self.owner[-1]) + 1
        log_weight = state.log_weight.clone()
        for b in range(n_owners):
            mine = (self.owner == b).nonzero()[:, 0]
            w = log_weight[self.where[mine]]
            share = w.softmax(0)
            if float(1 / share.square().sum()) >= self.resample * len(mine):
                continue
            # Systematic: one random offset for all.
            offset = torch.rand(1, generator=self.generator, device=w.device, dtype=w.dtype)
            ticks = (torch.arange(len(mine), device=w.device) + offset) / len(mine)
            drawn = torch.searchsorted(share.cumsum(0), ticks).clamp_max(len(mine) - 1)
            self.where[mine] = self.where[mine][drawn]
            log_weight[state.owner == b] = w.logsumexp(0) - math.log(len(mine))
        return replace(state, log_weight=log_weight)


def _orders(
    points: Points,
    mask: Tensor | None,
    order: Tensor | None,
    orders: int,
    generator: torch.Generator | None,
) -> Tensor:
    """(B * orders, N)"""
    B, N = points.h.shape[:2]
    if order is not None:
        if order.shape[1:] != (N,) or len(order) % B:
            raise InputError(
                f"Expected an order of shape ({B}, {N}), one row for each data set, got "
                f"{tuple(order.shape)}."
            )
        if len(order) not in (B, B * orders):
            raise InputError(
                f"Expected {B} or {B * orders} orders for {B} data sets, got {len(order)}."
            )
        return order.repeat_interleave(B * orders // len(order), 0)
    there = mask
    if there is None:
        there = torch.ones(B, N, dtype=torch.bool, device=points.h.device)
    return random_order(there.repeat_interleave(orders, 0), generator)


def _traced(path: list[tuple[Tensor, Tensor]]) -> Tensor:
    """(R, N) the choices that led to each of the last states."""
    at = torch.arange(len(path[-1][0]), device=path[-1][0].device)
    labels = []
    for parent, choice in reversed(path):
        labels.append(choice[at])
        at = parent[at]
    return torch.stack(labels[::-1], dim=1)


def _shares(n: int, parts: int, device: torch.device) -> Tensor:
    """(parts,) n split as evenly as possible."""
    return torch.arange(parts, device=device).lt(n % parts).long() + n // parts
