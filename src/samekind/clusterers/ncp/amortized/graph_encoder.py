"""Graph encoders: what the process sees of a node depends on its neighbours, layer by layer.

Graphs come padded and dense. Norms are taken over the features of one node, never over a batch: a
graph means the same whatever lies beside it. The layers are in `graph_layers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.graph_layers import (
    AttentionLayer,
    GatedLayer,
    SageLayer,
    pair_features,
)
from samekind.clusterers.ncp.amortized.graph_spectrum import N_VECTORS
from samekind.clusterers.ncp.amortized.graphs import Graphs
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import load, read_tensors, save
from samekind.errors import InputError

FACT = "graph_encoder"
"""Under which name a weights file tells the sizes of the encoder."""


KINDS = ("attention", "sage", "gated")
N_SCALARS = 5
"""Numbers that describe a node besides its entries in eigenvectors."""


@dataclass(frozen=True)
class GraphSizes:
    """How large a graph encoder is, as plain values that go into a weights file.

    Parameters
    ----------
    kind : ``attention`` lets a node look at all others, by what they are and whether they are
        neighbours; ``sage`` takes means over neighbours (GraphSAGE); ``gated`` learns how much each
        neighbour counts (GatedGCN) and keeps `width` numbers for each pair of nodes.
    n_vectors : eigenvectors that describe a node.
    heads : of attention.
    """

    kind: Literal["attention", "sage", "gated"] = "attention"
    width: int = 128
    layers: int = 5
    n_vectors: int = N_VECTORS
    heads: int = 4


class GraphEncoder(nn.Module):
    """Graphs to features of their nodes (B, N, width).

    A node starts with its entries in the eigenvectors, the eigenvalues (which tell vectors of
    blocks from vectors of noise), what its degree and its neighbourhood are like, and the size of
    the graph.
    """

    def __init__(self, sizes: GraphSizes | None = None) -> None:
        super().__init__()
        self.sizes = s = sizes or GraphSizes()
        if s.kind not in KINDS:
            raise InputError(f"Expected the kind {', '.join(KINDS)}, got {s.kind!r}.")
        self.first = nn.Linear(2 * s.n_vectors + N_SCALARS, s.width)
        self.edge = nn.Linear(1, s.width) if s.kind == "gated" else None
        attention = s.kind == "attention"
        make = {"sage": SageLayer, "gated": GatedLayer}
        self.steps = nn.ModuleList(
            AttentionLayer(s.width, s.heads) if attention else make[s.kind](s.width)
            for _ in range(s.layers)
        )

    def forward(self, x: Graphs, mask: Tensor | None = None) -> Tensor:
        """Features of each node; zero in the padding."""
        if x.vectors.shape[2] != self.sizes.n_vectors:
            raise InputError(
                f"Expected graphs with {self.sizes.n_vectors} eigenvectors, got "
                f"{x.vectors.shape[2]}. Use the same number in both."
            )
        B, N, _ = x.vectors.shape
        there = mask if mask is not None else x.vectors.new_ones(B, N, dtype=torch.bool)
        values = x.values[:, None].expand(B, N, -1)
        h = self.first(torch.cat([x.vectors, values, node_scalars(x.adjacency, there)], dim=2))
        pairs: Tensor | None = None
        if self.sizes.kind == "attention":
            pairs = pair_features(x.adjacency)
        elif self.edge is not None:
            pairs = self.edge(x.adjacency[..., None])
        for step in self.steps:
            h, pairs = step(h, pairs, x.adjacency, there)
        return torch.where(there[..., None], h, 0.0)


def node_scalars(adjacency: Tensor, mask: Tensor) -> Tensor:
    """(B, N, 5) size of the graph, and degree, neighbours' degree and triangles of each node."""
    n = mask.sum(1)[:, None, None].clamp_min(1).to(adjacency.dtype)
    degree = adjacency.sum(2, keepdim=True)
    mean = degree.sum(1, keepdim=True) / n
    around = (adjacency @ degree) / degree.clamp_min(1e-6)
    triangles = ((adjacency @ adjacency) * adjacency).sum(2, keepdim=True)
    parts = (
        n.log().expand_as(degree), degree / n, (degree + 1).log() - (mean + 1).log(),
        (around + 1).log() - (mean + 1).log(), triangles / (degree * (degree - 1)).clamp_min(1.0),
    )  # fmt: skip
    return torch.cat(parts, dim=2)


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
    path: str | Path,
    network: NCPNetwork,
    facts: Mapping[str, Any] | None = None,
    *,
    half: bool = False,
) -> None:
    """Write a network of :func:`graph_network`; `facts` say how it was trained.

    `half` stores 16 bits per number, half the size; they are read back as 32.
    """
    sizes = asdict(encoder_of_graphs(network).sizes)
    save(path, network, {**(facts or {}), FACT: sizes}, half=half)


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
