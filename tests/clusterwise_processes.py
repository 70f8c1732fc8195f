"""Clusterwise processes for tests: in closed form, with random weights, and with plain rules."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from closed_form import VECTORS, table
from samekind.clusterers.ncp.amortized.clusterwise import (
    ClusterwiseNetwork,
    ClusterwiseSizes,
    Items,
    Normal,
    PassContext,
)
from samekind.clusterers.ncp.amortized.clusterwise_probability import (
    Latents,
    Noise,
    Scored,
    _log_groups,
    score,
)

CCP = VECTORS["ccp"]
X = table(CCP["x"])[None]


class ClosedCCP:
    """The clusterwise functions that are written down in the test vectors."""

    latent = 0

    def __init__(self) -> None:
        self.C, self.v = table(CCP["C"]), table(CCP["v"])

    def items(self, x: Tensor, mask: Tensor | None) -> Items:
        h = torch.stack([x[..., 0] ** 2, x[..., 1], torch.ones_like(x[..., 0])], -1)
        return Items(x, h, x, x)

    def describe(self, items: Items, member: Tensor) -> Tensor:
        mean = member.double() @ items.h / member.sum(-1, keepdim=True).clamp_min(1)
        return torch.tanh(mean @ self.C)

    def look(self, items: Items, left: Tensor, anchor: Tensor, G: Tensor) -> PassContext:
        U = left.double() @ items.u / left.sum(-1, keepdim=True).clamp_min(1)
        return PassContext(torch.take_along_dim(items.e, anchor[..., None], 1), U, G)

    def prior(self, context: PassContext) -> Normal:
        raise AssertionError("there is no z")

    def guide(self, items: Items, context: PassContext, left: Tensor, member: Tensor) -> Normal:
        raise AssertionError("there is no z")

    def join(self, items: Items, context: PassContext, z: Tensor) -> Tensor:
        known = torch.cat([context.anchor, context.U, context.G], -1) @ self.v[2:] + 0.3
        return ((items.first @ self.v[:2])[:, None] + known[..., None])[:, :, None]


def network(**sizes: Any) -> ClusterwiseNetwork:
    """A random network in double precision whose probabilities are far from even."""
    torch.manual_seed(3)
    settings = {"width": 8, "features": 8, "latent": 2, "heads": 2, "inducing": 4, **sizes}
    made = ClusterwiseNetwork(ClusterwiseSizes(**settings)).double()
    for value in made.parameters():
        value.data.mul_(2.0)
    return made


def points(n: int, seed: int = 1) -> Tensor:
    return torch.randn(1, n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class Quarters(ClosedCCP):
    """Points join when they lie in the anchor's quarter of the plane, for sure."""

    def join(self, items: Items, context: PassContext, z: Tensor) -> Tensor:
        near = (items.e[:, None].sign() == context.anchor[:, :, None].sign()).all(-1)
        return torch.where(near, 50.0, -50.0).double()[:, :, None]


class Loners(ClosedCCP):
    """Nobody joins anybody."""

    def join(self, items: Items, context: PassContext, z: Tensor) -> Tensor:
        shape = (*context.anchor.shape[:2], 1, items.e.shape[1])
        return torch.full(shape, -50.0, dtype=torch.float64)


def log_partition(network: Any, x: Tensor, labels: Tensor, **settings: Any) -> Scored:
    """Log-probability of groupings (P, N) of one data set x (1, N, ...)."""
    return score(network, network.items(x, None), labels, **settings)


@torch.no_grad()
def log_ordered(network: Any, x: Tensor, labels: Tensor, latents: Latents | None = None) -> Tensor:
    """(P,) log-probability of groupings whose groups are taken in the order of their numbers."""
    items = network.items(x, None)
    noise = Noise(network, items, latents or Latents(), None)
    found = []
    for row in labels:
        members = row == torch.unique(row)[:, None]  # (K, N)
        K = len(members)
        before = torch.ones(K, K, dtype=torch.bool).tril(-1)
        found.append(_log_groups(network, items, members, before, torch.arange(K), noise).sum())
    return torch.stack(found)
