"""PCL: uncertain pairs first, hard ones later (Eq. 6 to 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats
from samekind.strategies.pairs.choice import RandomFirst, ShiftingScores, best_pairs_by_share
from samekind.strategies.pairs.hardness import hardness, reason, with_evidence
from samekind.strategies.pairs.uncertainty import UNCLEAR, uncertainty


@dataclass(frozen=True)
class PCL(RandomFirst):
    """Uncertain pairs first, then more and more pairs that contradict the answers (PCL, Eq. 8).

    ``S = r S_up + (1 - r) S_hp``, where r is the share of the budget that is left; both parts count
    the same without a budget. As in reading A9, scaling runs over pairs of two different items, in
    a large set over the candidates.

    When many questions are proposed at once, each is chosen with the r that it has after those
    before it, but S_hp knows only the answers that were given before the proposal. So in a proposal
    before the first answer S_hp is zero and r changes nothing (unless `printed`): ask in rounds, or
    let some random questions be answered first.

    Parameters
    ----------
    epsilon : the similarity at which a pair is most uncertain.
    pairs : how candidates are drawn.
    printed : Eq. 7 to the letter, see :class:`~samekind.strategies.pairs.hardness.Hardness`.
    random_first : random questions at the beginning, Q1 of Algorithm 1. The paper has some, the
        released program none.
    """

    epsilon: float = 0.2
    pairs: Candidates = field(default_factory=Candidates)
    printed: bool = False

    def best(self, view: View, n: int, begun: Sequence[Question]) -> Sequence[Question]:
        """The highest pairs among the candidates, as r falls from question to question."""
        pool, evidence = with_evidence(view, self.pairs, n, summed=self.printed)
        unclear = uncertainty(pool.similarity, self.epsilon)
        hard = hardness(pool.similarity, evidence, printed=self.printed)

        def why(k: int, r: float) -> str:
            return reason(evidence[:, k]) if (1 - r) * hard[k] > r * unclear[k] else UNCLEAR

        scores = ShiftingScores(unclear, hard)
        return best_pairs_by_share(view, pool.a, pool.b, scores, n, why, begun)


def joint(unclear: Floats, hard: Floats, r: float) -> Floats:
    """S of pairs, Eq. 8, from S_up, S_hp and the share of the budget that is left."""
    return ShiftingScores(unclear, hard).at(r)
