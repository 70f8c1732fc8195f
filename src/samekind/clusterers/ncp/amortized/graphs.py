"""Graphs whose blocks are known, drawn on the device with the eigenvectors that describe them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, checked_points, draw_grouping
from samekind.clusterers.ncp.amortized.graph_spectrum import N_VECTORS, leading_vectors
from samekind.clusterers.ncp.amortized.priors import CRP, Prior, between
from samekind.errors import InputError


class Graphs(NamedTuple):
    """A batch of graphs, as an encoder reads them; all is zero in the padding."""

    adjacency: Tensor
    """(B, N, N) weights of edges, symmetric, nothing on the diagonal."""
    vectors: Tensor
    """(B, N, k) eigenvectors of mean square one; their signs mean nothing."""
    values: Tensor
    """(B, k) eigenvalues of the normalised adjacency, the largest in size first."""


@dataclass(frozen=True)
class StochasticBlocks:
    """Graphs in which an edge is as probable as the blocks of its ends say.

    Parameters
    ----------
    prior : of the grouping of nodes into blocks.
    points : smallest and largest number of nodes.
    max_groups : graphs with more blocks are blanked.
    within, between : whole numbers (a, b): probabilities of edges are Beta(a, b), one for each
        block and one for each pair of blocks.
    keep : part of the edges that stays; a pair is drawn from for each graph. Below one, graphs are
        as sparse as those of the real world are.
    n_vectors : eigenvectors of the normalised adjacency, the trivial one left out, each with a
        random sign.

    >>> episode = StochasticBlocks(points=(8, 10)).draw(3, torch.Generator().manual_seed(0))
    >>> episode.x.adjacency.shape, episode.x.vectors.shape
    (torch.Size([3, 10, 10]), torch.Size([3, 10, 12]))
    """

    prior: Prior = CRP(0.7)  # noqa: RUF009 - a frozen value
    points: tuple[int, int] = (50, 299)
    max_groups: int = 12
    within: tuple[int, int] = (6, 3)
    between: tuple[int, int] = (1, 5)
    keep: float | tuple[float, float] = 1.0
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
        chance = of_pairs(self.block_chances(batch, generator), labels)
        adjacency = drawn_edges(chance, mask, generator)
        return Episode(with_vectors(adjacency, mask, self.n_vectors, generator), labels, mask)

    def block_chances(self, batch: int, generator: torch.Generator) -> Tensor:
        """(batch, K, K) probability of an edge between two blocks."""
        K = self.max_groups
        slots = torch.arange(K, device=generator.device)
        pair = symmetric(beta(self.between, (batch, K, K), generator))
        own = beta(self.within, (batch, K, 1), generator)
        kept = between(self.keep, (batch, 1, 1), generator)
        return torch.where(slots[:, None] == slots, own, pair) * kept


def symmetric(table: Tensor) -> Tensor:
    """Square tables whose lower half is replaced by the upper one."""
    upper = table.triu(1)
    return upper + upper.mT + torch.diag_embed(table.diagonal(dim1=-2, dim2=-1))


def of_pairs(table: Tensor, labels: Tensor) -> Tensor:
    """(B, K, K) values of pairs of groups as (B, N, N) values of pairs of their members."""
    rows = torch.take_along_dim(table, labels[..., None], dim=1)  # (B, N, K)
    return torch.take_along_dim(rows, labels[:, None], dim=2)


def drawn_edges(chance: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
    """(B, N, N) zeros and ones, symmetric, by the probability of each pair."""
    uniform = torch.rand(chance.shape, generator=generator, device=chance.device)
    place = torch.arange(chance.shape[1], device=chance.device)
    upper = (uniform < chance) & (place[:, None] < place) & mask[..., None] & mask[:, None]
    return (upper | upper.mT).float()


def with_vectors(
    adjacency: Tensor, mask: Tensor, n_vectors: int, generator: torch.Generator
) -> Graphs:
    """Graphs with their eigenvectors, each with a random sign."""
    vectors, values = leading_vectors(adjacency, mask, n_vectors, generator)
    uniform = torch.rand(values.shape, generator=generator, device=values.device)
    vectors = vectors * torch.where(uniform < 0.5, -1.0, 1.0)[:, None]
    return Graphs(adjacency, vectors, values)


def beta(parameters: tuple[int, int], shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Draws from Beta(a, b) for whole numbers: the a-th smallest of a + b - 1 even draws."""
    a, b = parameters
    if not (isinstance(a, int) and isinstance(b, int) and a >= 1 and b >= 1):
        raise InputError(f"Expected two whole numbers of at least 1 for Beta, got {a} and {b}.")
    uniform = torch.rand(*shape, a + b - 1, generator=generator, device=generator.device)
    return uniform.sort(dim=-1).values[..., a - 1]
