"""Blocks of graphs: the clustering process against what users would pick instead.

    python -m benchmarks.ncp.graphs --weights graphs.safetensors --json ncp_graphs.json

Fresh graphs from the stochastic block model that the weights were trained on, the same for all:
AMI and ARI against the true blocks, the error in the number of groups, and seconds per graph.
Spectral clustering (scikit-learn) is told the true number of groups; Louvain (networkx, needed for
this benchmark only: pip install networkx) and the clustering process are not. The last table has
graphs of the real world whose groups are known, which the weights were not trained for.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from benchmarks.measuring import provenance
from samekind.clusterers.ncp.amortized.graph_clustering import group_nodes
from samekind.clusterers.ncp.amortized.graph_encoder import load_graph_network
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.network import NCPNetwork

Labels = NDArray[np.intp]
Row = dict[str, Any]
Method = Callable[[NDArray[np.float32], int, int], Labels]
"""From an adjacency, the true number of groups and a seed to labels."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--weights", required=True)
    add("--graphs", type=int, default=50)
    add("--points", type=int, nargs=2, default=(50, 299))
    add("--keep", type=float, nargs="*", default=(1.0,), help="parts of the edges that stay")
    add("--samples", type=int, default=64, help="of each graph")
    add("--signs", type=int, default=8)
    add("--seed", type=int, default=1000, help="not one that was trained on")
    add("--device", default="cpu", help="of the clustering process")
    add("--json", default=None)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")  # spectral clustering of graphs that are not connected
    torch.set_num_threads(1)
    network = load_graph_network(wanted.weights, device=wanted.device)
    methods: dict[str, Method] = {
        "ncp": process(network, wanted.samples, wanted.signs, wanted.device),
        "ncp, one sample": process(network, 1, 1, wanted.device),
        "spectral, true K": spectral,
        "louvain": louvain,
    }
    result: dict[str, Any] = {"settings": vars(wanted), "blocks": [], "known": []}
    for keep in wanted.keep:
        data = StochasticBlocks(points=tuple(wanted.points), keep=keep)
        graphs = list(drawn(data, wanted.graphs, wanted.seed))
        rows = [{"keep": keep, **row} for row in scored(methods, graphs)]
        show(f"{len(graphs)} graphs, {keep:g} of the edges", rows)
        result["blocks"] += rows
    for name, graph in known():
        rows = [{"graph": name, **row} for row in scored(methods, [graph])]
        show(f"{name}, {len(graph[1])} nodes", rows)
        result["known"] += rows
    if wanted.json:
        result |= provenance()
        Path(wanted.json).write_text(json.dumps(result, indent=1, default=str))


Graph = tuple[NDArray[np.float32], Labels]


def drawn(data: StochasticBlocks, n: int, seed: int) -> Iterator[Graph]:
    """Adjacency and true blocks of so many graphs; those with too many blocks are drawn anew."""
    chance = torch.Generator().manual_seed(seed)
    count = 0
    while count < n:
        (graphs, labels, mask) = data.draw(1, chance)
        size = int(mask.sum())
        if size:
            count += 1
            table = graphs.adjacency[0, :size, :size].numpy()
            yield table, labels[0, :size].numpy().astype(np.intp)


def known() -> Iterator[tuple[str, Graph]]:
    """Graphs of the real world with known groups, as far as they ship with networkx."""
    import networkx as nx  # type: ignore[import-untyped]

    club = nx.karate_club_graph()
    sides = np.array([club.nodes[node]["club"] == "Officer" for node in club], dtype=np.intp)
    yield "karate club", (nx.to_numpy_array(club, weight=None, dtype=np.float32), sides)


def process(network: NCPNetwork, samples: int, signs: int, device: str) -> Method:
    def group(table: NDArray[np.float32], K: int, seed: int) -> Labels:
        found = group_nodes(
            sparse.csr_array(table), network, n_samples=samples, signs=signs, seed=seed,
            device=device,
        )  # fmt: skip
        return found.labels

    return group


def spectral(table: NDArray[np.float32], K: int, seed: int) -> Labels:
    model = SpectralClustering(K, affinity="precomputed", random_state=seed)
    return np.asarray(model.fit_predict(table), dtype=np.intp)


def louvain(table: NDArray[np.float32], K: int, seed: int) -> Labels:
    import networkx as nx

    labels = np.zeros(len(table), dtype=np.intp)
    groups = nx.community.louvain_communities(nx.from_numpy_array(table), seed=seed)
    for k, members in enumerate(groups):
        labels[list(members)] = k
    return labels


def scored(methods: dict[str, Method], graphs: list[Graph]) -> Iterator[Row]:
    """One row per method: means over the graphs, and the standard error of the first."""
    for name, method in methods.items():
        found: list[list[float]] = []
        for number, (table, truth) in enumerate(graphs):
            K, began = int(truth.max()) + 1, time.perf_counter()
            labels = method(table, K, number)
            seconds = time.perf_counter() - began
            ami = adjusted_mutual_info_score(truth, labels)
            ari = adjusted_rand_score(truth, labels)
            found.append([ami, ari, labels.max() + 1 - K, seconds])
        values = np.array(found)
        error = values[:, 0].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        yield {
            "method": name, "AMI": values[:, 0].mean(), "+-": error, "ARI": values[:, 1].mean(),
            "median AMI": float(np.median(values[:, 0])),
            "K right": float((values[:, 2] == 0).mean()), "K - true": values[:, 2].mean(),
            "seconds": values[:, 3].mean(), "each AMI": values[:, 0].round(4).tolist(),
        }  # fmt: skip


def show(title: str, rows: list[Row]) -> None:
    print(f"\n{title}")
    names = [name for name, value in rows[0].items() if isinstance(value, float)]
    print(f"{'':18}" + "".join(f"{name:>12}" for name in names))
    for row in rows:
        print(f"{row['method']:18}" + "".join(f"{row[name]:12.3f}" for name in names), flush=True)


if __name__ == "__main__":
    main()
