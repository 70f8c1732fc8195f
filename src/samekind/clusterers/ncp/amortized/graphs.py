"""Graphs whose blocks are known, drawn on the device with the eigenvectors that describe them.

All is made of products and sums of fixed shape: nothing waits for the device, so that a training
step that contains a draw can be recorded. (Eigenvalue routines of libraries wait, to see whether
they have failed.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, checked_points, draw_grouping
from samekind.clusterers.ncp.amortized.priors import CRP, Prior, between
from samekind.compute import matmul_precision
from samekind.errors import InputError

N_VECTORS = 20
"""Eigenvectors that describe a node."""
GUARD, ROUNDS, DEGREE = 8, 5, 6
"""Further vectors that are iterated along, rounds of iteration, and products in each."""
SWEEPS = 4
"""Of rotations until a small matrix is diagonal."""


class Graphs(NamedTuple):
    """A batch of graphs, as an encoder reads them; all is zero in the padding."""

    adjacency: Tensor
    """(B, N, N) weights of edges, symmetric, nothing on the diagonal."""
    vectors: Tensor
    """(B, N, k) eigenvectors of mean square one; their signs mean nothing."""
    values: Tensor
    """(B, k) eigenvalues of the normalised adjacency, largest first: one minus the Laplacian's."""


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
    n_vectors : eigenvectors of the Laplacian, the trivial one left out, each with a random sign.

    >>> episode = StochasticBlocks(points=(8, 10)).draw(3, torch.Generator().manual_seed(0))
    >>> episode.x.adjacency.shape, episode.x.vectors.shape
    (torch.Size([3, 10, 10]), torch.Size([3, 10, 20]))
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
        adjacency = self._edges(labels, mask, generator)
        vectors, values = leading_vectors(adjacency, self.n_vectors, generator)
        uniform = torch.rand(values.shape, generator=generator, device=values.device)
        vectors = vectors * torch.where(uniform < 0.5, -1.0, 1.0)[:, None]
        return Episode(Graphs(adjacency, vectors, values), labels, mask)

    def _edges(self, labels: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
        """(B, N, N) zeros and ones."""
        (B, N), K, device = labels.shape, self.max_groups, generator.device
        slots = torch.arange(K, device=device)
        pair = beta(self.between, (B, K, K), generator)
        pair = torch.where(slots[:, None] < slots, pair, pair.mT)
        edge = torch.where(
            slots[:, None] == slots, beta(self.within, (B, K, 1), generator), pair
        ) * between(self.keep, (B, 1, 1), generator)
        rows = torch.take_along_dim(edge, labels[..., None], dim=1)  # (B, N, K)
        edge = torch.take_along_dim(rows, labels[:, None], dim=2)  # (B, N, N)
        uniform = torch.rand(B, N, N, generator=generator, device=device)
        place = torch.arange(N, device=device)
        upper = (uniform < edge) & (place[:, None] < place) & mask[..., None] & mask[:, None]
        return (upper | upper.mT).float()


def beta(parameters: tuple[int, int], shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Draws from Beta(a, b) for whole numbers: the a-th smallest of a + b - 1 even draws."""
    a, b = parameters
    if not (isinstance(a, int) and isinstance(b, int) and a >= 1 and b >= 1):
        raise InputError(f"Expected two whole numbers of at least 1 for Beta, got {a} and {b}.")
    uniform = torch.rand(*shape, a + b - 1, generator=generator, device=generator.device)
    return uniform.sort(dim=-1).values[..., a - 1]


def leading_vectors(
    adjacency: Tensor, n_vectors: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """(B, N, k) eigenvectors of normalised adjacencies, (B, k) eigenvalues, the largest first.

    These are the smallest of the Laplacian, without the trivial one. Nodes without edges have
    zeros; where there are fewer vectors than asked for, the rest is zero. A block of vectors is
    iterated with a polynomial that damps what is below the block (Chebyshev), and then turned so
    that each is an eigenvector.
    """
    B, N, _ = adjacency.shape
    degree = adjacency.sum(2, keepdim=True)  # (B, N, 1)
    linked = degree > 0
    scale = torch.where(linked, degree, 1.0).rsqrt()
    spread = adjacency * scale * scale.mT
    trivial = degree.sqrt() / degree.sum(1, keepdim=True).clamp_min(1e-12).sqrt()
    m = min(n_vectors + GUARD, N) + 1
    m -= m % 2
    block = torch.randn(B, N, m, generator=generator, device=adjacency.device) * linked
    with matmul_precision("highest"):  # orthogonal vectors need it, whatever training allows
        damped = adjacency.new_zeros(B, 1, 1)
        for _ in range(ROUNDS):
            block = _orthonormal(_filtered(spread, block, damped), trivial)
            quotients = (block * (spread @ block)).sum(1, keepdim=True)
            damped = quotients.amin(2, keepdim=True).clamp(0.0, 0.9)
        turn, values = _diagonal(block.mT @ spread @ block)
        vectors = block @ turn
    there = vectors.square().sum(1) > 0.5  # a block larger than the graph has empty columns
    best = torch.where(there, values, -2.0).argsort(dim=1, descending=True)[:, :n_vectors]
    vectors = torch.take_along_dim(vectors, best[:, None], dim=2)
    found = torch.where(there, values, 0.0).gather(1, best)
    missing = n_vectors - found.shape[1]
    vectors = vectors * linked.sum(1, keepdim=True).sqrt()
    pad = torch.nn.functional.pad
    return pad(vectors, (0, missing)), pad(found, (0, missing))


def _filtered(spread: Tensor, block: Tensor, damped: Tensor) -> Tensor:
    """A polynomial that is at most one on [-1, damped] and grows fast above it."""
    centre, half = (damped - 1) / 2, (damped + 1) / 2
    before, now = block, (spread @ block - centre * block) / half
    for _ in range(DEGREE - 1):
        before, now = now, 2 * (spread @ now - centre * now) / half - before
    return now


def _orthonormal(block: Tensor, first: Tensor) -> Tensor:
    """Columns of length one, orthogonal to `first` and to each other; zero if nothing is left."""
    done = torch.cat([first, torch.zeros_like(block)], dim=2)
    for k in range(block.shape[2]):
        column = block[:, :, k : k + 1]
        before = column.square().sum(1, keepdim=True).sqrt()
        for _ in range(2):  # once leaves rounding errors
            column = column - done @ (done.mT @ column)
        length = column.square().sum(1, keepdim=True).sqrt()
        kept = length > 1e-6 * before
        done[:, :, k + 1 : k + 2] = torch.where(kept, column / torch.where(kept, length, 1.0), 0.0)
    return done[:, :, 1:]


def _diagonal(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvectors (B, m, m) and eigenvalues (B, m) of small matrices, m even, by rotations.

    Jacobi's method: in each round every index has one partner, and all pairs turn at once.
    """
    B, m, _ = matrix.shape
    eye = torch.eye(m, device=matrix.device, dtype=matrix.dtype).expand(B, m, m)
    turned, seat = eye, torch.arange(m, device=matrix.device)
    for _ in range(SWEEPS * (m - 1)):
        p, q = seat[: m // 2], seat[m // 2 :].flip(0)
        off, on_p, on_q = matrix[:, p, q], matrix[:, p, p], matrix[:, q, q]
        small = off.abs() < 1e-12
        slope = (on_q - on_p) / (2 * torch.where(small, 1.0, off))
        tangent = torch.where(slope >= 0, 1.0, -1.0) / (slope.abs() + (1 + slope.square()).sqrt())
        tangent = torch.where(small, 0.0, tangent)
        cosine = (1 + tangent.square()).rsqrt()
        rotation = eye.clone()
        rotation[:, p, p] = cosine
        rotation[:, q, q] = cosine
        rotation[:, p, q] = tangent * cosine
        rotation[:, q, p] = -tangent * cosine
        matrix, turned = rotation.mT @ matrix @ rotation, turned @ rotation
        seat = torch.cat([seat[:1], seat[-1:], seat[1:-1]])  # everyone but the first moves on
    return turned, matrix.diagonal(dim1=1, dim2=2)
