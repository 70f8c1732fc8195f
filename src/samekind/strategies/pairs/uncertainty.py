"""Uncertain pairs: neither similar nor different (PCL, Eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, best_pairs, scaled

UNCLEAR = "These two are neither clearly similar nor clearly different."


@dataclass(frozen=True)
class Uncertainty:
    """Pairs that are neither similar nor different: similarity nearest to `epsilon` (PCL's S_up).

    It uses the vectors alone, so it works with every method: trained vectors are compared as they
    are, plain ones after centring. Memberships are left to `entropy`, which is worse: mean ARI of
    `propagation` on handwritten digits, 50 answers, five seeds:

    ============= ======== ======
    strategy      by digit parity
    ============= ======== ======
    `uncertainty` .81      .28
    random pairs  .74      .10
    `entropy`     .70      .02
    ============= ======== ======

    Parameters
    ----------
    epsilon : above zero because "same" tells more than "different".
    pairs : how candidates are drawn, and how similarity is measured.
    """

    epsilon: float = 0.2
    pairs: Candidates = field(default_factory=Candidates)

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` most uncertain pairs among the candidates."""
        pool = self.pairs.pool(view)
        score = uncertainty(pool.similarity, self.epsilon)
        return best_pairs(view, pool.a, pool.b, score, n, lambda k: UNCLEAR)


def uncertainty(similarity: Floats, epsilon: float = 0.2) -> Floats:
    """S_up of pairs, Eq. 6: ``sigma[-|s - epsilon|]``, scaled over all of them.

    >>> uncertainty(np.array([0.2, 0.7, 1.2])).tolist()
    [1.0, 0.5, 0.0]
    """
    return scaled(-np.abs(np.asarray(similarity, dtype=np.float64) - epsilon))


def same_chance(
    clustering: Clustering, a: NDArray[np.intp], b: NDArray[np.intp]
) -> NDArray[np.floating]:
    """The probability that pairs are the same kind: inner product of their memberships."""
    return np.asarray((soft(clustering, a) * soft(clustering, b)).sum(axis=1))


def soft(clustering: Clustering, items: NDArray[np.intp]) -> NDArray[np.floating]:
    """(m, k) membership of some items; from distances to the group means if there is none."""
    if clustering.membership is not None:
        return clustering.membership[items]
    centres, scale = clustering.memo("centres", lambda: _centres(clustering))
    found = np.empty((len(items), len(centres)))
    for start in range(0, len(items), 4096):  # in chunks: (items, groups, width) can be large
        part = slice(start, start + 4096)
        apart = ((clustering.space[items[part]][:, None] - centres[None]) ** 2).sum(-1)  # (m, k)
        weight = np.exp(-(apart - apart.min(axis=1, keepdims=True)) / (2 * scale))
        found[part] = weight / weight.sum(axis=1, keepdims=True)
    return found


def _centres(clustering: Clustering) -> tuple[NDArray[np.floating], float]:
    """Group means, and the mean squared distance of a sample of items to their own mean."""
    index = np.searchsorted(clustering.numbers, clustering.labels)
    sums = np.zeros((clustering.n_groups, clustering.space.shape[1]))
    np.add.at(sums, index, clustering.space)
    centres = sums / np.bincount(index, minlength=clustering.n_groups)[:, None]
    sample = slice(None, None, max(1, len(index) // 20000))
    within = ((clustering.space[sample] - centres[index[sample]]) ** 2).sum(axis=1)
    return centres, max(float(within.mean()), 1e-12)
