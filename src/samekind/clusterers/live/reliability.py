"""How much each answer is to be believed: what the other answers say of the same item."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.orientation import CONFIDENCE, SHARPNESS
from samekind.clusterers.live.seeds import Seeds

Floats = NDArray[Any]
Ints = NDArray[np.intp]

ENOUGH = 30
"""Answered items from which on others can tell that one of them is odd."""
FOLDS = 5
USUAL, FIRM = 0.03, 30.0
"""Share of wrong answers before any evidence, and how many answers that belief is worth."""
SLIP = 0.05
"""An answer less likely right than this does not spread."""
ODD = 0.1
"""An answer that the others find less likely than this is worth another look."""
WITNESSES = 15
"""Answered items nearest to one that are asked about it."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """For each answered item how likely it is that its group is what the person meant.

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
        """From how well answered items are predicted by the other ones, in two ways at once.

        A linear classifier that has not seen the item, and a vote of the nearest answered items
        along the orientation, must both find the answer odd. The share of wrong answers is
        estimated along with it (expectation-maximisation), from a firm belief in few.
        """
        rows, told, k = seeds.rows, seeds.labels, seeds.n_kinds
        right = np.ones(len(rows))
        likely, others = told.copy(), np.zeros(len(rows), dtype=np.intp)
        if answered.sum() < ENOUGH or k < 2:
            return cls(rows, told, right, right, likely, others, USUAL)
        votes = _votes(space[rows], told, k)
        belief = _cross_predicted(Z[rows], told, k) * votes
        belief /= belief.sum(axis=1, keepdims=True)
        p = belief[np.arange(len(rows)), told]
        # The first of its kind, and kinds of a few, cannot be judged by the others.
        judged = answered & (np.bincount(told, minlength=k)[told] >= 3)
        error = USUAL
        for _ in range(10):
            wrong = error * (1 - p) / (k - 1)
            right = np.where(judged, (1 - error) * p / ((1 - error) * p + wrong + 1e-12), 1.0)
            error = float((FIRM * USUAL + (1 - right).sum()) / (FIRM + answered.sum()))
        likely = np.where(judged, belief.argmax(axis=1), told)
        others = np.rint(votes[np.arange(len(rows)), likely] * WITNESSES).astype(np.intp)
        agreed = np.where(judged, p, 1.0)
        return cls(rows, told, right, agreed, likely, others, min(error, 0.5))

    def at(self, rows: Ints) -> Reliability:
        """The same for items that are called by other numbers."""
        return replace(self, rows=rows)

    @property
    def weight(self) -> Floats:
        """(s,) how much each answer spreads: hardly, if it is almost certainly a slip.

        Questions are asked where groups meet, and right answers look odd there too: only what all
        others contradict is held back.
        """
        return np.where(self.right < SLIP, self.right, 1.0)

    def doubtful(self) -> Ints:
        """Places of answered items that are worth another look, the most surprising first.

        Those whose nearest answered items mostly stand in one other group, which the rest of the
        answers finds far more likely as well. Whether it was a slip, only the person can tell.
        """
        odd = (self.agreed < ODD) & (self.likely != self.told) & (self.others > WITNESSES // 2)
        found = np.flatnonzero(odd)
        return found[np.argsort(self.agreed[found], kind="stable")]


def _cross_predicted(Z: Floats, told: Ints, k: int) -> Floats:
    """(s, k) what a linear classifier says of each row that it has not been trained on."""
    from sklearn.linear_model import LogisticRegression

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
        model = LogisticRegression(C=CONFIDENCE / 10, max_iter=100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(Z[train] * SHARPNESS, told[train])
        found[np.ix_(test, model.classes_)] += 0.9 * model.predict_proba(Z[test] * SHARPNESS)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _votes(space: Floats, told: Ints, k: int) -> Floats:
    """(s, k) shares of the kinds among the nearest other answered items, never quite nothing."""
    from scipy.spatial.distance import cdist

    count = min(WITNESSES, len(space) - 1)
    near = np.empty((len(space), count), dtype=np.intp)
    for start in range(0, len(space), 1_024):  # in pieces: thousands may be put together by hand
        rows = np.arange(start, min(start + 1_024, len(space)))
        apart = cdist(space[rows], space, "sqeuclidean")
        apart[np.arange(len(rows)), rows] = np.inf
        # The nearest ones, of equally near ones the first, as a whole sort would give them.
        reach = np.partition(apart, count - 1, axis=1)[:, count - 1 : count]
        apart[apart > reach] = np.inf
        near[rows] = np.argsort(apart, axis=1, kind="stable")[:, :count]
    kinds = told[near]  # (s, count)
    shares = np.stack([(kinds == kind).mean(axis=1) for kind in range(k)], axis=1)
    # Kinds with many answered items have more witnesses by chance alone.
    size = np.bincount(told, minlength=k) / len(told)
    shares = shares / np.maximum(size, 1 / len(told)) ** 0.5 + 0.01
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
