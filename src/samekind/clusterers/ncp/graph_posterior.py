"""The posterior over groups of nodes, under a network that places them one after the other.

Nodes are described by eigenvectors whose signs mean nothing, and they are placed in an order that
means nothing. A *view* is one draw of the signs; each has an order of its own, and what is reported
is the mean over views.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.graphs import Graphs
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Points
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, averaged, merged
from samekind.clusterers.ncp.central import central_costs, linkage_cuts
from samekind.clusterers.ncp.pointwise import Scored
from samekind.constraints import Constraints

Ints = NDArray[np.intp]

MAX_VIEWED_PAIRS = 16_000_000
"""Pairs of nodes that are looked at in all views together; large graphs have fewer views."""
MIN_VIEWS = 2
MAX_CANDIDATES = 8
"""Draws that are scored when the most probable grouping is sought."""
CHUNK_CHOICES = 60_000
"""Choices that are scored at a time when other nodes are placed."""


@dataclass(frozen=True)
class Encoded:
    """The functions of the process for points that are encoded already."""

    network: NCPNetwork
    given: Points

    def points(self, x: Any, mask: Tensor | None) -> Points:
        """Return the given points, whatever `x` is."""
        return self.given

    def g(self, H: Tensor) -> Tensor:
        """Describe groups."""
        return self.network.g(H)

    def context(self, U: Tensor, h: Tensor) -> Tensor:
        """Describe what all choices of a point share."""
        return self.network.context(U, h)

    def f(self, G: Tensor, context: Tensor) -> Tensor:
        """Score a choice."""
        return self.network.f(G, context)


class GraphPosterior:
    """The posterior of one graph.

    Parameters
    ----------
    network : trained on graphs.
    x : (1, N, ...) the graph.
    rows : (m,) nodes that are placed one by one; the others follow by one more step each.
    known : what the answers say about those, by position in `rows`; None: nothing.
    views : draws of the signs, each with an order of its own.
    seed : of all randomness.
    """

    def __init__(
        self,
        network: NCPNetwork,
        x: Graphs,
        rows: Ints,
        known: Constraints | None,
        views: int,
        seed: int,
    ) -> None:
        N = x.vectors.shape[1]
        self.network, self.rows, self.known = network, torch.from_numpy(rows), known
        self.generator = torch.Generator(x.vectors.device).manual_seed(seed)
        self.views = min(views, max(MIN_VIEWS, MAX_VIEWED_PAIRS // N**2))
        told = known is not None and len(known.touched) > 0
        self.answers = Answers(known) if told and known is not None else None
        self.points = self._seen(x)  # (views, N, ...)
        self.placed = Encoded(network, Points(*(part[:, self.rows] for part in self.points)))

    @torch.no_grad()
    def _seen(self, x: Graphs) -> Points:
        found = []
        for _ in range(self.views):
            coin = torch.rand(x.values.shape, generator=self.generator, device=x.values.device)
            vectors = x.vectors * torch.where(coin < 0.5, -1.0, 1.0)[:, None]
            found.append(self.network.points(x._replace(vectors=vectors), None))
        return Points(*(torch.cat(parts) for parts in zip(*found, strict=True)))

    def samples(self, n_samples: int) -> Samples:
        """Draws that honour every answer, with importance weights; at least so many."""
        each = -(-n_samples // self.views)
        drawn = Sampler(self.placed).sample(
            None, each, order=self._orders(), allowed=self.answers, generator=self.generator
        )
        return merged(drawn)

    def chosen(self, drawn: Samples, estimate: str) -> Scored:
        """Choose one grouping, among those that sampling or a greedy search find.

        ``probable``: of largest mean probability over views. ``central``: the one that is wrong
        about the fewest pairs on average over the draws (Binder's loss), also among groupings by
        linkage of the draws.
        """
        greedy = Sampler(self.placed).greedy(
            None, order=self._orders(), allowed=self.answers, generator=self.generator
        )
        firm = torch.cat([one.labels for one in greedy])
        if estimate == "central":
            together = drawn.co_membership()
            cuts = linkage_cuts(drawn, together, self.known)
            found = torch.cat([drawn.labels, firm, cuts])
            top = found[int(central_costs(found, together).argmin())][None]
        else:
            top = torch.unique(torch.cat([drawn.labels[:MAX_CANDIDATES], firm]), dim=0)
        return self._best(top, 1)

    def score(self, labels: Ints, orders: int) -> Scored:
        """The probability of a grouping of the placed nodes, without answers."""
        _, named = np.unique(labels, return_inverse=True)
        rows = torch.from_numpy(named.astype(np.int64))[None].to(self.points.h.device)
        return self._best(rows, -(-orders // self.views))

    def others(self, labels: Ints, rest: Ints) -> NDArray[np.float32]:
        """(r, K) probability of each group of the placed nodes, for other nodes, one by one."""
        K, own = int(labels.max()) + 1, torch.from_numpy(labels.astype(np.int64))
        total = np.zeros((len(rest), K), dtype=np.float32)
        for h, u in zip(self.points.h, self.points.u, strict=True):
            H = h.new_zeros(K, h.shape[1]).index_add_(0, own.to(h.device), h[self.rows])
            total += self._one_more(h[torch.from_numpy(rest)], torch.zeros_like(u[:1]), H)
        return np.asarray(total / self.views, dtype=np.float32)

    @torch.no_grad()
    def _one_more(self, h: Tensor, U: Tensor, H: Tensor) -> NDArray[np.float32]:
        """(r, K) each node placed after all others, in one of the groups with sums H (K, dh)."""
        groups = self.network.g(H)
        rest, found = groups.sum(0) - groups, []
        for part in torch.split(h, max(1, CHUNK_CHOICES // len(H))):
            context = self.network.context(U.expand(len(part), -1), part)[:, None]
            G = rest + self.network.g(H + part[:, None])  # (r, K, dg)
            found.append(self.network.f(G, context.expand(-1, len(H), -1)).softmax(1))
        return np.asarray(torch.cat(found).cpu().numpy())

    def _orders(self) -> Tensor | None:
        """(views, m) answered nodes first; None: at random."""
        return None if self.answers is None else self.answers.order(self.views, self.generator)

    def _best(self, rows: Tensor, orders: int) -> Scored:
        """The most probable of some groupings (P, m), by the mean over views and orders."""
        logs = []
        for v in range(self.views):
            view = Encoded(self.network, Points(*(p[v : v + 1] for p in self.placed.given)))
            logs.append(averaged(view, None, rows, orders=orders, generator=self.generator)[0])
        log_probs = torch.stack(logs)  # (views, P)
        mean = log_probs.logsumexp(0) - math.log(self.views)
        best = int(mean.argmax())
        labels = np.asarray(rows[best].cpu().numpy(), dtype=np.intp)
        spread = float(log_probs[:, best].std(correction=0))
        return Scored(labels, float(mean[best]), spread)
