"""Graphs of a user are read alike in every form, and odd ones are refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from samekind.clusterers.ncp.amortized import graph_reading
from samekind.clusterers.ncp.amortized.graph_reading import described, read_graph
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.errors import InputError


def blocks(n: int = 14, seed: int = 0) -> np.ndarray:
    data = StochasticBlocks(points=(n, n), n_vectors=6)
    x, _, mask = data.draw(8, torch.Generator().manual_seed(seed))
    table: np.ndarray = x.adjacency[int(mask.any(1).int().argmax())].numpy()
    return table


class Net:
    """As much of a networkx graph as is read."""

    def __init__(self, nodes: list[Any], edges: list[tuple[Any, ...]], directed: bool = False):
        self.nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self) -> bool:
        return self._directed

    def edges(self, data: str, default: float) -> list[tuple[Any, ...]]:
        return [(a, b, (*rest, {})[0].get(data, default)) for a, b, *rest in self._edges]


def test_a_networkx_graph_and_adjacencies_are_read_alike() -> None:
    nx = pytest.importorskip("networkx")
    club = nx.karate_club_graph()
    nodes, table = read_graph(club)
    plain = nx.to_numpy_array(club)
    assert nodes == tuple(club) and table.nnz == 2 * club.number_of_edges()
    np.testing.assert_allclose(table.toarray(), plain / plain[plain > 0].mean())
    for other in (plain, sparse.coo_array(plain)):
        np.testing.assert_allclose(read_graph(other).table.toarray(), table.toarray())
    doubled = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert read_graph(doubled).table.toarray()[0, 1] == pytest.approx(4 / 3)


def test_loops_are_left_out() -> None:
    plain = blocks()
    a, b = (read_graph(table).table.toarray() for table in (plain, plain + 5 * np.eye(14)))
    np.testing.assert_array_equal(a, b)


def test_only_ratios_of_weights_matter() -> None:
    table = np.triu(blocks() * np.random.default_rng(0).random((14, 14)), 1)
    table = table + table.T
    one, ten = (read_graph(factor * table).table.toarray() for factor in (1, 10))
    np.testing.assert_allclose(one, ten, rtol=1e-6)
    weighted, plain = (described(read_graph(t).table, 6) for t in (table, blocks()))
    assert not torch.allclose(weighted.values, plain.values)


@pytest.mark.parametrize("dense", [1000, 5])
def test_other_names_of_the_nodes_permute_the_description(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_reading, "MAX_DENSE_NODES", dense)
    table = sparse.csr_array(blocks(16, 3))
    order = np.random.default_rng(0).permutation(16)
    here, there = (described(t, 6) for t in (table, table[order][:, order]))
    torch.testing.assert_close(there.values, here.values, atol=1e-4, rtol=0)
    torch.testing.assert_close(there.vectors, here.vectors[:, order], atol=1e-3, rtol=0)
    torch.testing.assert_close(there.adjacency, here.adjacency[:, order][:, :, order])


def test_the_parts_of_a_graph_that_is_not_connected_are_told_apart() -> None:
    both = sparse.csr_array(sparse.block_diag([blocks(10), blocks(10, 4)]))
    x = described(read_graph(both).table, 6)
    linked = np.asarray(both.sum(1)).ravel() > 0
    side = np.where(np.arange(20) < 10, 1.0, -1.0) * linked
    agreement = np.abs(np.sign(x.vectors[0, :, :2].numpy()).T @ side) / linked.sum()
    assert agreement.max() > 0.9


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (sparse.csr_array((0, 0)), "at least 1 node"),
        (sparse.csr_array((3, 3)), "3 nodes without an edge"),
        (Net([1, 2], [(1, 1)]), "2 nodes without an edge"),
        (sparse.csr_array((2, 3)), r"shape \(2, 3\)"),
        (np.array([[0, 1], [0, 0]]), "differs from its transpose"),
        (Net([1, 2], [(1, 2)], directed=True), "directed one"),
        (np.array([[0, -1], [-1, 0]]), "got -1"),
        (np.array([[0, np.nan], [np.nan, 0]]), "got nan"),
        (Net([1, 2], [(1, 2, {"weight": "strong"})]), "'strong'"),
        (sparse.csr_array(sparse.eye_array(5_001)), "5,001"),
    ],
)
def test_what_cannot_be_grouped_is_refused_with_a_sentence(graph: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_graph(graph)
