"""How good the groups of nodes by ``ncp-graph`` are, against what one would use instead.

    python -m benchmarks.ncp.graphs --json                       # what is missing in graphs.jsonl
    python -m benchmarks.ncp.graphs --known football.gml:value   # a graph of your own with labels
    python -m benchmarks.ncp.graphs --table                      # the table of the kept rows

Fresh graphs of one size, the same for all methods, in three worlds: ``blocks`` is the stochastic
block model with Beta probabilities (CRP 0.7; Beta(6, 3) within, Beta(1, 5) between), ``sparse`` is
the same with three tenths of the edges, ``communities`` has hubs and triangles. Then graphs of the
real world whose groups are known. ``ncp-graph`` is the estimator as it comes, ``--weights FILE``
takes other weights. ``gibbs`` is collapsed Gibbs sampling for the block model, which is the true
one in ``blocks`` (four chains of 200 sweeps, the grouping that agrees best with its draws, which is
how NCPGraph chooses). Spectral clustering is told the true number of groups; Louvain is not. Nodes
without edges are not scored.

Pieces that are in the file already are not run again; other weights have another digest.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import provenance
from benchmarks.ncp import gibbs_blocks
from benchmarks.ncp.quality import digest, show
from benchmarks.ncp.summaries import FILE_OF, Row, read_rows
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.graph_laws import MixedGraphs
from samekind.clusterers.ncp.amortized.graphs import StochasticBlocks
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.samples import Samples
from samekind.clusterers.ncp.central import central_costs, linkage_cuts
from samekind.clusterers.ncp.graph import NCPGraph
from samekind.clusterers.ncp.graph_weights import shipped_graphs
from samekind.evaluation import ari
from samekind.simulation.rows import append_row
from samekind.sources import open_labelled, open_set

FILE = FILE_OF["graphs"]
FRESH = 18
"""Seed of the graphs of the kept rows: no settings were chosen on them."""
PIECE = 25
"""Graphs of a row."""
WORLDS: dict[str, Generator] = {
    "blocks": StochasticBlocks(),
    "sparse": StochasticBlocks(keep=0.3),
    "communities": MixedGraphs(shares=(0.0, 1.0, 0.0)),
}
Tables = NDArray[np.float32]
Labels = NDArray[np.intp]
Method = Callable[[Tables, Sequence[Labels]], list[Labels]]
"""From graphs (B, N, N) to labels; the truth is only for the number of groups."""


class Piece(NamedTuple):
    """Some graphs of one world and size, and what groups them."""

    world: str
    n: int
    method: str
    first: int
    sets: int
    seed: int
    weights: str | None


def main(given: Sequence[str] | None = None) -> None:
    wanted = arguments(given)
    kept = read_rows(wanted.json or FILE)
    if wanted.table:
        show([row for row in kept if row["seed"] == wanted.seed])
        return
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # spectral clustering of graphs that are not connected
    done = {key_of(row) for row in kept} if wanted.json else set()
    found: list[Row] = []
    for piece in pieces(wanted):
        row = {} if key(piece) in done else measured(piece)
        if row:
            found.append(row)
            print(line(row), flush=True)
            if wanted.json:
                append_row(wanted.json, row | provenance())
    show(found)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = common_arguments(__doc__ or "", FILE)
    parser.set_defaults(seed=FRESH)
    add = parser.add_argument
    add("--worlds", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    add("--known", nargs="*", default=["karate:club"], help="SET:COLUMN or FILE:COLUMN")
    add("--sizes", type=int, nargs="+", default=[20, 50, 100, 200])
    add("--sets", type=int, default=50, help="graphs per world and size")
    add("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    add("--weights", default=str(shipped_graphs()), help="of ncp-graph")
    add("--table", action="store_true", help="run nothing, print the table of the kept rows")
    return parser.parse_args(given)


def pieces(wanted: argparse.Namespace) -> Iterator[Piece]:
    """All that is wanted, large graphs last."""
    for name in wanted.known:
        for method in wanted.methods:
            yield Piece(name, 0, method, 0, 1, wanted.seed, weights_of(method, wanted))
    for n in sorted(wanted.sizes):
        for world in wanted.worlds:
            for method in wanted.methods:
                for first in range(0, wanted.sets, PIECE):
                    sets = min(PIECE, wanted.sets - first)
                    yield Piece(
                        world, n, method, first, sets, wanted.seed, weights_of(method, wanted)
                    )


def weights_of(method: str, wanted: argparse.Namespace) -> str | None:
    return wanted.weights if method.startswith("ncp") else None


def key(piece: Piece) -> tuple[Any, ...]:
    """What tells pieces apart: with other weights it is another piece."""
    sha = piece.weights and digest(piece.weights)
    return (piece.world, piece.method, piece.n, piece.first, piece.sets, piece.seed, sha)


def key_of(row: Row) -> tuple[Any, ...]:
    """The key of the piece that a row is about."""
    n = 0 if ":" in row["world"] else row["N"]
    names = ("first", "sets", "seed", "sha256")
    return (row["world"], row["method"], n, *(row[name] for name in names))


def measured(piece: Piece) -> Row:
    """Group all graphs of a piece."""
    if piece.n == 0:
        tables, truth = known(piece.world)
    else:
        tables, truth = drawn(WORLDS[piece.world], piece)
    began = time.process_time()
    found = METHODS[piece.method](piece)(tables, truth)
    seconds = (time.process_time() - began) / piece.sets
    linked = [table.any(axis=1) for table in tables]  # nothing tells where the others belong
    truth, found = ([row[w] for row, w in zip(rows, linked, strict=True)] for rows in
                    (truth, found))  # fmt: skip
    file = piece.weights
    return {
        "world": piece.world, "N": tables.shape[1], "method": piece.method, "seed": piece.seed,
        "first": piece.first, "sets": piece.sets,
        "ari": [round(ari(t, f), 4) for t, f in zip(truth, found, strict=True)],
        "ami": [round(float(adjusted_mutual_info_score(t, f)), 4)
                for t, f in zip(truth, found, strict=True)],
        "groups": [len(np.unique(f)) for f in found],
        "true_groups": [len(np.unique(t)) for t in truth],
        "processor_seconds": round(seconds, 4),
        "weights": Path(file).name if file else None, "sha256": digest(file) if file else None,
    }  # fmt: skip


def drawn(world: Generator, piece: Piece) -> tuple[Tables, list[Labels]]:
    """Graphs and true labels of a piece, each the same for any number of graphs."""
    chance = torch.Generator().manual_seed(9_000_000 + 1000 * piece.seed + piece.n)
    tables: list[Tables] = []
    truth: list[Labels] = []
    while len(tables) < piece.first + piece.sets:
        x, labels, mask = world.draw(PIECE, chance, (piece.n, piece.n))
        usable = mask.all(1) & (x.adjacency.sum((1, 2)) > 0)
        tables += list(x.adjacency[usable].numpy())
        truth += list(labels[usable].numpy().astype(np.intp))
    chosen = slice(piece.first, piece.first + piece.sets)
    return np.stack(tables[chosen]), truth[chosen]


def known(name: str) -> tuple[Tables, list[Labels]]:
    """A graph with known groups: a set or a file, and the column of its labels."""
    source, _, column = name.rpartition(":")
    found = open_set(source) if source == "karate" else open_labelled(source)
    table: Any = getattr(found.collection, "matrix")  # noqa: B009 - only collections of rows
    return np.asarray(table, np.float32)[None], [found.truth(column)[0]]


def by_ncp(piece: Piece) -> Method:
    """The estimator as it comes."""
    model = NCPGraph(weights=piece.weights, inputs="graph", random_state=0)
    return lambda tables, truth: [model.fit(table).labels_.copy() for table in tables]


def by_gibbs(piece: Piece) -> Method:
    """Collapsed Gibbs sampling for the block model; weights of edges do not count."""
    rng = np.random.default_rng((piece.seed, piece.n, piece.first))

    def group(tables: Tables, truth: Sequence[Labels]) -> list[Labels]:
        run = gibbs_blocks.sample(tables > 0, gibbs_blocks.BlockModel(), rng, keep=25)
        return [central(draws) for draws in run.draws]

    return group


def central(draws: Labels) -> Labels:
    """The estimate of NCPGraph over other draws (S, N)."""
    labels, count = torch.unique(relabel(torch.from_numpy(draws)), dim=0, return_counts=True)
    drawn = Samples(labels, torch.zeros(len(labels)), count, torch.zeros(len(labels)))
    together = drawn.co_membership()
    found = torch.cat([labels, linkage_cuts(drawn, together, None)])
    return np.asarray(found[int(central_costs(found, together).argmin())].numpy(), dtype=np.intp)


def by_spectral(piece: Piece) -> Method:
    """Spectral clustering of scikit-learn, with the true number of groups."""
    from sklearn.cluster import SpectralClustering

    def group(tables: Tables, truth: Sequence[Labels]) -> list[Labels]:
        found = []
        for table, labels in zip(tables, truth, strict=True):
            K = len(np.unique(labels))
            model = SpectralClustering(K, affinity="precomputed", random_state=0)
            found.append(np.asarray(model.fit_predict(table), dtype=np.intp))
        return found

    return group


def by_louvain(piece: Piece) -> Method:
    """Louvain's modularity communities of networkx."""
    import networkx as nx  # type: ignore[import-untyped]

    def group(tables: Tables, truth: Sequence[Labels]) -> list[Labels]:
        found = []
        for table in tables:
            labels = np.zeros(len(table), dtype=np.intp)
            sets = nx.community.louvain_communities(nx.from_numpy_array(table), seed=0)
            for k, members in enumerate(sets):
                labels[list(members)] = k
            found.append(labels)
        return found

    return group


METHODS: dict[str, Callable[[Piece], Method]] = {
    "ncp-graph": by_ncp,
    "gibbs": by_gibbs,
    "spectral, true K": by_spectral,
    "louvain": by_louvain,
}


def line(row: Row) -> str:
    return (
        f"{row['world']:>12} {row['N']:4d} {row['method']:18} from {row['first']:3d}: "
        f"ARI {np.mean(row['ari']):.3f}, AMI {np.mean(row['ami']):.3f}, "
        f"{row['processor_seconds']:.2f} s each"
    )


if __name__ == "__main__":
    main()
