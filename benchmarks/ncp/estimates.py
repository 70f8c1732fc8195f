"""Which grouping of the shipped posterior should be shown? Central or most probable, on real sets.

    python -m benchmarks.ncp.estimates --json

Iris, wine and 250 of scikit-learn's digits, as they are and standardised, with the seeds 0 to 4 of
the fit (of the digits also other items). Labels are only for the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import emit
from benchmarks.ncp.rivals import Floats, Labels
from benchmarks.ncp.summaries import FILE_OF, digest
from samekind.clusterers.ncp.estimator import ESTIMATES, NCP
from samekind.clusterers.ncp.weights import shipped
from samekind.evaluation import ari

SETS = ("iris", "wine", "digits")
DIGITS = 250


class Labelled(NamedTuple):
    """Vectors, and the labels that only the score sees."""

    X: Floats
    labels: Labels


def real(name: str, seed: int) -> Labelled:
    """One of scikit-learn's sets; of the digits a sample."""
    from sklearn import datasets

    X, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        some = np.random.default_rng(seed).permutation(len(X))[:DIGITS]
        X, labels = X[some], labels[some]
    return Labelled(np.asarray(X, dtype=float), labels)


def standardised(X: Floats) -> Floats:
    """Each column with mean 0 and variance 1; constant ones stay 0."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def rows_of(name: str, variant: str, seeds: Sequence[int]) -> Iterator[dict[str, object]]:
    """A row for each estimate and way to scale."""
    for scale in ("as it is", "standardised"):
        for estimate in ESTIMATES:
            scores, groups = [], []
            for seed in seeds:
                X, labels = real(name, seed)
                X = X if scale == "as it is" else standardised(X)
                model = NCP(variant=variant, estimate=estimate, random_state=seed).fit(X)
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
    wanted = parser.parse_args(arguments)
    for name in wanted.sets:
        for row in rows_of(name, wanted.variant, range(wanted.seed, wanted.seed + wanted.runs)):
            emit(row, wanted.json)


if __name__ == "__main__":
    main()
