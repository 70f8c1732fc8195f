"""The probability of groupings averaged over orders: what should be reported.

A network gives each order of the points another probability, the closer the better it is trained.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    law_of_steps,
    random_order,
    relabel,
    reordered,
)
from samekind.clusterers.ncp.amortized.network import Functions, Points
from samekind.clusterers.ncp.amortized.samples import Samples


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
            rows.append(chosen(law_of_steps(network, many, named), named).sum(1))
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
