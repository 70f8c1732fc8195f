"""Graph encoders: names, signs, padding and neighbours in a batch; training; files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import torch

from samekind.clusterers.ncp.amortized.generators import Episode
from samekind.clusterers.ncp.amortized.graph_encoder import (
    GraphEncoder,
    GraphSizes,
    graph_network,
    load_graph_network,
    save_graph_network,
)
from samekind.clusterers.ncp.amortized.graph_layers import (
    AttentionLayer,
    GatedLayer,
    SageLayer,
    pair_features,
)
from samekind.clusterers.ncp.amortized.graphs import Graphs, StochasticBlocks
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import negative_log_likelihood, train
from samekind.clusterers.ncp.amortized.weights import save
from samekind.errors import InputError

Kind = Literal["attention", "sage", "gated"]
KINDS: tuple[Kind, ...] = ("attention", "sage", "gated")
every = pytest.mark.parametrize("kind", KINDS)


EVERYWHERE = torch.ones(1, 3, dtype=torch.bool)


def small(kind: Kind) -> NCPNetwork:
    torch.manual_seed(0)
    few = Sizes(width=16, h_outputs=16, g_outputs=16, g_layers=2, f_layers=2)
    return graph_network(GraphSizes(kind, 16, 2, 6, 2), few).eval()


def episode(points: tuple[int, int] = (6, 12), seed: int = 0) -> Episode:
    data = StochasticBlocks(points=points, n_vectors=6)
    return data.draw(4, torch.Generator().manual_seed(seed))


@every
def test_other_names_of_the_nodes_only_permute_the_features(
    kind: Kind,
) -> None:
    encoder, (x, _, mask) = small(kind).encoder, episode((12, 12))
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    renamed = Graphs(x.adjacency[:, order][:, :, order], x.vectors[:, order], x.values)
    torch.testing.assert_close(encoder(renamed, mask[:, order]), encoder(x, mask)[:, order])


@every
def test_a_graph_means_the_same_alone_and_in_a_padded_batch(
    kind: Kind,
) -> None:
    encoder, (x, _, mask) = small(kind).encoder, episode()
    together = encoder(x, mask)
    assert not together[~mask].any()
    for b in mask.any(1).nonzero()[:, 0].tolist():
        n = int(mask[b].sum())
        alone = Graphs(
            x.adjacency[b : b + 1, :n, :n], x.vectors[b : b + 1, :n], x.values[b : b + 1]
        )
        torch.testing.assert_close(encoder(alone, None)[0], together[b, :n])


def test_sage_takes_the_weighted_mean_of_the_neighbours() -> None:
    torch.manual_seed(0)
    layer, h = SageLayer(4), torch.randn(1, 3, 4)
    table = torch.tensor([[[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    mean = (3 * h[0, 1] + h[0, 2]) / 4
    expected = h[0, 0] + layer.norm(layer.own(h[0, 0]) + layer.near(mean)).relu()
    torch.testing.assert_close(layer(h, None, table, EVERYWHERE)[0][0, 0], expected)


def test_attention_follows_the_equation_for_one_node() -> None:
    torch.manual_seed(0)
    layer, h = AttentionLayer(4, heads=1), torch.randn(1, 3, 4)
    table = torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    with torch.no_grad():
        layer.pair.copy_(torch.tensor([[0.7, -0.2, 0.4]]))
    pairs = pair_features(table)
    # One edge between nodes of degree 1: it is all they have, and the first shares no neighbour.
    assert pairs[0, :, 0, 1].tolist() == [1, 4, 0] and pairs[0, :, 0, 0].tolist() == [0, 0, 1]
    q, k, v = (part[0] for part in layer.look(h).chunk(3, dim=2))
    alike = torch.cosine_similarity(q[:1], k[:2])
    share = (4 * alike + layer.pair[0] @ pairs[0, :, 0, :2]).softmax(0)  # the third is padding
    total = layer.own(h[0, 0]) + layer.near(h[0, 1]) + layer.seen(share @ v[:2])
    expected = h[0, 0] + layer.norm(total).relu()
    mask = torch.tensor([[True, True, False]])
    torch.testing.assert_close(layer(h, pairs, table, mask)[0][0, 0], expected)


def test_gates_follow_the_equation_for_one_node() -> None:
    torch.manual_seed(0)
    layer, h, e = GatedLayer(4), torch.randn(1, 3, 4), torch.randn(1, 3, 3, 4)
    table = torch.tensor([[[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    top, bottom = torch.zeros(4), torch.zeros(4)
    for j in (1, 2):
        gate = (layer.edge(e[0, 0, j]) + layer.there(h[0, j]) + layer.here(h[0, 0])).sigmoid()
        top, bottom = top + gate * layer.near(h[0, j]), bottom + gate
    expected = h[0, 0] + layer.norm(layer.own(h[0, 0]) + top / (bottom + 1e-6)).relu()
    torch.testing.assert_close(layer(h, e, table, EVERYWHERE)[0][0, 0], expected)


@every
def test_training_as_it_is_makes_the_true_blocks_more_probable(
    kind: Kind,
) -> None:
    data, network = StochasticBlocks(points=(12, 20), n_vectors=6), small(kind)
    fresh = data.draw(60, torch.Generator().manual_seed(99))
    before = negative_log_likelihood(network, fresh).mean()
    train(network, data, steps=60, batch=16, lr=3e-3, device="cpu", ranges=2)
    assert negative_log_likelihood(network, fresh).mean() < 0.9 * before


@every
def test_fixed_shapes_give_the_same_likelihood(kind: Kind) -> None:
    network, drawn = small(kind), episode((10, 10), seed=5)
    torch.testing.assert_close(
        negative_log_likelihood(network, drawn, n_groups=10),
        negative_log_likelihood(network, drawn),
    )


@every
def test_a_network_comes_back_from_its_file(kind: Kind, tmp_path: Path) -> None:
    network, (x, _, mask) = small(kind), episode()
    save_graph_network(tmp_path / "graphs.safetensors", network, {"steps": 3})
    again = load_graph_network(tmp_path / "graphs.safetensors")
    torch.testing.assert_close(again.points(x, mask).h, network.points(x, mask).h)


def test_weights_for_points_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "points.safetensors", NCPNetwork())
    with pytest.raises(InputError, match="not for graphs"):
        load_graph_network(tmp_path / "points.safetensors")
    with pytest.raises(InputError, match="not for graphs"):
        save_graph_network(tmp_path / "other.safetensors", NCPNetwork())


def test_an_unknown_kind_and_another_number_of_vectors_are_refused() -> None:
    with pytest.raises(InputError, match="attention, sage, gated"):
        GraphEncoder(GraphSizes("gcn"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="12 eigenvectors, got 6"):
        GraphEncoder()(episode().x)
