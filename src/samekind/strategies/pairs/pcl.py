"""PCL: uncertain pairs first, hard ones later (Eq. 6 to 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, best_pairs, remaining
from samekind.strategies.pairs.hardness import hardness, reason, with_evidence
from samekind.strategies.pairs.uncertainty import UNCLEAR, uncertainty


@dataclass(frozen=True)
class PCL:
    """Uncertain pairs first, then more and more pairs that contradict the answers (PCL, Eq. 8).

    ``S = r S_up + (1 - r) S_hp``, where r is the share of the budget that is left; both parts count
    the same without a budget. As in reading A9, scaling runs over pairs of two different items, in
    a large set over the candidates.

    Parameters
    ----------
    epsilon : the similarity at which a pair is most uncertain.
    pairs : how candidates are drawn.
    printed : Eq. 7 to the letter, see :class:`~samekind.strategies.pairs.hardness.Hardness`.
    """

    epsilon: float = 0.2
    pairs: Candidates = field(default_factory=Candidates)
    printed: bool = False

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` highest pairs among the candidates; r is the same for all of them."""
        r = remaining(view)
        pool, evidence = with_evidence(view, self.pairs, n, summed=self.printed)
        unclear = uncertainty(pool.similarity, self.epsilon)
        hard = hardness(pool.similarity, evidence, printed=self.printed)

        def why(k: int) -> str:
            return reason(evidence[:, k]) if (1 - r) * hard[k] > r * unclear[k] else UNCLEAR

        return best_pairs(view, pool.a, pool.b, joint(unclear, hard, r), n, why)


def joint(unclear: Floats, hard: Floats, r: float) -> Floats:
    """S of pairs, Eq. 8, from S_up, S_hp and the share of the budget that is left."""
    return np.asarray(r * unclear + (1 - r) * hard)
