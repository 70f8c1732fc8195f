"""Groups of unknown number among the nodes of a graph: a posterior, not one answer.

Nodes are described by eigenvectors whose signs mean nothing, and they are placed in an order that
means nothing; both are drawn at random, and what is reported is the average over them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.graph_encoder import encoder_of_graphs, load_graph_network
from samekind.clusterers.ncp.amortized.graphs import Graphs
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, averaged, merged
from samekind.constraints import Constraints
from samekind.errors import InputError

MOST_NODES = 10_000
"""Encoders keep a dense table of nodes by nodes."""
DENSE = 1000
"""Nodes up to which the eigenvectors come from a dense matrix."""
CANDIDATES, ORDERS = 8, 1
"""Samples among which the most probable is sought, and orders per sign in which they are scored."""
ACCEPTED = "a networkx graph, a scipy sparse adjacency, or pairs of nodes"


@dataclass(frozen=True)
class GraphPosterior:
    """The posterior over groups of a graph's nodes.

    Parameters
    ----------
    nodes : names, in the order of all that follows.
    labels : (N,) group of each node in the most probable grouping that was found.
    log_prob : of that grouping, averaged over orders and signs.
    samples : all groupings that were drawn, with how often.
    """

    nodes: tuple[Hashable, ...]
    labels: NDArray[np.intp]
    log_prob: float
    samples: Samples

    @property
    def groups(self) -> list[list[Hashable]]:
        """The most probable grouping, as lists of nodes."""
        found: list[list[Hashable]] = [[] for _ in range(int(self.labels.max()) + 1)]
        for node, label in zip(self.nodes, self.labels, strict=True):
            found[label].append(node)
        return found

    def n_groups_distribution(self) -> NDArray[np.float64]:
        """(K + 1,) probability of each number of groups, from 0 on."""
        return self.samples.n_groups_distribution().cpu().numpy().astype(np.float64)

    def co_membership(self) -> NDArray[np.float64]:
        """(N, N) probability that two nodes are in one group."""
        return self.samples.co_membership().cpu().numpy().astype(np.float64)


@torch.no_grad()
def group_nodes(
    graph: Any,
    weights: NCPNetwork | str | Path,
    *,
    n_samples: int = 64,
    signs: int = 8,
    constraints: Constraints | None = None,
    weight: str = "weight",
    seed: int = 0,
    device: str = "cpu",
) -> GraphPosterior:
    """Draw groupings of the nodes of a graph from a trained network.

    Parameters
    ----------
    graph : a networkx graph, a symmetric scipy sparse adjacency, or an edge list: pairs of nodes,
        or triples with a weight. Loops are left out. Edges that come twice add up. Only ratios of
        weights matter.
    weights : a network of
        :func:`~samekind.clusterers.ncp.amortized.graph_encoder.graph_network`, or its file.
    n_samples : groupings, each in an order of its own, spread over so many draws of `signs`.
    constraints : answers about nodes, by position; every sample honours them.
    weight : the edge attribute of a networkx graph that is the weight; 1 where it is missing.

    Notes
    -----
    A node without edges is a group of its own in every sample, unless an answer is about it. The
    parts of a graph that is not connected are grouped together, as one graph. Weights are trained
    for graphs of some size and density; far from these the posterior may be sure and wrong.
    """
    nodes, table = read_graph(graph, weight=weight)
    network = weights if isinstance(weights, NCPNetwork) else load_graph_network(weights)
    n_vectors = encoder_of_graphs(network).sizes.n_vectors
    if n_samples < 1 or signs < 1:
        raise InputError(f"{n_samples} samples with {signs} signs cannot be drawn. Give 1 or more.")
    seen, told = _seen(table, constraints)
    if not seen.any():  # one node, without edges
        one = torch.ones(1, dtype=torch.long)
        found = Samples(0 * one[None], torch.zeros(1), one, torch.zeros(1))
        return GraphPosterior(nodes, np.zeros(1, np.intp), 0.0, found)
    x = described(table[seen][:, seen], n_vectors, device)
    generator = torch.Generator(device).manual_seed(seed)
    found, best, log_prob = _posterior(network.to(device), x, told, n_samples, signs, generator)
    found = replace(found, labels=_with_singles(found.labels, seen))
    labels = _with_singles(best[None], seen)[0].cpu().numpy().astype(np.intp)
    return GraphPosterior(nodes, labels, log_prob, found)


def _seen(table: Any, told: Constraints | None) -> tuple[NDArray[np.bool_], Constraints]:
    """Which nodes the network sees, (N,), and the answers about them, by position among them."""
    n = table.shape[0]
    told = told if told is not None else Constraints.from_links(n, [])
    if told.n_items != n:
        raise InputError(
            f"The answers are about {told.n_items} items, but the graph has {n} nodes. Give "
            "answers about its nodes, by position."
        )
    links = told.links()
    seen = np.asarray(table.sum(axis=1)).ravel() > 0
    seen[links.a], seen[links.b] = True, True
    place = np.cumsum(seen) - 1
    pairs = zip(place[links.a], place[links.b], links.same, strict=True)
    return seen, Constraints.from_links(max(1, int(seen.sum())), pairs)


def read_graph(graph: Any, *, weight: str = "weight") -> tuple[tuple[Hashable, ...], Any]:
    """Names of the nodes and their weights (N, N), sparse, symmetric, without loops."""
    if sparse.issparse(graph):
        nodes, table = tuple(range(graph.shape[0])), _from_adjacency(graph)
    elif hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        if graph.is_directed():
            raise InputError(
                "The graph is directed, but groups are sought in undirected ones. Give "
                "graph.to_undirected()."
            )
        nodes = tuple(graph.nodes)
        table = _from_edges(nodes, graph.edges(data=weight, default=1.0))
    elif isinstance(graph, Iterable) and not isinstance(graph, str | bytes | dict):
        edges = [tuple(edge) if isinstance(edge, Iterable) else (edge,) for edge in graph]
        if any(len(edge) not in (2, 3) for edge in edges):
            raise InputError(
                f"An edge list has pairs of nodes, or triples with a weight. Give {ACCEPTED}."
            )
        nodes = tuple(dict.fromkeys(node for edge in edges for node in edge[:2]))
        table = _from_edges(nodes, [(*edge, 1.0)[:3] for edge in edges])
    else:
        raise InputError(f"A {type(graph).__name__} is not a graph. Give {ACCEPTED}.")
    return nodes, _checked(table)


def _from_adjacency(table: Any) -> Any:
    if table.shape[0] != table.shape[1]:
        raise InputError(
            f"An adjacency of shape {table.shape} is not square. Give one row and one column for "
            "each node."
        )
    table = table.tocsr().astype(np.float64)
    if table.shape[0] and abs(table - table.T).max() > 1e-9 * max(1.0, abs(table).max()):
        raise InputError(
            "The adjacency is not symmetric, but groups are sought in undirected graphs. Give "
            "table + table.T, or table.maximum(table.T)."
        )
    return table


def _from_edges(nodes: tuple[Hashable, ...], edges: Iterable[tuple[Any, ...]]) -> Any:
    number = {node: k for k, node in enumerate(nodes)}
    rows = [(number[a], number[b], _number(w)) for a, b, w in edges]
    values = np.array(rows, dtype=np.float64).reshape(-1, 3)
    ends = values[:, :2].astype(np.intp)
    once = sparse.coo_array((values[:, 2], (ends[:, 0], ends[:, 1])), (len(nodes),) * 2).tocsr()
    return once + once.T


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{value!r} is not the weight of an edge. Give numbers, or no weights."
        ) from error


def _checked(table: Any) -> Any:
    n = table.shape[0]
    if n == 0:
        raise InputError("The graph has no nodes. Give at least one.")
    if n > MOST_NODES:
        raise InputError(
            f"The graph has {n} nodes; at most {MOST_NODES} can be grouped here. Give a part of it."
        )
    values = table.data
    if not np.isfinite(values).all() or (values < 0).any():
        odd = values[~np.isfinite(values) | (values < 0)][0]
        raise InputError(
            f"An edge has the weight {odd}. Weights say how strong an edge is: give finite numbers "
            "from 0 on."
        )
    table = sparse.csr_array(table - sparse.diags_array(table.diagonal()))
    table.eliminate_zeros()
    if table.nnz == 0 and n > 1:
        raise InputError(
            f"The graph has {n} nodes but no edge between two of them: nothing tells which belong "
            "together. Give a graph with edges."
        )
    if table.nnz:
        table = table / table.data.mean()
    return table


def described(table: Any, n_vectors: int, device: str = "cpu") -> Graphs:
    """One graph (1, N, ...) as an encoder reads it, the same for every naming of the nodes.

    Signs of eigenvectors are such that the sum of cubes is positive.
    """
    n = table.shape[0]
    degree = np.asarray(table.sum(axis=1), dtype=np.float64).ravel()
    extra = degree.mean()  # as in `leading_vectors`: a small edge more between any two nodes
    full = degree + extra
    scale = np.where(full > 0, 1 / np.sqrt(np.where(full > 0, full, 1.0)), 0.0)
    trivial = np.sqrt(full / max(full.sum(), 1e-12))

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        """The normalised adjacency without the trivial vector, times some vectors (n, m)."""
        v = v.reshape(n, -1)
        scaled = scale[:, None] * v
        spread = scale[:, None] * (table @ scaled + extra / n * scaled.sum(0))
        return np.asarray(spread - trivial[:, None] * (trivial @ v))

    k = min(n_vectors, n - 1)
    if n <= DENSE:
        values, vectors = linalg.eigh(product(np.eye(n)))
    else:
        start = np.random.default_rng(0).normal(size=n)
        operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
        values, vectors = eigsh(operator, k=k, which="LM", v0=start)
    best = np.argsort(-np.abs(values), kind="stable")[:k]
    values, vectors = values[best], vectors[:, best]
    vectors = vectors * np.where((vectors**3).sum(0) < 0, -1.0, 1.0) * math.sqrt(n)
    missing = n_vectors - k
    full = [
        table.toarray(), np.pad(vectors, ((0, 0), (0, missing))), np.pad(values, (0, missing)),
    ]  # fmt: skip
    return Graphs(*(torch.from_numpy(part)[None].float().to(device) for part in full))


def _posterior(
    network: NCPNetwork,
    x: Graphs,
    told: Constraints,
    n_samples: int,
    signs: int,
    generator: torch.Generator,
) -> tuple[Samples, Tensor, float]:
    """Samples over signs and orders, and the most probable grouping with its log-probability."""
    network.eval()
    signs = min(signs, n_samples)
    coin = torch.rand(signs, x.values.shape[1], generator=generator, device=generator.device)
    flips = torch.where(coin < 0.5, -1.0, 1.0)[:, None]  # (signs, 1, k)
    many = Graphs(
        x.adjacency.expand(signs, -1, -1), x.vectors * flips, x.values.expand(signs, -1)
    )  # fmt: skip
    answers = Answers(told) if len(told.links().a) else None
    each = -(-n_samples // signs)
    order = None if answers is None else answers.order(signs * each, generator)
    first = None if order is None else order[::each]
    sampler = Sampler(network)
    drawn = sampler.sample(
        many, each, orders=each, order=order, allowed=answers, generator=generator, resample=0.0
    )
    greedy = sampler.greedy(many, order=first, allowed=answers, generator=generator)
    found = merged(drawn)
    candidates = torch.unique(
        torch.cat([found.labels[:CANDIDATES], *(one.labels for one in greedy)]), dim=0
    )
    scores = []
    for s in range(signs):
        one = Graphs(*(part[s : s + 1] for part in many))
        scores.append(averaged(network, one, candidates, orders=ORDERS, generator=generator)[0])
    mean = torch.stack(scores).logsumexp(0) - math.log(signs)
    return found, candidates[int(mean.argmax())], float(mean.max())


def _with_singles(labels: Tensor, seen: NDArray[np.bool_]) -> Tensor:
    """(P, N) labels of all nodes: those that were not seen are each a group of their own."""
    there = torch.from_numpy(seen).to(labels.device)
    full = torch.arange(len(seen), device=labels.device).repeat(len(labels), 1)
    # Names of seen groups and of single nodes must differ, and all must be below N.
    full[:, ~there] = int(there.sum()) + torch.arange(int((~there).sum()), device=labels.device)
    full[:, there] = labels
    return relabel(full)
