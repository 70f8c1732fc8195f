"""NCP on graphs, on one page: train a clustering process for nodes, group a graph with it.

    python recipes/ncp_graphs.py --seconds 600 --out graphs.safetensors --json graphs.json

Graphs come from several laws (`--law mixed`: blocks, communities with hubs and triangles, nearest
neighbours) or from the stochastic block model alone (`--law blocks`), with an unknown number of
groups. Each node is described by eigenvectors and by the other nodes (attention; `--encoder sage`
and `gated` are the published ones). With `--graph` the nodes of your own graph (an .edges
file, one edge per line) are grouped in the end.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

import torch

from samekind.clusterers.ncp.amortized.graph_encoder import (
    KINDS,
    GraphSizes,
    graph_network,
    load_graph_network,
    save_graph_network,
)
from samekind.clusterers.ncp.amortized.graph_laws import MixedGraphs
from samekind.clusterers.ncp.amortized.graph_pool import GraphPool, PooledTraining
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import PointwiseTraining
from samekind.clusterers.ncp.amortized.training_loop import History, doubling_ranges
from samekind.compute import best_device

FILES = ("out", "json", "graph", "start", "checkpoint")
"""Options that are names of files, which the weights do not keep."""


def main() -> None:
    wanted = arguments()
    device = best_device(wanted.device).device
    low, high = wanted.points
    data = {"mixed": MixedGraphs(), "blocks": StochasticBlocks()}[wanted.law].of_size(low, high)
    network = made(wanted)
    history = trained(network, data, device, wanted)
    command = {k: v for k, v in vars(wanted).items() if k not in FILES}
    facts = {
        "command": command | {"start": wanted.start and Path(wanted.start).name},
        "points": data.points, "steps": history.steps[-1],
        "nll": median(history.nll_per_point[-10:]),
    }  # fmt: skip
    save_graph_network(wanted.out, network, facts, half=True)
    print(f"{wanted.out}: {history.steps[-1]} steps on {device}")
    if wanted.json:
        Path(wanted.json).write_text(json.dumps({**facts, "history": vars(history)}, indent=1))
    if wanted.graph:
        show(wanted.graph, wanted.out)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--law", default="mixed", choices=("mixed", "blocks"))
    add("--encoder", default="attention", choices=KINDS)
    add("--width", type=int, default=None, help="of all layers: 128, or 64 if gated")
    add("--layers", type=int, default=5, help="of the encoder")
    add("--points", type=int, nargs=2, default=(10, 200), help="smallest and largest graph")
    add("--permutations", type=int, default=1, help="orders of each graph per step")
    add("--average", type=float, default=0.999, help="memory of the running mean of weights")
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=32)
    add("--most-points", type=int, default=None, help="fewer graphs per step, if they are large")
    add("--lr", type=float, default=7e-4)
    add("--schedule", default="cosine", choices=("cosine", "constant"))
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--start", default=None, help="weights to begin with, of the same sizes")
    add("--workers", type=int, default=0, help="processes that draw graphs ahead; 0: the device")
    add("--checkpoint", default=None, help="state of the training, written every 1,000 steps")
    add("--out", default="ncp-graphs.safetensors")
    add("--json", default=None, help="how the training went")
    add("--graph", default=None, help=".edges, .gml or .graphml")
    return parser.parse_args()


def made(wanted: argparse.Namespace) -> NCPNetwork:
    """The network: new, or as an earlier training left it."""
    if wanted.start:
        return load_graph_network(wanted.start)
    torch.manual_seed(wanted.seed)
    width = wanted.width or (64 if wanted.encoder == "gated" else 128)
    sizes = Sizes(width=width, h_outputs=width, g_outputs=width, feed_point=True)
    return graph_network(GraphSizes(wanted.encoder, width, wanted.layers), sizes)


def trained(
    network: NCPNetwork, data: MixedGraphs | StochasticBlocks, device: str, wanted: Any
) -> History:
    """Train on graphs that the device draws, or that other processes draw ahead."""
    ranges = doubling_ranges(data.points)
    how = {
        "batch": wanted.batch, "lr": wanted.lr, "weight_decay": 1e-4, "clip": 1.0,
        "ranges": ranges, "device": device, "average": wanted.average,
        "most_points": wanted.most_points,
    }  # fmt: skip
    end = (None, wanted.seconds, wanted.schedule, wanted.seed, report, wanted.checkpoint)
    training: PointwiseTraining
    if not wanted.workers:
        training = PointwiseTraining(network, data, wanted.permutations, **how)
        history = training.run(*end, quick=True)
    else:
        pool = GraphPool(
            data, ranges, batch=wanted.batch, workers=wanted.workers, device=device,
            seed=wanted.seed,
        )  # fmt: skip
        with pool:
            training = PooledTraining(network, pool, wanted.permutations, **how)
            history = training.run(*end, quick=True)
        print("batches drawn ahead:", pool.taken)
    training.use_average()
    return history


def report(step: int, done: float, nll: float) -> None:
    print(f"{done:5.0%} step {step} {nll:.4f} nats per node", flush=True)


def show(file: str, weights: str) -> None:
    """The groups of a graph of one's own."""
    from samekind.clusterers import NCPGraph
    from samekind.sources import open_source

    items = open_source(file)
    model = NCPGraph(weights=weights, random_state=0).fit(items.matrix)
    law = {k: round(float(p), 3) for k, p in enumerate(model.n_clusters_posterior_) if p > 0}
    print(f"{len(items)} nodes; probability of each number of groups: {law}")
    for number in range(model.n_clusters_):
        print(
            f"group {number}:", *(items.id(int(i)) for i in (model.labels_ == number).nonzero()[0])
        )


if __name__ == "__main__":
    main()
