"""The law of graphs on which the shipped weights are trained: several kinds of graphs, mixed.

Blocks of plain edges, any blocks, sparse communities with hubs and triangles as they are found
among people, and nearest neighbours of points. Which of them a graph is, the network has to see by
itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import (
    Episode,
    checked_points,
    draw_grouping,
    of_group,
)
from samekind.clusterers.ncp.amortized.graph_spectrum import N_VECTORS
from samekind.clusterers.ncp.amortized.graphs import (
    StochasticBlocks,
    beta,
    drawn_edges,
    of_pairs,
    symmetric,
    with_vectors,
)
from samekind.clusterers.ncp.amortized.priors import CRP, MFM, Prior, between


@dataclass(frozen=True)
class EitherPrior:
    """One prior for some data sets, another for the rest.

    Parameters
    ----------
    share : of the first.
    """

    first: Prior
    second: Prior
    share: float = 0.5

    def draw(self, batch: int, n: int, generator: torch.Generator) -> Tensor:
        """(batch, n) labels in order of first appearance."""
        first, second = (prior.draw(batch, n, generator) for prior in (self.first, self.second))
        return torch.where(_uniform((batch, 1), generator) < self.share, first, second)


@dataclass(frozen=True)
class Communities:
    """Sparse graphs in which nodes of a group know each other, and some nodes know many.

    The block model with corrected degrees: the probability of an edge is 1 - exp(-a b w), where a
    and b are the weights of its ends and w belongs to their groups.

    Parameters
    ----------
    degree : mean number of edges of a node, as a range on a logarithmic scale. At most a third of
        the nodes.
    contrast : how many times as many edges there are between groups as within, as a range.
    disassortative : share of graphs in which it is the other way round.
    unequal : largest standard deviation of the logarithm of a node's weight, and of a pair of
        groups.
    hubs, hub_weight : share of nodes that are hubs in a half of the graphs, and how much more
        weight they have.
    closure : largest probability that two nodes with a common neighbour are linked as well, in a
        half of the graphs.
    weighted : share of graphs whose edges have weights, which are larger within groups by up to
        twice.
    """

    degree: tuple[float, float] = (2.5, 20.0)
    contrast: tuple[float, float] = (0.02, 0.3)
    disassortative: float = 0.1
    unequal: tuple[float, float] = (1.0, 0.5)
    hubs: float = 0.08
    hub_weight: tuple[float, float] = (2.0, 8.0)
    closure: float = 0.4
    weighted: float = 0.2

    def edges(self, labels: Tensor, mask: Tensor, K: int, generator: torch.Generator) -> Tensor:
        """(B, N, N) zeros and ones."""
        B, _ = labels.shape
        rate = of_pairs(self._blocks(B, K, generator), labels)
        weight = self._weights(labels.shape, generator)
        rate = rate * weight[..., None] * weight[:, None]
        there = (mask[..., None] & mask[:, None]).float()
        there = there - torch.diag_embed(there.diagonal(dim1=1, dim2=2))
        n = mask.sum(1)[:, None, None].clamp_min(1)
        wanted = between(self.degree, (B, 1, 1), generator).minimum(n / 3)
        rate = rate * wanted * n / (rate * there).sum((1, 2), keepdim=True).clamp_min(1e-12)
        adjacency = drawn_edges(-torch.expm1(-rate), mask, generator)
        adjacency = self._closed(adjacency, mask, generator)
        return adjacency * self._edge_weights(adjacency, labels, generator)

    def _blocks(self, B: int, K: int, generator: torch.Generator) -> Tensor:
        """(B, K, K) relative rates of edges."""
        slots = torch.arange(K, device=generator.device)
        contrast = between(self.contrast, (B, 1, 1), generator)
        turned = _uniform((B, 1, 1), generator) < self.disassortative
        own, other = torch.where(turned, contrast, 1.0), torch.where(turned, 1.0, contrast)
        spread = self.unequal[1] * _uniform((B, 1, 1), generator)
        scatter = torch.randn(B, K, K, generator=generator, device=generator.device)
        level = torch.where(slots[:, None] == slots, own, other)
        return level * (spread * symmetric(scatter)).exp()

    def _weights(self, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """(B, N) how many edges each node attracts."""
        B, N = shape
        normal = torch.randn(B, N, generator=generator, device=generator.device)
        weight = (self.unequal[0] * _uniform((B, 1), generator) * normal).exp()
        is_hub = _uniform((B, N), generator) < self.hubs
        is_hub &= _uniform((B, 1), generator) < 0.5
        return torch.where(is_hub, weight * between(self.hub_weight, (B, N), generator), weight)

    def _closed(self, adjacency: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
        """Friends of friends become friends."""
        B = len(adjacency)
        chance = self.closure * _uniform((B, 1, 1), generator)
        chance = torch.where(_uniform((B, 1, 1), generator) < 0.5, chance, 0.0)
        common = ((adjacency @ adjacency) > 0).float()
        return torch.maximum(adjacency, drawn_edges(chance * common, mask, generator))

    def _edge_weights(
        self, adjacency: Tensor, labels: Tensor, generator: torch.Generator
    ) -> Tensor:
        """(B, N, N) of mean one over the edges of a graph."""
        B, N, _ = adjacency.shape
        spread = 0.8 * _uniform((B, 1, 1), generator)
        normal = torch.randn(B, N, N, generator=generator, device=generator.device)
        same = labels[..., None] == labels[:, None]
        weight = (spread * symmetric(normal)).exp()
        weight = torch.where(same, weight * (1 + _uniform((B, 1, 1), generator)), weight)
        weight = torch.where(_uniform((B, 1, 1), generator) < self.weighted, weight, 1.0)
        edges = adjacency.sum((1, 2), keepdim=True).clamp_min(1)
        return weight * edges / (weight * adjacency).sum((1, 2), keepdim=True).clamp_min(1e-12)


@dataclass(frozen=True)
class NearestNeighbours:
    """Graphs that link each of some points to those nearest to it.

    Parameters
    ----------
    dim : largest number of dimensions.
    spread : standard deviation of the centres of groups, whose points have one, as a range.
    neighbours : smallest and largest number.
    """

    dim: int = 8
    spread: tuple[float, float] = (1.5, 8.0)
    neighbours: tuple[int, int] = (4, 15)

    def edges(self, labels: Tensor, mask: Tensor, K: int, generator: torch.Generator) -> Tensor:
        """(B, N, N) zeros and ones: one of both is among the nearest of the other."""
        (B, N), d, device = labels.shape, self.dim, generator.device
        spread = between(self.spread, (B, 1, 1), generator)
        centres = spread * torch.randn(B, K, d, generator=generator, device=device)
        x = of_group(centres, labels) + torch.randn(B, N, d, generator=generator, device=device)
        count = 2 + (_uniform((B, 1, 1), generator) * (d - 1)).floor()
        x = x * (torch.arange(d, device=device) < count)
        far = (x[:, :, None] - x[:, None]).square().sum(3)  # (B, N, N)
        apart = ~torch.eye(N, dtype=torch.bool, device=device) & mask[..., None] & mask[:, None]
        far = torch.where(apart, far, torch.inf)
        low, high = self.neighbours
        wanted = low + (_uniform((B, 1, 1), generator) * (high - low + 1)).floor().long()
        wanted = wanted.minimum(mask.sum(1)[:, None, None] - 2).clamp(0, N - 1)
        reach = far.sort(dim=2).values.gather(2, (wanted - 1).clamp_min(0).expand(B, N, 1))
        near = (far <= reach) & apart
        return (near | near.mT).float()


FEW_OR_MANY = EitherPrior(
    CRP(0.7), EitherPrior(MFM(2.0, 2.0), MFM(rate=7.0, gamma=3.0, most=16), 0.8), 0.6
)
"""Most groupings by a Chinese restaurant process, a third with about three even groups,
and few with about eight: where a quarter has as many, small graphs are cut up."""


@dataclass(frozen=True)
class MixedGraphs:
    """Graphs of several laws, one of them for each.

    Parameters
    ----------
    prior : of the grouping of nodes.
    points : smallest and largest number of nodes.
    max_groups : graphs with more groups are blanked.
    plain : blocks that are denser within than between, on average; drawn with `shares[0]`.
    communities : sparse, with hubs; drawn with `shares[1]`.
    nearest : of points; drawn with `shares[2]`.
    shares : of these laws; in all other graphs each pair of blocks has a probability of its own,
        from Beta(1, 2).
    n_vectors : eigenvectors of each graph.

    >>> episode = MixedGraphs(points=(8, 10)).draw(3, torch.Generator().manual_seed(0))
    >>> episode.x.adjacency.shape, episode.labels.shape
    (torch.Size([3, 10, 10]), torch.Size([3, 10]))
    """

    prior: Prior = FEW_OR_MANY
    points: tuple[int, int] = (10, 200)
    max_groups: int = 16
    plain: StochasticBlocks = StochasticBlocks()  # noqa: RUF009
    communities: Communities = Communities()
    nearest: NearestNeighbours = NearestNeighbours()
    shares: tuple[float, float, float] = (0.35, 0.4, 0.1)
    n_vectors: int = N_VECTORS

    def of_size(self, low: int, high: int) -> Self:
        """The same with other numbers of nodes."""
        return replace(self, points=(low, high))

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch whose `x` is :class:`Graphs`; see the protocol of generators."""
        sizes = checked_points(points, self.points)
        labels, mask = draw_grouping(self.prior, batch, sizes, self.max_groups, generator)
        K, which = self.max_groups, _uniform((batch, 1, 1), generator)
        plain, some, near = self.shares
        blocks = torch.where(
            which < plain,
            replace(self.plain, max_groups=K).block_chances(batch, generator),
            symmetric(beta((1, 2), (batch, K, K), generator)),
        )
        adjacency = drawn_edges(of_pairs(blocks, labels), mask, generator)
        for law, begin, end in (
            (self.communities, plain, plain + some),
            (self.nearest, plain + some, plain + some + near),
        ):
            edges = law.edges(labels, mask, K, generator)
            adjacency = torch.where((which >= begin) & (which < end), edges, adjacency)
        return Episode(with_vectors(adjacency, mask, self.n_vectors, generator), labels, mask)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)
