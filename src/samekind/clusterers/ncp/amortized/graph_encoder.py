"""Graph encoders: what the process sees of a node depends on its neighbours, layer by layer.

Graphs come padded and dense. Norms are taken over the features of one node, never over a batch: a
graph means the same whatever lies beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.graphs import N_VECTORS, Graphs
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import load, read_tensors, save
from samekind.errors import InputError

FACT = "graph_encoder"
"""Under which name a weights file tells the sizes of the encoder."""


@dataclass(frozen=True)
class GraphSizes:
    """How large a graph encoder is, as plain values that go into a weights file.

    Parameters
    ----------
    kind : ``sage`` takes means over neighbours (GraphSAGE); ``gated`` learns how much each
        neighbour counts (GatedGCN) and keeps `width` numbers for each pair of nodes.
    n_vectors : eigenvectors that describe a node.
    """

    kind: Literal["sage", "gated"] = "sage"
    width: int = 128
    layers: int = 4
    n_vectors: int = N_VECTORS


class GraphEncoder(nn.Module):
    """Graphs to features of their nodes (B, N, width).

    A node starts with its entries in the eigenvectors, the eigenvalues (which tell vectors of
    blocks from vectors of noise), its share of possible edges, and the size of the graph.
    """

    def __init__(self, sizes: GraphSizes | None = None) -> None:
        super().__init__()
        self.sizes = s = sizes or GraphSizes()
        if s.kind not in ("sage", "gated"):
            raise InputError(f"Expected the kind sage or gated, got {s.kind!r}.")
        self.first = nn.Linear(2 * s.n_vectors + 2, s.width)
        self.edge = nn.Linear(1, s.width) if s.kind == "gated" else None
        layer = SageLayer if s.kind == "sage" else GatedLayer
        self.steps = nn.ModuleList(layer(s.width) for _ in range(s.layers))

    def forward(self, x: Graphs, mask: Tensor | None = None) -> Tensor:
        """Features of each node; what comes out in the padding means nothing."""
        if x.vectors.shape[2] != self.sizes.n_vectors:
            raise InputError(
                f"Expected graphs with {self.sizes.n_vectors} eigenvectors, got "
                f"{x.vectors.shape[2]}. Use the same number in both."
            )
        B, N, _ = x.vectors.shape
        there = x.vectors.new_ones(B, N) if mask is None else mask.to(x.vectors.dtype)
        n = there.sum(1)[:, None, None].clamp_min(1)
        degree = x.adjacency.sum(2, keepdim=True)
        told = [x.values[:, None].expand(B, N, -1), n.log().expand(B, N, 1)]
        h = self.first(torch.cat([x.vectors, degree / n, *told], dim=2))
        edge = None if self.edge is None else self.edge(x.adjacency[..., None])
        for step in self.steps:
            h, edge = step(h, edge, x.adjacency)
        return torch.where(there[..., None] > 0, h, 0.0)


class SageLayer(nn.Module):
    """A node and the mean of its neighbours. The layer norm takes the place of unit length."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)

    def forward(
        self, h: Tensor, edge: Tensor | None, adjacency: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Features (B, N, width) after one step to the neighbours."""
        degree = adjacency.sum(2, keepdim=True).clamp_min(1e-6)
        mean = (adjacency @ self.near(h)) / degree
        return h + self.norm(self.own(h) + mean).relu(), edge


class GatedLayer(nn.Module):
    """Neighbours by gates that follow from both ends and from what the edge was before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width)
        self.edge, self.here, self.there = (nn.Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, h: Tensor, edge: Tensor | None, adjacency: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Features (B, N, width) of nodes and (B, N, N, width) of pairs after one step."""
        assert edge is not None
        edge = self.edge(edge) + self.there(h)[:, None] + self.here(h)[:, :, None]
        gate = edge.sigmoid() * adjacency[..., None]
        total = torch.einsum("bijw,bjw->biw", gate, self.near(h))
        mean = total / (gate.sum(2) + 1e-6)
        return h + self.norm(self.own(h) + mean).relu(), edge


def graph_network(graph: GraphSizes | None = None, sizes: Sizes | None = None) -> NCPNetwork:
    """A clustering process for the nodes of graphs; `sizes` are those of h, u, g and f.

    >>> network = graph_network(GraphSizes(width=16, layers=2), Sizes(width=16))
    >>> network.sizes.encoder, network.sizes.inputs
    ('given', 16)
    """
    graph = graph or GraphSizes()
    sizes = replace(sizes or Sizes(), encoder="given", inputs=graph.width)
    return NCPNetwork(sizes, GraphEncoder(graph))


def save_graph_network(
    path: str | Path, network: NCPNetwork, facts: Mapping[str, Any] | None = None
) -> None:
    """Write a network of :func:`graph_network`; `facts` say how it was trained."""
    save(path, network, {**(facts or {}), FACT: asdict(encoder_of_graphs(network).sizes)})


def load_graph_network(path: str | Path, *, device: str = "cpu") -> NCPNetwork:
    """Read what :func:`save_graph_network` wrote, ready to be used."""
    _, facts = read_tensors(path)
    if FACT not in facts:
        raise InputError(
            f"The weights in {str(path)!r} are for points or images, not for graphs. Give weights "
            "that were trained on graphs (recipes/ncp_graphs.py trains some)."
        )
    return load(path, encoder=GraphEncoder(GraphSizes(**facts[FACT])), device=device).network


def encoder_of_graphs(network: NCPNetwork) -> GraphEncoder:
    """The encoder of a network for graphs; InputError if it is for something else."""
    if not isinstance(network.encoder, GraphEncoder):
        raise InputError(
            "This network is for points or images, not for graphs. Make one with graph_network."
        )
    return network.encoder
