"""NCP on graphs, on one page: train a clustering process for nodes, group a graph with it.

    python recipes/ncp_graphs.py --seconds 600 --out graphs.safetensors --json graphs.json

Graphs come from a stochastic block model with an unknown number of blocks (CRP), and each node is
described by eigenvectors of the Laplacian and by its neighbours (GraphSAGE or GatedGCN). With
`--keep 0.1 1` some of the graphs are as sparse as those of the real world; with `--graph` the
nodes of your own graph (a text file, one edge per line) are grouped in the end.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from samekind.clusterers.ncp.amortized.graph_encoder import (
    GraphSizes,
    graph_network,
    save_graph_network,
)
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.clusterers.ncp.amortized.training import train
from samekind.compute import best_device


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--encoder", default="sage", choices=("sage", "gated"))
    add("--width", type=int, default=None, help="of the encoder: 128, or 64 if gated")
    add("--layers", type=int, default=4)
    add("--points", type=int, nargs=2, default=(50, 299), help="smallest and largest graph")
    add("--keep", type=float, nargs=2, default=(1.0, 1.0), help="part of the edges that stays")
    add("--feed-point", action="store_true", help="f sees the node itself as well")
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=32)
    add("--lr", type=float, default=1e-3)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--out", default="ncp-graphs.safetensors")
    add("--json", default=None, help="how the training went")
    add("--graph", default=None, help="file of edges: two names per line, perhaps a weight")
    wanted = parser.parse_args()
    device = best_device(wanted.device).device
    low, high = wanted.keep
    data = StochasticBlocks(points=tuple(wanted.points), keep=low if low == high else (low, high))
    width = wanted.width or {"sage": 128, "gated": 64}[wanted.encoder]
    torch.manual_seed(wanted.seed)
    network = graph_network(
        GraphSizes(wanted.encoder, width, wanted.layers), Sizes(feed_point=wanted.feed_point)
    )
    history = train(
        network, data, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr, device=device,
        seed=wanted.seed, quick=True,
        progress=lambda step, done, nll: print(
            f"{done:5.0%} step {step} {nll:.4f} nats per node", flush=True
        ),
    )  # fmt: skip
    facts = {"command": vars(wanted), "steps": history.steps[-1], "nll": history.nll_per_point[-1]}
    save_graph_network(wanted.out, network, facts)
    print(f"{wanted.out}: {history.steps[-1]} steps on {device}")
    if wanted.json:
        Path(wanted.json).write_text(json.dumps({**facts, "history": vars(history)}, indent=1))
    if wanted.graph:
        show(wanted.graph, wanted.out)


def show(file: str, weights: str) -> None:
    """The groups of a graph of one's own."""
    from samekind.clusterers.ncp.amortized.graph_clustering import group_nodes

    lines = Path(file).read_text("utf-8").splitlines()
    found = group_nodes([line.split() for line in lines if line.strip()], weights)
    law = {k: round(float(p), 3) for k, p in enumerate(found.n_groups_distribution()) if p > 0}
    print(f"{len(found.nodes)} nodes; probability of each number of groups: {law}")
    for number, group in enumerate(found.groups):
        print(f"group {number}:", " ".join(map(str, group)))


if __name__ == "__main__":
    main()
