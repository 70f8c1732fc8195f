"""How good the groups of the shipped clustering processes are, against what one would use instead.

    python -m benchmarks.ncp.quality --json                  # what is missing in quality.jsonl
    python -m benchmarks.ncp.quality --json --jobs 2 --methods "ncp pointwise" gibbs
    python -m benchmarks.ncp.quality --table                 # the table of the kept rows

2-D mixtures, number of groups unknown (CRP 0.7), the same data for all. Two worlds: ``clear`` has
centres N(0, 10^2) and unit scale; ``overlapping`` has centres N(0, 4^2) and a scale between 0.5
and 2 for each group. ``ncp VARIANT`` is the estimator ``NCP(variant=VARIANT)`` as it comes, with
the file of weights that the package ships; ``--weights NAME=FILE`` adds ``ncp NAME``. ``gibbs`` is
collapsed Gibbs sampling for the true model, four chains of 200 sweeps: the most probable grouping
that it visited, and ``gibbs central`` the grouping that agrees best with its draws, which is how
NCP chooses. The other methods are in rivals.py.

A row is a piece of some data sets. Pieces that are in the file already are not run again, so that
a stopped benchmark continues; other weights have another digest, so they are run.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import provenance, table
from benchmarks.ncp import gibbs
from benchmarks.ncp.rivals import (
    ALPHA,
    MOST_GROUPS,
    Floats,
    Labels,
    Method,
    by_silhouette,
    central,
    hdbscan,
    variational,
)
from benchmarks.ncp.summaries import FILE_OF, Row, digest, read_rows, summary
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.weights import FILES, shipped
from samekind.evaluation import ari
from samekind.simulation.rows import append_row

FRESH = 18
"""Seed of the data sets of the kept rows: no settings were chosen on them."""
PIECE = 25
"""Data sets of a row; Gibbs sampling moves all of a world and size together."""


@dataclass(frozen=True)
class World:
    """Where data come from, and the same as a model for the Gibbs sampler."""

    generator: GaussianMixtures
    model: gibbs.Model


WORLDS = {
    "clear": World(GaussianMixtures(max_groups=MOST_GROUPS), gibbs.Model(ALPHA, 10.0)),
    "overlapping": World(
        GaussianMixtures(spread=4.0, scale=(0.5, 2.0), scales="group", max_groups=MOST_GROUPS),
        gibbs.Model.log_uniform(ALPHA, 4.0, 0.5, 2.0),
    ),
}
OTHERS: dict[str, Method] = {
    "dp-gmm spherical": lambda points: variational(points, "spherical", 0),
    "dp-gmm full": lambda points: variational(points, "full", 0),
    "k-means silhouette": lambda points: by_silhouette(points, 0),
    "hdbscan": hdbscan,
}
GIBBS = ("gibbs", "gibbs central")


class Piece(NamedTuple):
    """Some data sets of one world and size, and what groups them."""

    world: str
    n: int
    method: str
    first: int
    sets: int
    seed: int
    sweeps: int
    weights: str | None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", FILE_OF["quality"])
    parser.set_defaults(seed=FRESH)
    add = parser.add_argument
    add("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    add("--sizes", type=int, nargs="+", default=[50, 100, 200, 500])
    add("--sets", type=int, default=100, help="data sets per world and size")
    add("--methods", nargs="+", default=None, help="None: all")
    add("--weights", nargs="+", default=[], metavar="NAME=FILE", help="networks not shipped")
    add("--sweeps", type=int, default=200, help="of the Gibbs sampler, in four chains")
    add("--jobs", type=int, default=1, help="processes")
    add("--table", action="store_true", help="run nothing, print the table of the kept rows")
    wanted = parser.parse_args(arguments)
    kept = read_rows(wanted.json or FILE_OF["quality"])
    if wanted.table:
        show([row for row in kept if row["seed"] == wanted.seed])
        return
    done = {key_of(row) for row in kept} if wanted.json else set()
    found: list[Row] = []
    for rows in run([piece for piece in pieces(wanted) if key(piece) not in done], wanted.jobs):
        found += rows
        for row in rows:
            print(line(row), flush=True)
            if wanted.json:
                append_row(wanted.json, row | provenance())
    show(found)


def pieces(wanted: argparse.Namespace) -> Iterator[Piece]:
    """All that is wanted, large sets last."""
    files = {f"ncp {v}": str(shipped(v, 2)) for v in FILES if shipped(v).is_file()}
    files |= {f"ncp {name}": file for name, _, file in (w.partition("=") for w in wanted.weights)}
    names = wanted.methods or [*files, *OTHERS, "gibbs"]
    for n in sorted(wanted.sizes):
        for world in wanted.worlds:
            for name in names:
                step = wanted.sets if name == "gibbs" else min(PIECE, wanted.sets)
                for first in range(0, wanted.sets, step):
                    yield Piece(world, n, name, first, min(step, wanted.sets - first), wanted.seed,
                                wanted.sweeps, files.get(name))  # fmt: skip


def key(piece: Piece) -> tuple[Any, ...]:
    """What tells pieces apart: with other weights it is another piece."""
    sha = piece.weights and digest(piece.weights)
    return (piece.world, piece.n, piece.method, piece.first, piece.sets, piece.seed, sha)


def key_of(row: Row) -> tuple[Any, ...]:
    """The key of the piece that a row is about."""
    names = ("world", "N", "method", "first", "sets", "seed", "sha256")
    return tuple(row[name] for name in names)


def run(some: Sequence[Piece], jobs: int) -> Iterator[list[Row]]:
    """The rows of each piece as it ends, in so many processes."""
    if jobs < 2:
        yield from map(measured, some)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measured, piece) for piece in some]):
            yield done.result()


def measured(piece: Piece) -> list[Row]:
    """Group all data sets of a piece; Gibbs sampling makes two rows."""
    x, truth = drawn(WORLDS[piece.world], piece.n, piece.first + piece.sets, piece.seed)
    x, truth = x[piece.first :], truth[piece.first :]
    by_method: dict[str, Sequence[Labels]]
    began = time.process_time()
    if piece.method == "gibbs":
        rng = np.random.default_rng((piece.seed, piece.n))
        model = WORLDS[piece.world].model
        found = gibbs.sample(x, model, rng, sweeps=piece.sweeps, keep=25)
        estimates = ([*found.best], [central(draws) for draws in found.draws])
        by_method = dict(zip(GIBBS, estimates, strict=True))
        more = {"chains_agree": float((found.spread < 1e-6).mean()), "sweeps": piece.sweeps}
    else:
        method = method_of(piece)
        by_method, more = {piece.method: [method(points) for points in x]}, {}
    seconds = (time.process_time() - began) / piece.sets
    return [
        {**scored(piece, title, truth, labels, seconds), **more}
        for title, labels in by_method.items()
    ]


def method_of(piece: Piece) -> Method:
    """The method of a piece, as it comes."""
    if piece.weights is None:
        return OTHERS[piece.method]
    from samekind.clusterers.ncp.estimator import NCP

    model = NCP(weights=piece.weights, random_state=0)

    def ncp(points: Floats) -> Labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # beyond 400 points, of which a sample is placed
            return np.asarray(model.fit(points).labels_)

    return ncp


def drawn(world: World, n: int, draws: int, seed: int) -> tuple[Floats, Labels]:
    """(draws, n, 2) points and (draws, n) true labels, each the same for any number of draws."""
    chance = torch.Generator().manual_seed(7_000_000 + 1000 * seed + n)
    found: list[tuple[Floats, Labels]] = []
    while sum(len(x) for x, _ in found) < draws:
        x, labels, mask = world.generator.draw(PIECE, chance, (n, n))
        kept = mask.all(1)  # more than MOST_GROUPS groups: blanked by the generator
        found.append((x[kept].double().numpy(), labels[kept].numpy()))
    points, truth = (np.concatenate(parts)[:draws] for parts in zip(*found, strict=True))
    return points, truth


def scored(piece: Piece, title: str, truth: Labels, found: Sequence[Labels], seconds: float) -> Row:
    """ARI and numbers of groups of each data set; processor seconds of one."""
    scores = [round(ari(t, f), 4) for t, f in zip(truth, found, strict=True)]
    file = piece.weights
    return {
        "world": piece.world, "N": piece.n, "method": title, "seed": piece.seed,
        "first": piece.first, "sets": piece.sets, "ari": scores,
        "groups": [len(np.unique(f)) for f in found], "true_groups": (truth.max(1) + 1).tolist(),
        "processor_seconds": round(seconds, 4),
        "weights": Path(file).name if file else None, "sha256": digest(file) if file else None,
    }  # fmt: skip


def line(row: Row) -> str:
    return (
        f"{row['world']:>11} {row['N']:4d} {row['method']:18} from {row['first']:3d}: "
        f"ARI {np.mean(row['ari']):.3f}, {row['processor_seconds']:.2f} s each"
    )


def show(rows: Sequence[Row]) -> None:
    """Mean ARI with its 95 % interval and errors of K, by world, size and method."""
    head = ("world", "N", "method", "sets", "ARI", "95 % +-", "|K - true|", "K - true", "K right",
            "processor s")  # fmt: skip
    lines = []
    for one in summary(rows):
        values = (one.ari, one.half, one.k_error, one.k_bias, one.k_right, one.seconds)
        lines.append((one.world, str(one.n), one.name, str(one.sets),
                      *(f"{value:.3f}" for value in values)))  # fmt: skip
    table([head, *lines])


if __name__ == "__main__":
    main()
