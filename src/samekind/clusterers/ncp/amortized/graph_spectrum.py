"""Eigenvectors of graphs, drawn along with them on the device.

On a GPU all is made of products and sums of fixed shape: nothing waits for the device, so that a
training step that contains a draw can be recorded. (Eigenvalue routines of libraries wait, to see
whether they have failed.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from samekind.compute import matmul_precision

N_VECTORS = 12
"""Eigenvectors that describe a node."""
GUARD, ROUNDS, DEGREE = 4, 4, 6
"""Further vectors that are iterated along, rounds of iteration, and products in each."""
MAX_RATIO = 8.0
"""By how much the largest eigenvalue may exceed what is damped: growth beyond all precision would
make all vectors of the block the same one."""
NOTHING = 1e-4
"""Eigenvalues up to this size count as 0."""
SWEEPS = 3
"""Of rotations until a small matrix is diagonal."""


def leading_vectors(
    adjacency: Tensor, mask: Tensor, n_vectors: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """(B, N, k) eigenvectors of normalised adjacencies and (B, k) eigenvalues, largest |.| first.

    Each pair of nodes has a small edge more, the mean degree in all for each node: without it the
    vectors of sparse graphs tell nothing but a few nodes at their rim apart. The trivial vector is
    left out, and so are vectors of the eigenvalue 0, which could be any; there the rest is zero.
    """
    exact = torch.float32 if adjacency.device.type in ("cpu", "mps") else torch.float64
    there = mask[..., None].to(exact)  # (B, N, 1)
    n = there.sum(1, keepdim=True).clamp_min(1)
    degree = adjacency.sum(2, keepdim=True).to(exact)
    extra = degree.sum(1, keepdim=True) / n  # (B, 1, 1)
    full = torch.where(there > 0, degree + extra, 0.0)
    scale = torch.where(full > 0, full, 1.0).rsqrt() * there
    spread = (adjacency + extra / n) * scale * scale.mT
    trivial = full.sqrt() / full.sum(1, keepdim=True).clamp_min(1e-12).sqrt()
    if adjacency.device.type == "cpu":
        values, vectors = torch.linalg.eigh(spread - trivial @ trivial.mT)
    else:
        values, vectors = iterated_vectors(spread, trivial, there, n_vectors, generator)
    best = values.abs().argsort(dim=1, descending=True)[:, :n_vectors]
    values = values.gather(1, best)
    vectors = torch.take_along_dim(vectors, best[:, None], dim=2) * n.sqrt()
    vectors = torch.where(values.abs()[:, None] > NOTHING, vectors * there, 0.0)
    missing = n_vectors - values.shape[1]
    pad = torch.nn.functional.pad
    return pad(vectors, (0, missing)).float(), pad(values, (0, missing)).float()


def iterated_vectors(
    spread: Tensor, trivial: Tensor, there: Tensor, n_vectors: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Eigenvalues (B, m) and vectors (B, N, m) of the matrices `spread`, some more than needed.

    A block of vectors is iterated with a polynomial that damps what is below the block
    (Chebyshev), and then turned so that each is an eigenvector.
    """
    B, N, _ = spread.shape
    m = min(n_vectors + GUARD, N) + 1
    m -= m % 2
    block = torch.randn(B, N, m, generator=generator, device=spread.device).to(spread) * there
    with matmul_precision("highest"):  # orthogonal vectors need it, whatever training allows
        damped = spread.new_full((B, 1, 1), 1 / MAX_RATIO)
        for turn in range(ROUNDS):
            block = orthonormal(_filtered(spread, block, damped), trivial)
            if turn < ROUNDS - 1:
                quotients = (block * (spread @ block)).sum(1, keepdim=True).abs()
                least, most = quotients.amin(2, keepdim=True), quotients.amax(2, keepdim=True)
                damped = torch.maximum(least, most / MAX_RATIO).clamp(0.02, 0.9)
        block = orthonormal(block, trivial)  # once leaves rounding errors
        turned, values = diagonal(block.mT @ spread @ block)
        vectors = block @ turned
    # A block larger than the graph has empty columns.
    return torch.where(vectors.square().sum(1) > 0.5, values, 0.0), vectors


def _filtered(spread: Tensor, block: Tensor, damped: Tensor) -> Tensor:
    """A polynomial that is at most one on [-damped, damped] and grows fast outside."""
    before, now = block, (spread @ block) / damped
    for _ in range(DEGREE - 1):
        before, now = now, 2 * (spread @ now) / damped - before
    return now


def orthonormal(block: Tensor, first: Tensor) -> Tensor:
    """Columns of length one, orthogonal to `first` and to each other; zero if nothing is left."""
    length = block.square().sum(1, keepdim=True).sqrt()
    block = block / torch.where(length > 0, length, 1.0)
    tiny = 1e-6 if block.dtype == torch.float32 else 1e-11
    done = torch.cat([first, torch.zeros_like(block)], dim=2)
    for k in range(block.shape[2]):
        column = block[:, :, k : k + 1]
        column = column - done[:, :, : k + 1] @ (done[:, :, : k + 1].mT @ column)
        length = column.square().sum(1, keepdim=True).sqrt()
        kept = length > tiny
        done[:, :, k + 1 : k + 2] = torch.where(kept, column / torch.where(kept, length, 1.0), 0.0)
    return done[:, :, 1:]


def diagonal(matrix: Tensor) -> tuple[Tensor, Tensor]:
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
