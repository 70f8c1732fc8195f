"""The posterior under a network that places points one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.likelihood import random_order
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, averaged, merged
from samekind.clusterers.ncp.central import central_costs, linkage_cuts
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]

GREEDY_ORDERS = 8
"""Orders in which the most probable choice is made at each step, to find probable groupings."""
MAX_CANDIDATES = 16
"""Groupings whose probability is averaged over orders."""
MAX_SCORED_CHOICES = 400_000
"""Choices scored for these averages; large sets are scored in fewer orders."""
CHUNK_CHOICES = 60_000
"""Choices that are scored at a time when other items are placed."""


class Scored(NamedTuple):
    """A grouping (n,), the logarithm of its mean probability over orders, and its spread."""

    labels: Ints
    log_prob: float
    spread: float


@dataclass(frozen=True)
class Pointwise:
    """The posterior of one data set under a network that places points one by one.

    Parameters
    ----------
    network : trained.
    x : (n, d) calibrated vectors.
    known : what the answers say about them; None: nothing.
    seed : of all randomness.
    """

    network: NCPNetwork
    x: NDArray[np.float32]
    known: Constraints | None
    seed: int

    def samples(self, n_samples: int, orders: int) -> Samples:
        """Draws that honour every answer, with importance weights."""
        x, generator, answers = self._ready()
        orders = min(orders, n_samples)
        order = None if answers is None else answers.order(orders, generator)
        (found,) = Sampler(self.network).sample(
            x, n_samples, order=order, orders=orders, allowed=answers, generator=generator
        )
        return found

    def chosen(self, drawn: Samples, estimate: str) -> Scored:
        """Choose one grouping, among those that sampling or a greedy search find.

        ``probable``: of largest mean probability over orders. ``central``: the one that is wrong
        about the fewest pairs on average over the draws (Binder's loss), also among groupings by
        linkage of the draws.
        """
        x, generator, answers = self._ready()
        n = x.shape[1]
        everywhere = torch.ones(GREEDY_ORDERS, n, dtype=torch.bool, device=x.device)
        order = random_order(everywhere, generator) if answers is None else answers.order(
            GREEDY_ORDERS, generator
        )  # fmt: skip
        greedy = Sampler(self.network).greedy(
            x.expand(GREEDY_ORDERS, -1, -1), order=order, allowed=answers
        )
        if estimate == "central":
            together = drawn.co_membership()
            cuts = linkage_cuts(drawn, together, self.known)
            found = torch.cat([drawn.labels, *(one.labels for one in greedy), cuts])
            top = found[int(central_costs(found, together).argmin())][None]
        else:
            top = _first(merged([*greedy, _first(drawn, MAX_CANDIDATES)]), MAX_CANDIDATES).labels
        orders = int(np.clip(MAX_SCORED_CHOICES // (top.numel() * (int(top.max()) + 2)), 2, 16))
        mean, spread = averaged(self.network, x, top, orders=orders, generator=generator)
        best = int(mean.argmax())
        return Scored(_numbers(top[best]), float(mean[best]), float(spread[best]))

    def score(self, labels: Ints, orders: int) -> Scored:
        """The probability of a grouping, without answers."""
        x, generator, _ = self._ready()
        _, named = np.unique(labels, return_inverse=True)
        rows = torch.from_numpy(named.astype(np.int64))[None].to(x.device)
        mean, spread = averaged(self.network, x, rows, orders=orders, generator=generator)
        return Scored(named.astype(np.intp), float(mean[0]), float(spread[0]))

    def predictor(self, labels: Ints) -> PointwisePredictor:
        """Places further items, given these groups."""
        return PointwisePredictor.of(self.network, self.x, labels)

    def _ready(self) -> tuple[Tensor, torch.Generator, Answers | None]:
        device = next(self.network.parameters()).device
        x = torch.from_numpy(self.x)[None].to(device)
        generator = torch.Generator(device).manual_seed(self.seed)
        told = self.known is not None and len(self.known.touched) > 0
        return x, generator, Answers(self.known) if told and self.known is not None else None


@dataclass(frozen=True)
class PointwisePredictor:
    """One more step: the group of an item when all others are placed (U is zero).

    Each item is placed on its own, so the others that come with it do not matter.
    """

    H: Floats
    """(K, dh) sums over members."""
    seen: tuple[Floats, ...]
    """(m, d) for each block of attention: what it saw of the placed items."""

    @classmethod
    @torch.no_grad()
    def of(cls, network: NCPNetwork, x: NDArray[np.float32], labels: Ints) -> PointwisePredictor:
        """From the groups 0..K-1 of placed items."""
        h = network.points(_rows(network, x), None).h[0].cpu().numpy()
        H = np.zeros((int(labels.max()) + 1, h.shape[1]), dtype=np.float64)
        np.add.at(H, labels, h)
        seen = network.summaries(_rows(network, x))
        return cls(H.astype(np.float32), tuple(part[0].cpu().numpy() for part in seen))

    @torch.no_grad()
    def __call__(self, network: NCPNetwork, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, K) probability of each group, given that it is one of them."""
        K = len(self.H)
        found = np.empty((len(x), K), dtype=np.float32)
        H = torch.from_numpy(self.H).to(next(network.parameters()).device)
        groups = network.g(H)  # (K, dg)
        rest = groups.sum(0) - groups
        seen = [torch.from_numpy(part)[None].to(H.device) for part in self.seen]
        step = max(1, CHUNK_CHOICES // K)
        for start in range(0, len(x), step):
            points = network.points(_rows(network, x[start : start + step]), None, seen)
            h = points.h[0]
            context = network.context(torch.zeros_like(points.u[0]), h)
            G = rest + network.g(H + h[:, None])  # (m, K, dg)
            scores = network.f(G, context[:, None].expand(-1, K, -1))
            found[start : start + step] = scores.softmax(1).cpu().numpy()
        return found


def _rows(network: NCPNetwork, x: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(x))[None].to(next(network.parameters()).device)


def _first(samples: Samples, count: int) -> Samples:
    return Samples(
        samples.labels[:count], samples.log_prob[:count], samples.count[:count],
        samples.log_weight[:count],
    )  # fmt: skip


def _numbers(labels: Tensor) -> Ints:
    return np.asarray(labels.cpu().numpy(), dtype=np.intp)
