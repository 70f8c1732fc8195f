"""Uncertain pairs: neither similar nor different (PCL, Eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, scaled
from samekind.strategies.pairs.choice import RandomFirst, best_pairs

UNCLEAR = "These two are neither clearly similar nor clearly different."


@dataclass(frozen=True)
class Uncertainty(RandomFirst):
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
    random_first : number of random questions at the beginning.
    """

    epsilon: float = 0.2
    pairs: Candidates = field(default_factory=Candidates)

    def best(self, view: View, n: int, begun: Sequence[Question]) -> Sequence[Question]:
        """The most uncertain pairs among the candidates."""
        pool = self.pairs.pool(view)
        score = uncertainty(pool.similarity, self.epsilon)
        return best_pairs(view, pool.a, pool.b, score, n, lambda k: UNCLEAR, begun)


def uncertainty(similarity: Floats, epsilon: float = 0.2) -> Floats:
    """S_up of pairs, Eq. 6: ``sigma[-|s - epsilon|]``, scaled over all of them.

    >>> uncertainty(np.array([0.2, 0.7, 1.2])).tolist()
    [1.0, 0.5, 0.0]
    """
    return scaled(-np.abs(np.asarray(similarity, dtype=np.float64) - epsilon))
