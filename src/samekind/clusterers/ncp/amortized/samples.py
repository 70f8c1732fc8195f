"""Groupings drawn from a posterior, averages over them, and their probability over orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    random_order,
    relabel,
    reordered,
    step_distributions,
)
from samekind.clusterers.ncp.amortized.network import Functions, Points


@dataclass(frozen=True)
class Samples:
    """P different groupings of one data set, the most probable first.

    Parameters
    ----------
    labels : (P, N) in order of first appearance.
    log_prob : (P,) under the network, for the order in which points were placed (the mean of the
        probability where several orders led here); :func:`averaged` gives that over more orders.
    count : (P,) how often each was drawn.
    log_weight : (P,) logarithm of the importance weight of one draw: 0 without answers.
    """

    labels: Tensor
    log_prob: Tensor
    count: Tensor
    log_weight: Tensor

    @property
    def weights(self) -> Tensor:
        """(P,) share of each grouping in averages; they add up to one."""
        return (self.count.to(self.log_weight.dtype).log() + self.log_weight).softmax(0)

    @property
    def best(self) -> Tensor:
        """(N,) the most probable grouping that was found."""
        return self.labels[int(self.log_prob.argmax())]

    @property
    def n_groups(self) -> Tensor:
        """(P,) groups of each grouping."""
        return self.labels.max(1).values + 1

    @property
    def n_effective(self) -> float:
        """How many equally weighted draws these are worth."""
        weight = self.weights / self.count.clamp_min(1)
        return float(1 / (weight.square() * self.count).sum().clamp_min(1e-30))

    def n_groups_distribution(self) -> Tensor:
        """(K + 1,) distribution of the number of groups, from 0 on."""
        empty = self.weights.new_zeros(int(self.n_groups.max()) + 1)
        return empty.index_add(0, self.n_groups, self.weights)

    def co_membership(self) -> Tensor:
        """(N, N) probability that two items are in one group."""
        N = self.labels.shape[1]
        together = self.weights.new_zeros(N, N)
        for k in range(int(self.labels.max()) + 1):
            inside = (self.labels == k).to(self.weights.dtype)  # (P, N)
            together += (inside * self.weights[:, None]).T @ inside
        return together


def merged(parts: Sequence[Samples]) -> Samples:
    """One set of samples of several; groupings that are the same are counted together."""
    labels, place = torch.unique(torch.cat([s.labels for s in parts]), dim=0, return_inverse=True)
    count = torch.cat([s.count for s in parts])
    log_weight, log_prob = (
        torch.cat([getattr(s, name) for s in parts]) for name in ("log_weight", "log_prob")
    )
    counts = torch.zeros(len(labels), dtype=count.dtype, device=count.device)
    counts.index_add_(0, place, count)
    found = torch.bincount(place, minlength=len(labels))
    # Probabilities of one grouping from several orders are averaged, not its logarithms.
    mean_prob = _log_sum(log_prob, place, len(labels)) - found.to(log_prob.dtype).log()
    mass = _log_sum(count.to(log_weight.dtype).log() + log_weight, place, len(labels))
    best = mean_prob.argsort(descending=True, stable=True)
    weight = mass - counts.to(mass.dtype).log()
    return Samples(labels[best], mean_prob[best], counts[best], weight[best])


def in_item_order(labels: Tensor, order: Tensor) -> Tensor:
    """(R, N) labels by step to labels by item, again in order of first appearance."""
    return relabel(torch.zeros_like(labels).scatter(1, order, labels))


def _log_sum(values: Tensor, place: Tensor, n: int) -> Tensor:
    """Logarithm of the sum of exp(values) that fall on each place."""
    least = torch.full((n,), -torch.inf, dtype=values.dtype, device=values.device)
    top = least.scatter_reduce(0, place, values, "amax")
    total = torch.zeros_like(top).index_add(0, place, (values - top[place]).exp())
    return top + total.log()


@torch.no_grad()
def averaged(
    network: Functions,
    x: Any,
    labels: Tensor,
    *,
    orders: int = 16,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Log of the probability averaged over random orders, and its spread over them.

    `x` is one data set (1, N, ...), `labels` (P, N) groupings of it; both results are (P,). All
    groupings are scored in the same orders, so their averages add up to at most one.
    """
    points = network.points(x, None)
    everywhere = torch.ones(points.h.shape[:2], dtype=torch.bool, device=points.h.device)
    found = []
    for _ in range(orders):
        order = random_order(everywhere, generator)
        placed = reordered(points, order)
        rows = []
        for one in torch.split(labels.to(points.h.device), _rows_at_once(labels)):
            named = relabel(one.gather(1, order.expand_as(one)))
            many = Points(*(part.expand(len(one), -1, -1) for part in placed))
            rows.append(chosen(step_distributions(network, many, named), named).sum(1))
        found.append(torch.cat(rows))
    log_probs = torch.stack(found)  # (orders, P)
    return log_probs.logsumexp(0) - math.log(orders), log_probs.std(0, correction=0)


def rescored(
    network: Functions,
    x: Any,
    samples: Samples,
    *,
    orders: int = 16,
    most: int = 100,
    generator: torch.Generator | None = None,
) -> Samples:
    """The `most` weighty of the samples, the most probable over many orders first.

    Counts and weights stay; those that are left out are the rarest.
    """
    top = samples.weights.argsort(descending=True)[:most]
    mean, _ = averaged(network, x, samples.labels[top], orders=orders, generator=generator)
    top, mean = top[mean.argsort(descending=True)], mean.sort(descending=True).values
    return replace(
        samples,
        labels=samples.labels[top],
        log_prob=mean,
        count=samples.count[top],
        log_weight=samples.log_weight[top],
    )


def _rows_at_once(labels: Tensor) -> int:
    """How many groupings are scored together, so that memory stays small."""
    return max(1, 200_000 // max(1, labels.shape[1] * (int(labels.max()) + 2)))
