"""A learner that is undecided between a few groupings, and drops those that answers rule out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from samekind.clusterers.ncp.draws import Draws

N_BLOCKS = 4
GROUPINGS = {(0, 1, 2, 3): 0.4, (0, 0, 1, 2): 0.35, (0, 1, 2, 2): 0.25}
"""Groups of the four blocks of items, and how probable each grouping is."""


class Undecided(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Items 0, 4, 8, ... are block 0, and so on. Blocks 0 and 1 may be one group, or 2 and 3.

    Parameters
    ----------
    sample : number of items that the draws are about; None: all.
    """

    def __init__(self, sample: int | None = None) -> None:
        self.sample = sample

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Undecided:
        block = np.arange(len(X)) % N_BLOCKS
        drawn = [one for one, share in GROUPINGS.items() for _ in range(round(100 * share))]
        labels = np.array([np.array(one)[block] for one in drawn])
        weight = np.full(len(drawn), 1 / len(drawn))
        if constraints is not None:
            for a, b, same in zip(*constraints.links()[:3], strict=True):
                weight = np.where((labels[:, a] == labels[:, b]) == same, weight, 0.0)
        weight /= weight.sum()
        found, count = np.unique(labels[weight > 0], axis=0, return_counts=True)
        self.labels_ = found[count.argmax()]
        items = np.arange(len(X))[: self.sample]
        self.draws_ = Draws(
            items, labels[weight > 0][:, items].astype(np.int16), weight[weight > 0]
        )
        return self

    def predict(self, X: Any) -> Any:
        return self.labels_[: len(X)]
