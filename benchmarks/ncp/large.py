"""The shipped clustering processes on many items: ARI, number of groups and processor time.

    python -m benchmarks.ncp.large --json
    python -m benchmarks.ncp.large --sizes 100000 --dims 2 --sets 1 --variants pointwise acp-s

Mixtures of Gaussians in 2 and 8 dimensions (centres N(0, 10^2), groups of width 0.5 to 2, MFM prior
of the number of groups), the same data for all. Each variant is ``NCP(variant=...)`` as it comes:
the pointwise process places a sample and the others join its groups, the other variants take out
one whole group per pass. k-means is told the true number of groups. Seconds hold everything from
raw vectors to labels.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import emit
from benchmarks.ncp.rivals import Floats, Labels
from benchmarks.ncp.summaries import FILE_OF, digest
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.priors import MFM
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.weights import FILES, shipped
from samekind.evaluation import ari

Row = dict[str, Any]
Group = Callable[[Floats, int, int], Labels]
"""From points, their true number of groups and a seed to labels."""
K_MEANS = "k-means, true K"
FIRST_SEED = 25


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", FILE_OF["large"])
    parser.set_defaults(seed=FIRST_SEED)
    add = parser.add_argument
    add("--variants", nargs="+", default=[v for v in FILES if shipped(v).is_file()])
    add("--sizes", type=int, nargs="+", default=[2_000, 10_000])
    add("--dims", type=int, nargs="+", default=[2, 8])
    add("--sets", type=int, default=5, help="data sets of each size and dimension")
    wanted = parser.parse_args(arguments)
    for row in measured(wanted):
        emit(row, wanted.json)


def measured(wanted: argparse.Namespace) -> Iterator[Row]:
    """One row per dimension, size and method."""
    seeds = range(wanted.seed, wanted.seed + wanted.sets)
    for dim in wanted.dims:
        for n in wanted.sizes:
            sets = [drawn(dim, n, seed) for seed in seeds]
            for name in (*wanted.variants, K_MEANS):
                sha = None if name == K_MEANS else digest(str(shipped(name, dim)))
                about = {"d": dim, "N": n, "method": name, "sha256": sha, "seed": list(seeds)}
                yield {**about, **scored(method_of(name), sets, seeds)}


def drawn(dim: int, n: int, seed: int) -> tuple[Floats, Labels]:
    """One mixture: points (n, dim) and labels (n,)."""
    data = GaussianMixtures(
        dim=dim, prior=MFM(5.0, 1.5, 16), points=(n, n), max_groups=16, scale=(0.5, 2.0),
        scales="group",
    )  # fmt: skip
    x, labels, _ = data.draw(1, torch.Generator().manual_seed(seed))
    return x[0].double().numpy(), labels[0].numpy()


def method_of(name: str) -> Group:
    """A variant of NCP as it comes, or k-means that is told the number of groups."""

    variant: Any = name

    def ncp(X: Floats, K: int, seed: int) -> Labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that of large sets a sample is placed
            return np.asarray(NCP(variant=variant, random_state=seed).fit(X).labels_)

    return k_means if name == K_MEANS else ncp


def k_means(X: Floats, K: int, seed: int) -> Labels:
    """In small batches, with three starts."""
    from sklearn.cluster import MiniBatchKMeans

    return np.asarray(MiniBatchKMeans(K, n_init=3, random_state=seed).fit_predict(X))


def scored(group: Group, sets: Sequence[tuple[Floats, Labels]], seeds: Sequence[int]) -> Row:
    """ARI, groups and processor seconds of each data set."""
    found, seconds = [], []
    for (X, truth), seed in zip(sets, seeds, strict=True):
        began = time.process_time()
        found.append(group(X, int(truth.max()) + 1, seed))
        seconds.append(round(time.process_time() - began, 3))
    return {
        "ari": [round(ari(truth, f), 4) for (_, truth), f in zip(sets, found, strict=True)],
        "groups": [len(np.unique(f)) for f in found],
        "true_groups": [len(np.unique(truth)) for _, truth in sets], "processor_seconds": seconds,
    }  # fmt: skip


if __name__ == "__main__":
    main()
