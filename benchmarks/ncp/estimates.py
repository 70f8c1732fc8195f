"""Which grouping of the shipped posterior should be shown? Central or most probable, on real sets.

    python -m benchmarks.ncp.estimates --json

Iris, wine and 250 of scikit-learn's digits, as they are and standardised, with the seeds 0 to 4 of
the fit (of the digits also other items). Labels are only for the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import emit
from benchmarks.ncp.rivals import Floats, Labels
from benchmarks.ncp.summaries import FILE_OF, digest
from samekind.clusterers.ncp.estimator import ESTIMATES, NCP
from samekind.clusterers.ncp.weights import shipped
from samekind.evaluation import ari

SETS = ("iris", "wine", "digits")
MAX_ITEMS = 250
"""Larger sets are sampled: iris and wine are whole, the digits are not."""


class Labelled(NamedTuple):
    """Vectors, and the labels that only the score sees."""

    X: Floats
    labels: Labels


def real(name: str, seed: int, most: int = MAX_ITEMS) -> Labelled:
    """One of scikit-learn's sets in random order; of a larger one a sample."""
    from sklearn import datasets

    X, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    some = np.random.default_rng(seed).permutation(len(X))[:most]
    X, labels = X[some], labels[some]
    return Labelled(np.asarray(X, dtype=float), labels)


def standardised(X: Floats) -> Floats:
    """Each column with mean 0 and variance 1; constant ones stay 0."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def rows_of(
    name: str, variant: Any, seeds: Sequence[int], most: int
) -> Iterator[dict[str, object]]:
    """A row for each estimate and way to scale."""
    for scale in ("as it is", "standardised"):
        for estimate in ESTIMATES:
            scores, groups = [], []
            for seed in seeds:
                X, labels = real(name, seed, most)
                X = X if scale == "as it is" else standardised(X)
                which: Any = estimate
                model = NCP(variant=variant, estimate=which, random_state=seed).fit(X)
                scores.append(round(ari(labels, model.labels_), 4))
                groups.append(int(model.n_clusters_))
            yield {
                "set": name, "scale": scale, "estimate": estimate, "variant": variant,
                "sha256": digest(str(shipped(variant))), "seed": list(seeds), "ari": scores,
                "groups": groups, "true_groups": len(np.unique(labels)),
            }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", FILE_OF["estimates"])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--variant", default="pointwise")
    parser.add_argument("--runs", type=int, default=5, help="seeds, from --seed on")
    parser.add_argument("--items", type=int, default=MAX_ITEMS, help="of a larger set")
    wanted = parser.parse_args(arguments)
    seeds = range(wanted.seed, wanted.seed + wanted.runs)
    for name in wanted.sets:
        for row in rows_of(name, wanted.variant, seeds, wanted.items):
            emit(row, wanted.json)


if __name__ == "__main__":
    main()
