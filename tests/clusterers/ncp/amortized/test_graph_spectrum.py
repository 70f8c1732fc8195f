"""Eigenvectors that are drawn along with graphs are those of the library."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from samekind.clusterers.ncp.amortized.graph_laws import MixedGraphs
from samekind.clusterers.ncp.amortized.graph_reading import described
from samekind.clusterers.ncp.amortized.graph_spectrum import leading_vectors


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_all_laws_have_the_vectors_and_values_of_the_library() -> None:
    x, _, mask = MixedGraphs(points=(12, 120)).draw(24, chance(3))
    for b in mask.any(1).nonzero()[:, 0].tolist():
        n = int(mask[b].sum())
        exact = described(sparse.csr_array(x.adjacency[b, :n, :n].numpy()), 12)
        size, found = exact.values[0].abs(), x.values[b].abs()
        torch.testing.assert_close(found, size, atol=0.03, rtol=0)
        # In the noise eigenvalues are close to each other, and their vectors may mix.
        clear = int((size > max(0.1, 1.3 * float(size[-1]))).sum())
        cosine = (x.vectors[b, :n].T @ exact.vectors[0] / n).abs()
        assert clear == 0 or float(cosine[:, :clear].square().sum(0).min()) > 0.98


def test_a_graph_smaller_than_the_block_of_vectors_has_zeros_behind() -> None:
    ring = torch.zeros(1, 7, 7)
    for i in range(7):
        ring[0, i, (i + 1) % 7] = ring[0, (i + 1) % 7, i] = 1.0
    vectors, values = leading_vectors(ring, torch.ones(1, 7, dtype=torch.bool), 12, chance())
    # Half of the degree that is normalised by comes from the small edges to all nodes.
    expected = sorted((abs(np.cos(2 * np.pi * k / 7)) / 2 for k in range(1, 7)), reverse=True)
    np.testing.assert_allclose(values[0, :6].abs(), expected, atol=1e-4)
    assert not values[0, 6:].any() and not vectors[0, :, 6:].any()
    np.testing.assert_allclose(vectors[0, :, :6].T @ vectors[0, :, :6], 7 * np.eye(6), atol=1e-3)


def test_padding_and_values_of_graphs_without_edges_are_zero() -> None:
    table = torch.zeros(2, 6, 6)
    table[0, :4, :4] = 1 - torch.eye(4)
    mask = torch.tensor([[True] * 4 + [False] * 2, [True] * 6])
    vectors, values = leading_vectors(table, mask, 5, chance())
    assert not vectors[0, 4:].any() and not values[1].any()
    assert bool(torch.isfinite(vectors).all()) and bool(vectors[0, :4].any())
