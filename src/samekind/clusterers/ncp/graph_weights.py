"""Networks of NCPGraph: from the shipped file, from a file of the user, or from training."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.graph_encoder import (
    GraphSizes,
    graph_network,
    load_graph_network,
    save_graph_network,
)
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.training_loop import History, doubling_ranges
from samekind.errors import InputError

FILE = "graphs.safetensors"
"""Name of the shipped file."""


def shipped_graphs() -> Path:
    """The weights for graphs that come with the package."""
    import samekind.clusterers.ncp.amortized.trained as folder

    return Path(folder.__file__ or "").parent / FILE


def graph_network_of(weights: str | Path | None, device: str) -> NCPNetwork:
    """The network in a file (None: the shipped one); read once while the file stays the same."""
    path = shipped_graphs() if weights is None else Path(weights)
    if not path.is_file():
        raise InputError(
            f"Expected a file of weights, found none at {str(path)!r}. Give a file that "
            "NCPGraph.train wrote, or None for the weights that come with the package."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns, device)


@lru_cache(maxsize=4)
def _read(path: str, changed: int, device: str) -> NCPNetwork:
    return load_graph_network(path, device=device).requires_grad_(False)


def train_graph_network(
    generator: Generator,
    path: str | Path,
    *,
    sizes: Sizes | None,
    graph_sizes: GraphSizes | None,
    seed: int,
    **how: Any,
) -> History:
    """Train a network on graphs that a generator draws, and write it to a file.

    `how` goes to :func:`~samekind.clusterers.ncp.amortized.training.train`.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = graph_network(graph_sizes, sizes)
    history = train(network, generator, seed=seed, ranges=doubling_ranges(generator.points), **how)
    facts = {
        "points": list(generator.points), "steps": history.steps[-1],
        "nll": median(history.nll_per_point[-10:]), "seed": seed,
    }  # fmt: skip
    save_graph_network(path, network, facts)
    return history
