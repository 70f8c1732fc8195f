"""Graphs of a user: read as names of nodes and weights of edges, and described for a network."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from samekind.clusterers.ncp.amortized.graph_spectrum import NOTHING
from samekind.clusterers.ncp.amortized.graphs import Graphs
from samekind.errors import InputError

MAX_NODES = 5_000
"""Encoders keep dense tables of nodes by nodes."""
MAX_DENSE_NODES = 1_000
"""Nodes up to which the eigenvectors come from a dense matrix."""


class ReadGraph(NamedTuple):
    """Names of the nodes, and (N, N) weights of edges: sparse, symmetric, without loops."""

    nodes: tuple[Hashable, ...]
    table: Any


def is_networkx(graph: Any) -> bool:
    """Whether an object is a graph of networkx, or behaves like one."""
    return hasattr(graph, "is_directed") and hasattr(graph, "nodes")


def read_graph(graph: Any, *, weight: str = "weight") -> ReadGraph:
    """Read a networkx graph, or a symmetric adjacency (an array or scipy sparse).

    Loops are left out. Only ratios of weights matter: their mean is one.
    """
    if is_networkx(graph):
        if graph.is_directed():
            raise InputError(
                "Expected an undirected graph, got a directed one. Give graph.to_undirected()."
            )
        nodes = tuple(graph.nodes)
        table = _from_edges(nodes, graph.edges(data=weight, default=1.0))
    else:
        table = _from_adjacency(sparse.csr_array(graph).astype(np.float64))
        nodes = tuple(range(table.shape[0]))
    return ReadGraph(nodes, _checked(table))


def _from_adjacency(table: Any) -> Any:
    if table.shape[0] != table.shape[1]:
        raise InputError(
            f"Expected an adjacency with one row and one column for each node, got shape "
            f"{table.shape}."
        )
    if table.nnz and abs(table - table.T).max() > 1e-6 * abs(table).max():
        raise InputError(
            "Expected the symmetric adjacency of an undirected graph, got one that differs from "
            "its transpose. Give numpy.maximum(X, X.T) for the edges of either direction."
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
            f"Expected numbers as weights of edges, got {value!r}. Remove the weights, or name "
            "another attribute."
        ) from error


def _checked(table: Any) -> Any:
    n = table.shape[0]
    if n == 0:
        raise InputError("Expected at least 1 node, got a graph without any.")
    if n > MAX_NODES:
        raise InputError(
            f"Expected at most {MAX_NODES:,} nodes, got {n:,}: a network looks at all pairs of "
            "them. Give a part of the graph."
        )
    values = table.data
    if not np.isfinite(values).all() or (values < 0).any():
        odd = values[~np.isfinite(values) | (values < 0)][0]
        raise InputError(
            f"Expected finite weights of edges from 0 on, got {odd:g}. A weight says how strong an "
            "edge is."
        )
    table = sparse.csr_array(table - sparse.diags_array(table.diagonal()))
    table.eliminate_zeros()
    if table.nnz == 0 and n > 1:
        raise InputError(
            f"Expected edges, got {n} nodes without an edge between two of them: nothing tells "
            "which belong together."
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
    if n <= MAX_DENSE_NODES:
        values, vectors = linalg.eigh(product(np.eye(n)))
    else:
        start = np.random.default_rng(0).normal(size=n)
        operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
        values, vectors = eigsh(operator, k=k, which="LM", v0=start)
    best = np.argsort(-np.abs(values), kind="stable")[:k]
    values, vectors = values[best], vectors[:, best]
    vectors = vectors * np.where((vectors**3).sum(0) < 0, -1.0, 1.0) * math.sqrt(n)
    vectors = np.where(np.abs(values) > NOTHING, vectors, 0.0)
    missing = n_vectors - k
    parts = [
        table.toarray(), np.pad(vectors, ((0, 0), (0, missing))), np.pad(values, (0, missing)),
    ]  # fmt: skip
    return Graphs(*(torch.from_numpy(part)[None].float().to(device) for part in parts))
