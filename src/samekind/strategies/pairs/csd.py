"""CSD: pairs whose similarity is high and has just changed (OCC, Eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, inner
from samekind.strategies.pairs.choice import best_pairs, random_questions


@dataclass(frozen=True)
class CSD:
    """Pairs that have become more or less similar since the previous snapshot (OCC's CSD).

    A round of the paper is a refit (reading O11). The paper asks nothing in the first round, which
    has nothing to compare with. A session would then wait for answers forever, so here the first
    questions are random pairs, as they are for a method whose vectors never change.

    Parameters
    ----------
    pairs : how candidates are drawn. By default the cosine is that of the paper, not centred.
    """

    uses_previous: ClassVar[bool] = True

    pairs: Candidates = field(default_factory=lambda: Candidates(centred=False))

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` pairs with the largest discrepancy among the candidates."""
        before = view.previous
        if before is None or len(before.labels) != len(view.clustering.labels):
            return random_questions(view, n)
        pool = self.pairs.pool(view)

        def score() -> Floats:
            points = self.pairs.bank(before)
            return discrepancy(pool.similarity, inner(points, pool.a, points, pool.b))

        key = ("csd", self, view.seed, before.snapshot)
        why = "How similar these two are has just changed."
        scores = view.clustering.memo(key, score)
        return best_pairs(view, pool.a, pool.b, scores, n, lambda k: why)


def discrepancy(now: Floats, before: Floats) -> Floats:
    """Eq. 6: ``s_c |s_c - s_(c-1)|``, from the similarities in this round and the one before.

    >>> discrepancy(np.array([0.8]), np.array([0.0])).round(2).tolist()
    [0.64]
    """
    return np.asarray(now * np.abs(now - before))
