"""The nodes of one's own graph in groups: every kind of graph, and every odd one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from samekind.clusterers.ncp.amortized import graph_clustering
from samekind.clusterers.ncp.amortized.graph_clustering import described, group_nodes, read_graph
from samekind.clusterers.ncp.amortized.graph_encoder import (
    GraphSizes,
    graph_network,
    save_graph_network,
)
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    relabel,
    reordered,
    step_distributions,
)
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.constraints import Constraints
from samekind.errors import InputError


@cache
def network() -> NCPNetwork:
    torch.manual_seed(0)
    few = Sizes(width=16, h_outputs=16, g_outputs=16, g_layers=2, f_layers=2)
    return graph_network(GraphSizes("sage", 16, 2, 6), few)


def blocks(n: int = 14, seed: int = 0) -> np.ndarray:
    data = StochasticBlocks(points=(n, n), n_vectors=6)
    x, _, mask = data.draw(8, torch.Generator().manual_seed(seed))
    table: np.ndarray = x.adjacency[int(mask.any(1).int().argmax())].numpy()
    return table


class Net:
    """As much of a networkx graph as is read, so that the test does not need networkx."""

    def __init__(self, nodes: list[Any], edges: list[tuple[Any, ...]], directed: bool = False):
        self.nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self) -> bool:
        return self._directed

    def edges(self, data: str, default: float) -> list[tuple[Any, ...]]:
        return [(a, b, (*rest, {})[0].get(data, default)) for a, b, *rest in self._edges]


def test_a_graph_an_adjacency_and_an_edge_list_are_read_alike() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    nodes, listed = read_graph(pairs)
    assert nodes == ("a", "b", "c", "d")
    _, net = read_graph(Net(list("abcd"), pairs))
    _, table = read_graph(sparse.coo_array(listed.toarray()))
    for other in (net, table):
        np.testing.assert_array_equal(other.toarray(), listed.toarray())
    numbered, _ = read_graph(np.array([[0, 1], [1, 5]]))
    assert numbered == (0, 1, 5)


def test_a_networkx_graph_is_read() -> None:
    nx = pytest.importorskip("networkx")
    club = nx.karate_club_graph()
    nodes, table = read_graph(club)
    assert nodes == tuple(club) and table.nnz == 2 * club.number_of_edges()
    plain = nx.to_numpy_array(club)
    np.testing.assert_allclose(table.toarray(), plain / plain[plain > 0].mean())
    doubled = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert read_graph(doubled)[1].toarray()[0, 1] == pytest.approx(4 / 3)


def test_the_posterior_has_samples_a_best_grouping_a_law_and_pairs() -> None:
    found = group_nodes(sparse.csr_array(blocks()), network(), n_samples=20, signs=4)
    assert found.samples.labels.shape[1] == 14 and int(found.samples.count.sum()) == 20
    law, pairs = found.n_groups_distribution(), found.co_membership()
    assert law.sum() == pytest.approx(1) and law[0] == 0
    np.testing.assert_allclose(np.diag(pairs), 1, atol=1e-6)
    np.testing.assert_allclose(pairs, pairs.T, atol=1e-6)
    assert {node for group in found.groups for node in group} == set(range(14))
    assert sum(map(len, found.groups)) == 14
    assert found.log_prob < 0 and found.labels[0] == 0
    again = group_nodes(sparse.csr_array(blocks()), network(), n_samples=20, signs=4)
    np.testing.assert_array_equal(found.co_membership(), again.co_membership())


def test_weights_may_be_a_file(tmp_path: Path) -> None:
    save_graph_network(tmp_path / "graphs.safetensors", network())
    table = sparse.csr_array(blocks())
    file, direct = (
        group_nodes(table, weights, n_samples=4)
        for weights in (tmp_path / "graphs.safetensors", network())
    )
    np.testing.assert_array_equal(file.labels, direct.labels)


@pytest.mark.parametrize("dense", [1000, 5])
def test_other_names_of_the_nodes_give_the_same_law_up_to_the_permutation(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_clustering, "DENSE", dense)
    table = sparse.csr_array(blocks(16, 3))
    order = np.random.default_rng(0).permutation(16)
    here, there = (described(t, 6) for t in (table, table[order][:, order]))
    torch.testing.assert_close(there.values, here.values, atol=1e-4, rtol=0)
    torch.testing.assert_close(there.vectors, here.vectors[:, order], atol=1e-3, rtol=0)
    # The same grouping, placed in the same order of the same nodes, has the same probability.
    model = network().eval()
    points, renamed = model.points(here, None), model.points(there, None)
    placed = reordered(renamed, torch.from_numpy(order).argsort()[None])
    for seed in range(5):
        kinds = torch.randint(0, 4, (1, 16), generator=torch.Generator().manual_seed(seed))
        labels = relabel(kinds)
        a, b = (
            chosen(step_distributions(model, p, labels), labels).sum() for p in (points, placed)
        )
        assert float(a.detach()) == pytest.approx(float(b.detach()), abs=1e-3)


def test_pairs_are_averaged_over_signs_so_that_flipped_vectors_change_little() -> None:
    table = sparse.csr_array(blocks(10, 1))
    many = [
        group_nodes(table, network(), n_samples=1500, signs=150, seed=seed).co_membership()
        for seed in (0, 1)
    ]
    assert np.abs(many[0] - many[1]).max() < 0.08


def test_every_sample_honours_the_answers() -> None:
    told = Constraints.from_links(14, [(0, 5, True), (5, 9, False), (2, 3, False)])
    found = group_nodes(
        sparse.csr_array(blocks()), network(), n_samples=30, signs=3, constraints=told
    )
    for labels in [*found.samples.labels.numpy(), found.labels]:
        assert labels[0] == labels[5] != labels[9] and labels[2] != labels[3]
    with pytest.raises(InputError, match="3 items"):
        group_nodes([(0, 1)], network(), constraints=Constraints.from_links(3, []))


def test_nodes_without_edges_are_groups_of_their_own() -> None:
    table = np.zeros((17, 17), dtype=np.float32)
    table[1:15, 1:15] = blocks()
    degree = table.sum(1)
    found = group_nodes(sparse.csr_array(table), network(), n_samples=8)
    for labels in [*found.samples.labels.numpy(), found.labels]:
        for alone in np.flatnonzero(degree == 0):
            assert (labels == labels[alone]).sum() == 1
    told = Constraints.from_links(17, [(0, 16, True)])
    asked = group_nodes(sparse.csr_array(table), network(), n_samples=8, constraints=told)
    assert asked.labels[0] == asked.labels[16]


def test_a_graph_that_is_not_connected_is_grouped_as_one() -> None:
    both = sparse.csr_array(sparse.block_diag([blocks(10), blocks(10, 4)]))
    x = described(read_graph(both)[1], 6)
    # One of the first vectors tells the two parts apart.
    linked = np.asarray(both.sum(1)).ravel() > 0
    side = np.where(np.arange(20) < 10, 1.0, -1.0) * linked
    agreement = np.abs(np.sign(x.vectors[0, :, :2].numpy()).T @ side) / linked.sum()
    assert agreement.max() > 0.9
    assert len(group_nodes(both, network(), n_samples=4).labels) == 20


def test_one_node_is_one_group() -> None:
    for graph in (sparse.csr_array((1, 1)), Net(["me"], []), Net(["me"], [("me", "me")])):
        found = group_nodes(graph, network())
        assert found.labels.tolist() == [0] and found.n_groups_distribution().tolist() == [0, 1]
        assert found.co_membership().tolist() == [[1]] and len(found.groups) == 1


def test_two_nodes_with_an_edge_can_be_grouped() -> None:
    found = group_nodes([("a", "b")], network(), n_samples=50)
    assert found.n_groups_distribution()[1:].sum() == pytest.approx(1)


def test_loops_are_left_out() -> None:
    plain = blocks()
    loops = plain + 5 * np.eye(14, dtype=np.float32)
    a, b = (read_graph(sparse.csr_array(table))[1].toarray() for table in (plain, loops))
    np.testing.assert_array_equal(a, b)


def test_only_ratios_of_weights_matter() -> None:
    edges = [(0, 1, 2.0), (1, 2, 4.0), (2, 0, 6.0), (2, 3, 2.0)]
    _, small = read_graph(edges)
    _, large = read_graph([(a, b, 10 * w) for a, b, w in edges])
    np.testing.assert_allclose(small.toarray(), large.toarray())
    x, plain = (described(t, 6) for t in (small, read_graph([e[:2] for e in edges])[1]))
    assert not torch.allclose(x.values, plain.values)


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        ([], "no nodes"),
        (sparse.csr_array((0, 0)), "no nodes"),
        (sparse.csr_array((3, 3)), "3 nodes but no edge"),
        (Net([1, 2], [(1, 1)]), "2 nodes but no edge"),
        (sparse.csr_array((2, 3)), "not square"),
        (sparse.csr_array(np.array([[0, 1], [0, 0]])), "not symmetric"),
        (Net([1, 2], [(1, 2)], directed=True), "directed"),
        ([(0, 1, -1.0)], "weight -1"),
        ([(0, 1, float("nan"))], "weight nan"),
        ([(0, 1, "strong")], "'strong' is not the weight"),
        ([(0, 1, 2, 3)], "pairs of nodes"),
        ([3, 4], "pairs of nodes"),
        ("a b", "str is not a graph"),
        (7, "int is not a graph"),
        (sparse.csr_array(sparse.eye_array(10_001)), "10001 nodes"),
    ],
)
def test_what_cannot_be_grouped_is_refused_with_a_sentence(graph: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        group_nodes(graph, network())


def test_networks_for_points_and_no_samples_are_refused() -> None:
    with pytest.raises(InputError, match="not for graphs"):
        group_nodes([(0, 1)], NCPNetwork())
    with pytest.raises(InputError, match="0 samples"):
        group_nodes([(0, 1)], network(), n_samples=0)
