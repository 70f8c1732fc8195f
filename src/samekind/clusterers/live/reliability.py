"""Reliability: how far each answer can be believed, judged by the other answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.linear_head import logistic_regression
from samekind.clusterers.live.orientation import CLASSIFIER_C, SCALED_LENGTH
from samekind.clusterers.live.seeds import Seeds

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MIN_ANSWERED = 30
"""Answered items below which none of them is doubted."""
FOLDS = 5
EXPECTED_ERROR, EXPECTED_ERROR_WEIGHT = 0.03, 30.0
"""Share of wrong answers before any evidence, and how many answers that belief is worth."""
MIN_RIGHT = 0.05
"""An answer less likely right than this does not spread."""
MAX_DOUBTFUL = 0.1
"""An answer that the others find less likely than this is worth another look."""
WITNESSES = 15
"""Nearest answered items that vote about one."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """How likely it is, for each answered item, that its group is what the person meant.

    Parameters
    ----------
    rows : the answered items. told : their groups. right : (s,) probability.
    agreed : (s,) how strongly the other answers alone suggest the group that was told.
    likely : (s,) the group that the other answers suggest. others : (s,) how many of the nearest
        answered items are in that group. error : the estimated share of wrong answers.
    """

    rows: Ints
    told: Ints
    right: Floats
    agreed: Floats
    likely: Ints
    others: Ints
    error: float

    @classmethod
    def of(cls, Z: Floats, space: Floats, seeds: Seeds, answered: NDArray[np.bool_]) -> Reliability:
        """Judge answered items by how well the other ones predict them, in two ways at once.

        A linear classifier that has not seen the item, and a vote of the nearest answered items
        along the orientation, must both find the answer odd. The share of wrong answers is
        estimated along with it (expectation-maximisation), from a strong prior on few.
        """
        rows, told, k = seeds.rows, seeds.labels, seeds.n_kinds
        right = np.ones(len(rows))
        likely, others = told.copy(), np.zeros(len(rows), dtype=np.intp)
        if answered.sum() < MIN_ANSWERED or k < 2:
            return cls(rows, told, right, right, likely, others, EXPECTED_ERROR)
        votes = _votes(space[rows], told, k)
        belief = _cross_predicted(Z[rows], told, k) * votes
        belief /= belief.sum(axis=1, keepdims=True)
        p = belief[np.arange(len(rows)), told]
        # The first of its kind, and kinds of a few, cannot be judged by the others.
        judged = answered & (np.bincount(told, minlength=k)[told] >= 3)
        error = EXPECTED_ERROR
        for _ in range(10):
            wrong = error * (1 - p) / (k - 1)
            right = np.where(judged, (1 - error) * p / ((1 - error) * p + wrong + 1e-12), 1.0)
            error = float(
                (EXPECTED_ERROR_WEIGHT * EXPECTED_ERROR + (1 - right).sum())
                / (EXPECTED_ERROR_WEIGHT + answered.sum())
            )
        likely = np.where(judged, belief.argmax(axis=1), told)
        others = np.rint(votes[np.arange(len(rows)), likely] * WITNESSES).astype(np.intp)
        agreed = np.where(judged, p, 1.0)
        return cls(rows, told, right, agreed, likely, others, min(error, 0.5))

    def at(self, rows: Ints) -> Reliability:
        """The same for items with other numbers."""
        return replace(self, rows=rows)

    @property
    def weight(self) -> Floats:
        """(s,) how much each answer spreads: hardly, if it is almost certainly a mistake.

        Questions are asked where groups meet, and right answers look odd there too. So only what
        all others contradict is held back.
        """
        return np.where(self.right < MIN_RIGHT, self.right, 1.0)

    def doubtful(self) -> Ints:
        """Places of answered items that are worth another look, the most surprising first.

        Those whose nearest answered items are mostly in one other group, which the remaining
        answers find far more likely as well. Only the person can tell whether it was a mistake.
        """
        contradicted = (self.likely != self.told) & (self.others > WITNESSES // 2)
        found = np.flatnonzero((self.agreed < MAX_DOUBTFUL) & contradicted)
        return found[np.argsort(self.agreed[found], kind="stable")]


def _cross_predicted(Z: Floats, told: Ints, k: int) -> Floats:
    """(s, k) predictions of a linear classifier for each row that it has not been trained on."""
    fold = np.empty(len(Z), dtype=np.intp)
    order = np.lexsort((np.arange(len(Z)), told))
    fold[order] = np.arange(len(Z)) % FOLDS  # every kind is spread over all folds
    found = np.full((len(Z), k), 0.1 / k)
    for part in range(FOLDS):
        train, test = fold != part, fold == part
        present = np.unique(told[train])
        if len(present) < 2 or not test.any():
            found[test] += 0.9 / k
            continue
        model = logistic_regression(
            Z[train] * SCALED_LENGTH, told[train], C=CLASSIFIER_C / 10, max_iter=100
        )
        found[np.ix_(test, model.classes_)] += 0.9 * model.predict_proba(Z[test] * SCALED_LENGTH)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _votes(space: Floats, told: Ints, k: int) -> Floats:
    """(s, k) shares of the kinds among the nearest other answered items, never quite zero."""
    from scipy.spatial.distance import cdist

    count = min(WITNESSES, len(space) - 1)
    near = np.empty((len(space), count), dtype=np.intp)
    for start in range(0, len(space), 1_024):  # in pieces: thousands may be put together by hand
        rows = np.arange(start, min(start + 1_024, len(space)))
        distances = cdist(space[rows], space, "sqeuclidean")
        distances[np.arange(len(rows)), rows] = np.inf
        # Ties in row order, as a full stable sort would give them.
        reach = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
        distances[distances > reach] = np.inf
        near[rows] = np.argsort(distances, axis=1, kind="stable")[:, :count]
    kinds = told[near]  # (s, count)
    shares = np.stack([(kinds == kind).mean(axis=1) for kind in range(k)], axis=1)
    # Kinds with many answered items have more witnesses by chance alone.
    size = np.bincount(told, minlength=k) / len(told)
    shares = shares / np.maximum(size, 1 / len(told)) ** 0.5 + 0.01
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
