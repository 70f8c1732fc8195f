"""NCPGraph as an estimator: groups of nodes, their posterior, answers, odd graphs, own weights."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from samekind.clusterers.ncp.amortized.graph_encoder import GraphSizes
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.clusterers.ncp.graph import NCPGraph
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName
from samekind.evaluation import ari

SMALL = Sizes(width=16, h_outputs=16, g_outputs=16, g_layers=1, f_layers=1)


def quick(**parameters: object) -> NCPGraph:
    return NCPGraph(**{"n_samples": 32, "orders": 4, "random_state": 0} | parameters)


def blocks(
    sizes: tuple[int, ...], inside: float = 0.6, across: float = 0.05, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Adjacency and blocks of a graph, its nodes in random order."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    chance = np.where(truth[:, None] == truth, inside, across)
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    return (upper | upper.T).astype(float), truth


def test_blocks_are_found_and_their_number_need_not_be_given() -> None:
    for sizes in ((20, 20), (20, 15, 15), (20, 14, 14, 12)):
        table, truth = blocks(sizes)
        model = quick().fit(table)
        assert ari(truth, model.labels_) > 0.7


def test_hubs_belong_to_their_community_and_are_no_group_of_their_own() -> None:
    table, truth = blocks((25, 25), inside=0.15, across=0.01, seed=3)
    for kind in (0, 1):
        hub, others = np.flatnonzero(truth == kind)[0], np.flatnonzero(truth == kind)[1:18]
        table[hub, others] = table[others, hub] = 1
    assert ari(truth, quick().fit(table).labels_) > 0.7


def test_what_is_told_of_the_posterior_fits_together() -> None:
    table, _ = blocks((12, 12))
    model = quick().fit(table)
    co, law = model.co_membership_, model.n_clusters_posterior_
    assert law.sum() == pytest.approx(1) and law[0] == 0
    items, labels, weight = model.draws_
    by_hand = ((labels[:, :, None] == labels[:, None]) * weight[:, None, None]).sum(0)
    np.testing.assert_allclose(co, by_hand, atol=1e-5)
    assert items.tolist() == list(range(24)) and weight.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-5)
    assert model.membership_.shape == (24, model.n_clusters_) and len(model.space_) == 24
    assert model.log_prob_ <= 0 <= model.log_prob_spread_
    assert model.score_partition(table, model.labels_) > model.score_partition(
        table, np.arange(24) % 2
    )
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.predict(table), model.predict(table))
    assert np.array_equal(quick().fit(table).co_membership_, co)


def test_every_draw_honours_every_answer() -> None:
    table, truth = blocks((14, 14), seed=1)
    rng = np.random.default_rng(0)
    torn = np.where(truth == 1, 1 + rng.integers(0, 2, 28), 0)  # one block is torn apart
    pairs = [rng.choice(28, 2, replace=False) for _ in range(14)]
    links = [(int(a), int(b), bool(torn[a] == torn[b])) for a, b in pairs]
    known = Constraints.from_links(28, links)
    model = quick().fit(table, constraints=known)
    drawn = model.sample_posterior(table, 10, constraints=known)
    for labels in (*model.draws_.labels, *drawn, model.labels_):
        assert all((labels[a] == labels[b]) == same for a, b, same in links)


def test_answers_sharpen_the_groups() -> None:
    table, truth = blocks((15, 15), inside=0.3, across=0.15, seed=4)
    pairs = [(a, b) for a in range(0, 30, 3) for b in range(a + 1, 30, 7)]
    known = Constraints.from_links(30, [(a, b, bool(truth[a] == truth[b])) for a, b in pairs])
    before, after = quick().fit(table), quick().fit(table, constraints=known)
    assert ari(truth, after.labels_) > ari(truth, before.labels_)


def test_nodes_without_edges_are_groups_of_their_own_until_answered() -> None:
    table = np.zeros((26, 26))
    table[1:25, 1:25], _ = blocks((12, 12))
    with pytest.warns(UserWarning, match="2 of 26 nodes have no edges"):
        model = quick().fit(table)
    for labels in (*model.draws_.labels, model.labels_):
        assert (labels == labels[0]).sum() == 1 == (labels == labels[25]).sum()
    assert model.n_clusters_posterior_[:3].sum() == pytest.approx(0, abs=1e-9)
    told = Constraints.from_links(26, [(0, 25, True)])
    with pytest.warns(UserWarning, match="no edges"):
        asked = quick().fit(table, constraints=told)
    assert asked.labels_[0] == asked.labels_[25]


def test_two_parts_without_an_edge_between_them_are_two_groups() -> None:
    clique = np.ones((9, 9)) - np.eye(9)
    model = quick().fit(sparse.block_diag([clique, clique], format="csr"))
    assert model.labels_.tolist() == [0] * 9 + [1] * 9


def test_one_and_two_nodes_can_be_grouped() -> None:
    one = quick().fit(np.zeros((1, 1)))
    assert one.labels_.tolist() == [0] and one.n_clusters_posterior_.tolist() == [0, 1]
    assert one.co_membership_.tolist() == [[1]]
    assert one.sample_posterior(np.zeros((1, 1)), 3).tolist() == [[0]] * 3
    two = quick().fit(np.array([[0.0, 1], [1, 0]]))
    assert two.n_clusters_posterior_[1:].sum() == pytest.approx(1)


def test_of_a_large_graph_a_sample_is_placed_and_the_others_follow() -> None:
    table, truth = blocks((60, 50, 40), inside=0.4, across=0.03)
    table[7] = table[:, 7] = 0
    known = Constraints.from_links(150, [(0, 9, bool(truth[0] == truth[9])), (3, 4, True)])
    model = quick(max_placed=60)
    with pytest.warns(UserWarning, match=r"150 nodes are too many.*sample of 60"):
        model.fit(table, constraints=known)
    assert ari(truth, model.labels_) > 0.75 and {0, 3, 4, 7, 9} <= set(model.draws_.items)
    assert (model.labels_ == model.labels_[7]).sum() == 1
    assert sparse.issparse(model.co_membership_) and model.co_membership_.shape == (150, 150)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-5)
    drawn = model.sample_posterior(table, 3)
    assert drawn.shape == (3, 150) and all(ari(truth, row) > 0.3 for row in drawn)


def test_other_nodes_join_the_group_that_they_have_edges_with() -> None:
    table, truth = blocks((40, 40), seed=2)
    model = quick().fit(table[:60, :60])
    found = model.predict(table[60:, :60])
    assert ari(truth[60:], found) > 0.8
    assert np.array_equal(found[:3], np.concatenate([model.predict(r[None, :60]) for r in
                                                     table[60:63]]))  # fmt: skip


def test_vectors_are_linked_to_their_nearest_neighbours() -> None:
    truth = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, 4)) + 8 * np.eye(3, 4)[truth]
    model = quick().fit(X)
    assert ari(truth, model.labels_) > 0.5 and model.n_features_in_ == 4
    assert model.predict(X[:3] + 0.1).tolist() == model.labels_[:3].tolist()
    square = X[:4] @ X[:4].T + np.triu(np.ones((4, 4)))
    with pytest.raises(InputError, match="differs from its transpose"):
        quick().fit(square)
    assert len(quick(inputs="vectors").fit(square).labels_) == 4


def test_a_networkx_graph_keeps_the_names_of_its_nodes() -> None:
    nx = pytest.importorskip("networkx")
    graph = nx.florentine_families_graph()
    model = quick().fit(graph)
    assert model.nodes_ == tuple(graph) and len(model.labels_) == len(graph)


def test_bad_parameters_and_labels_are_refused() -> None:
    table, _ = blocks((5, 5))
    for name in ("n_samples", "orders", "max_placed", "n_neighbors"):
        with pytest.raises(InputError, match=name):
            quick(**{name: 0}).fit(table)
    for name in ("estimate", "inputs"):
        with pytest.raises(UnknownName):
            quick(**{name: "odd"}).fit(table)
    with pytest.raises(InputError, match="at least 1 grouping"):
        quick().sample_posterior(table, 0)
    with pytest.raises(InputError, match="each of 10 nodes"):
        quick().score_partition(table, np.zeros(9))
    with pytest.raises(InputError, match="found none"):
        quick(weights="/nowhere").fit(table)


def test_own_weights_are_trained_kept_and_used(tmp_path: Path) -> None:
    table, _ = blocks((8, 8))
    data, file = StochasticBlocks(points=(8, 16), n_vectors=6), tmp_path / "graphs.safetensors"
    model = NCPGraph.train(
        data, file, steps=3, batch=2, sizes=SMALL, device="cpu",
        graph_sizes=GraphSizes("sage", 16, 1, 6),
    )  # fmt: skip
    assert file.is_file() and model.set_params(random_state=0).fit(table).space_.shape == (16, 6)
    assert not np.array_equal(model.co_membership_, quick().fit(table).co_membership_)
