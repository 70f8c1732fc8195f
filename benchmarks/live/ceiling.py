"""What labels can make of ready vectors: a head trained on random labels, up to all of them.

    python -m benchmarks.live.ceiling --vectors cifar10-simclr-pca128.npz --json

A learner that asks cannot do much better than a head that was told every label. So the aims for
`live` on these vectors are held against this row of numbers: ten classes by ARI, and the two
groups of CIFAR10-2 (personalised) by accuracy, both on items that were not for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import emit
from samekind.evaluation import ari
from samekind.sources.sets.cifar import class_maps

PENALTIES = (0.01, 0.03, 0.3, 1.0)
"""Of the logistic head; the best on the held-out items is taken, which flatters it a little."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--vectors", required=True, help=".npz with q, scale, label and split")
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 150, 500, 2_000, 10_000])
    wanted = parser.parse_args(arguments)
    with np.load(wanted.vectors) as file:
        X = file["q"].astype(np.float32) * file["scale"]
        classes, held = file["label"].astype(int), file["split"] == 1
    X /= X.std()
    groups = np.asarray(class_maps("cifar10-2")["orientations"]["personalized"])[classes]
    for grouping, truth, score in (
        ("class", classes, ari),
        ("personalised", groups, lambda t, found: float((t == found).mean())),
    ):
        known = np.random.default_rng(wanted.seed).permutation(np.flatnonzero(~held))
        for n in (*wanted.labels, len(known)):
            some = known[:n]
            for head, models in heads(n, wanted.seed).items():
                found = [m.fit(X[some], truth[some]).predict(X[held]) for m in models]
                best = max(score(truth[held], one) for one in found)
                row = {"grouping": grouping, "head": head, "labels": n, "seed": wanted.seed}
                emit({**row, "score": round(float(best), 4)}, wanted.json)


def heads(n: int, seed: int) -> dict[str, list[Any]]:
    """What is trained on so many labels; a hidden layer needs many."""
    found: dict[str, list[Any]] = {
        "logistic": [LogisticRegression(C=c, max_iter=300) for c in PENALTIES]
    }
    if n >= 10_000:
        layer = MLPClassifier((256,), early_stopping=True, max_iter=30, random_state=seed)
        found["one hidden layer"] = [layer]
    return found


if __name__ == "__main__":
    main()
