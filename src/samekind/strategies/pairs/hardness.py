"""Hardness: pairs that look similar although the answers suggest otherwise (PCL, Eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, Pool, best_pairs, scaled
from samekind.strategies.pairs.evidence import EvidenceCache

N_PARTNERS = 2048
"""Items with which answered items are compared for each proposal."""


@dataclass(frozen=True)
class Hardness:
    """Pairs that look similar although the answers point the other way (PCL's S_hp).

    Until the first answer there is nothing to contradict, and pairs are random. The rule is meant
    for methods that train their vectors on the answers. Where vectors never change it keeps asking
    about look-alikes of items already told apart, and mostly hears "different".

    Parameters
    ----------
    pairs : how candidates are drawn.
    printed : Eq. 7 to the letter. Otherwise (reading A11) the evidence of an item is the mean over
        its answers instead of the sum, so that well-known items do not dominate; both directions
        are averaged; and a pair without any answered item has no hardness.
    """

    pairs: Candidates = field(default_factory=Candidates)
    printed: bool = False

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` hardest pairs among the candidates."""
        pool, evidence = with_evidence(view, self.pairs, n, summed=self.printed)
        score = hardness(pool.similarity, evidence, printed=self.printed)
        return best_pairs(view, pool.a, pool.b, score, n, lambda k: reason(evidence[:, k]))


def hardness(similarity: Floats, evidence: Floats, *, printed: bool = False) -> Floats:
    """S_hp of pairs, Eq. 7: ``sigma[P log(P / Q)]`` with P and Q clipped as in reading A10.

    Parameters
    ----------
    similarity : (m,) of the two items.
    evidence : (2, m) similarity of a to the evidence of b, and of b to that of a; NaN without
        evidence.
    printed : Q from the first direction alone, and zero where there is no evidence.
    """
    alike = scaled(similarity)
    if printed:
        expected = scaled(np.nan_to_num(evidence))  # (2, m): sigma runs over ordered pairs
        return np.asarray(scaled(divergence(alike, expected))[0])
    known = np.asarray(~np.isnan(evidence))
    directions = known[0].astype(np.intp) + known[1]
    some = np.flatnonzero(directions)
    found = np.where(known, scaled(evidence, known), 0.0)
    expected = (found[0] + found[1])[some] / directions[some]
    hard = np.zeros(len(alike))
    hard[some] = scaled(divergence(alike[some], expected))
    return hard


def divergence(alike: Floats, expected: Floats) -> Floats:
    """``P log(P / Q)``, both clipped to [0.001, 0.999]."""
    p, q = np.clip(alike, 1e-3, 1 - 1e-3), np.clip(expected, 1e-3, 1 - 1e-3)
    return np.asarray(p * np.log(p / q))


def evidence_matrix(similarity: Floats, answers: Floats) -> Floats:
    """The sum in Eq. 7 for all ordered pairs of a few items: the evidence of j, as seen by i.

    `answers` (n, n) holds 1 for same, -1 for different, 0 for unknown, and 0 on the diagonal.
    """
    return np.asarray(similarity @ np.asarray(answers, dtype=np.float64).T)


def with_evidence(
    view: View, pairs: Candidates, n: int, *, summed: bool
) -> tuple[Pool, NDArray[np.float64]]:
    """The pool with the evidence of each pair; in a large set, pairs of answered items are added.

    A random pair of a large set hardly ever includes an answered item, but only those have
    evidence.
    """
    points = pairs.bank(view.clustering)
    pool = pairs.pool(view)
    key = ("evidence", pairs, view.seed, summed)
    cache = view.clustering.memo(key, lambda: EvidenceCache(points, pool, summed=summed))
    evidence, found = cache.after(view.constraints)
    answered = np.flatnonzero(evidence.row >= 0)
    if len(points) <= pairs.all_below or not len(answered):
        return pool, found
    rng = view.rng
    a = rng.choice(answered, min(len(answered), max(64, min(1024, 4 * n))), replace=False)
    others = rng.choice(len(points), N_PARTNERS - N_PARTNERS // 4)
    b = np.unique(np.concatenate([others, rng.choice(answered, N_PARTNERS // 4)]))
    forth = points[a] @ evidence.towards[evidence.row[b]].T  # (a, b) of a to b's evidence
    forth[:, evidence.row[b] < 0] = np.nan
    back = evidence.towards[evidence.row[a]] @ points[b].T
    first, second = a[:, None], b[None]
    swapped = first > second  # the pool keeps the lower item first
    both = (np.where(swapped, back, forth), np.where(swapped, forth, back))
    distinct = np.flatnonzero(first != second)
    added = (part.ravel()[distinct] for part in both)
    left, right = a[distinct // len(b)], b[distinct % len(b)]
    grown = pool.extended(left, right, (points[a] @ points[b].T).ravel()[distinct])
    return grown, np.concatenate([found, np.stack(list(added))], axis=1)


def reason(evidence: Floats) -> str:
    """Why a pair is asked for its hardness."""
    if np.isnan(evidence).all():
        return "Nothing is known about these two yet."
    return "They look more similar than your answers suggest."
