"""Eigenvectors that are drawn along with graphs are those of the library."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from samekind.clusterers.ncp.amortized.graph_laws import MixedGraphs
from samekind.clusterers.ncp.amortized.graph_reading import described
from samekind.clusterers.ncp.amortized.graph_spectrum import iterated_vectors, leading_vectors


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def iterated(table: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues and vectors of normalised graphs, as a GPU finds them."""
    degree = table.sum(2, keepdim=True).double()
    there = mask[..., None].double()
    full = (degree + degree.sum(1, keepdim=True) / there.sum(1, keepdim=True)) * there
    scale = torch.where(full > 0, full, 1.0).rsqrt() * there
    extra = degree.sum(1, keepdim=True) / there.sum(1, keepdim=True).square()
    spread = (table.double() + extra) * scale * scale.mT
    trivial = full.sqrt() / full.sum(1, keepdim=True).sqrt()
    return iterated_vectors(spread, trivial, there, 12, chance())


def test_all_laws_have_the_vectors_and_values_that_one_graph_alone_has() -> None:
    x, _, mask = MixedGraphs(points=(12, 120)).draw(24, chance(3))
    usable = mask.any(1) & (x.adjacency.sum((1, 2)) > 0)
    values, vectors = iterated(x.adjacency[usable], mask[usable])
    for b, row in enumerate(usable.nonzero()[:, 0].tolist()):
        n = int(mask[row].sum())
        exact = described(sparse.csr_array(x.adjacency[row, :n, :n].numpy()), 12)
        size = exact.values[0].abs()
        torch.testing.assert_close(x.values[row].abs(), size, atol=1e-4, rtol=0)
        best = values[b].abs().sort(descending=True)
        torch.testing.assert_close(best.values[:12].float(), size, atol=0.03, rtol=0)
        # In the noise eigenvalues are close to each other, and their vectors may mix.
        clear = int((size > max(0.1, 1.3 * float(size[-1]))).sum())
        for found in (x.vectors[row, :n], vectors[b, :n][:, best.indices[:12]] * n**0.5):
            cosine = (found.float().T @ exact.vectors[0] / n).abs()
            assert clear == 0 or float(cosine[:, :clear].square().sum(0).min()) > 0.98


def test_a_graph_smaller_than_the_block_of_vectors_has_zeros_behind() -> None:
    ring = torch.zeros(1, 7, 7)
    for i in range(7):
        ring[0, i, (i + 1) % 7] = ring[0, (i + 1) % 7, i] = 1.0
    # Half of the degree that is normalised by comes from the small edges to all nodes.
    expected = sorted((abs(np.cos(2 * np.pi * k / 7)) / 2 for k in range(1, 7)), reverse=True)
    everywhere = torch.ones(1, 7, dtype=torch.bool)
    vectors, values = leading_vectors(ring, everywhere, 12, chance())
    np.testing.assert_allclose(values[0, :6].abs(), expected, atol=1e-4)
    assert not values[0, 6:].round(decimals=5).any() and not vectors[0, :, 6:].any()
    np.testing.assert_allclose(vectors[0, :, :6].T @ vectors[0, :, :6], 7 * np.eye(6), atol=1e-3)
    by_blocks = iterated(ring, everywhere)[0][0].abs().sort(descending=True).values
    np.testing.assert_allclose(by_blocks[:6], expected, atol=1e-4)


def test_padding_and_values_of_graphs_without_edges_are_zero() -> None:
    table = torch.zeros(2, 6, 6)
    table[0, :4, :4] = 1 - torch.eye(4)
    mask = torch.tensor([[True] * 4 + [False] * 2, [True] * 6])
    vectors, values = leading_vectors(table, mask, 5, chance())
    assert not vectors[0, 4:].any() and not vectors[1].any() and not values[1].any()
    assert bool(torch.isfinite(vectors).all()) and bool(vectors[0, :4].any())
