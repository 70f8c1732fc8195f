"""Hardness: pairs that look similar although the answers suggest otherwise (PCL, Eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import Candidates, Floats, Ints, Pool, scaled
from samekind.strategies.pairs.choice import RandomFirst, best_pairs
from samekind.strategies.pairs.evidence import Evidence, EvidenceCache

N_PARTNERS = 2048
"""Items with which answered items are compared for each proposal, at most."""
MAX_ADDED = 1 << 19
"""Pairs of answered items and partners that are added to the candidates, at most."""
_CHUNK = 1 << 15
"""Pairs processed at a time, so that their numbers stay in the processor's cache."""


@dataclass(frozen=True)
class Hardness(RandomFirst):
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
    random_first : number of random questions at the beginning.
    """

    pairs: Candidates = field(default_factory=Candidates)
    printed: bool = False

    def best(self, view: View, n: int, begun: Sequence[Question]) -> Sequence[Question]:
        """The hardest pairs among the candidates."""
        pool, evidence = with_evidence(view, self.pairs, n, summed=self.printed)
        score = hardness(pool.similarity, evidence, printed=self.printed)
        why = lambda k: reason(evidence[:, k])  # noqa: E731
        return best_pairs(view, pool.a, pool.b, score, n, why, begun)


def hardness(similarity: Floats, evidence: Floats, *, printed: bool = False) -> Floats:
    """S_hp of pairs, Eq. 7: ``sigma[P log(P / Q)]`` with P and Q clipped as in reading A10.

    Parameters
    ----------
    similarity : (m,) of the two items.
    evidence : (2, m) similarity of a to the evidence of b, and of b to that of a; NaN without
        evidence.
    printed : Q from the first direction alone, and zero where there is no evidence.
    """
    if printed:
        expected = scaled(np.nan_to_num(evidence))  # (2, m): sigma runs over ordered pairs
        return np.asarray(scaled(divergence(scaled(similarity), expected))[0])
    alike, seen = Extent.of(similarity), Extent.of(evidence)
    hard = np.empty(len(similarity))
    for start in range(0, len(hard), _CHUNK):
        part = slice(start, start + _CHUNK)
        found = seen.scaled(evidence[:, part])
        known = ~np.isnan(found)
        directions = known.sum(axis=0)
        found[~known] = 0.0
        expected = np.full(len(directions), np.nan)
        np.divide(found[0] + found[1], directions, out=expected, where=directions > 0)
        hard[part] = divergence(alike.scaled(similarity[part]), expected)
    extent = Extent.of(hard)
    for start in range(0, len(hard), _CHUNK):
        part = slice(start, start + _CHUNK)
        hard[part] = np.nan_to_num(extent.scaled(hard[part]))
    return hard


class Extent(NamedTuple):
    """The range of some numbers, without those that are missing (NaN)."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Extent:
        """The smallest and the largest of them; NaN if there are none."""
        flat = values.ravel()
        return cls(
            float(np.fmin.reduce(flat, initial=np.nan)), float(np.fmax.reduce(flat, initial=np.nan))
        )

    def scaled(self, values: Floats) -> Floats:
        """Scale numbers of this range to [0, 1], to one half if all are equal; NaN stays."""
        values = np.asarray(values, dtype=np.float64)
        if self.low == self.high:
            return np.where(np.isnan(values), np.nan, 0.5)
        return np.asarray((values - self.low) / (self.high - self.low))


def divergence(alike: Floats, expected: Floats) -> Floats:
    """``P log(P / Q)``, both clipped to [0.001, 0.999]."""
    p, q = np.clip(alike, 1e-3, 1 - 1e-3), np.clip(expected, 1e-3, 1 - 1e-3)
    return np.asarray(p * np.log(p / q))


def evidence_matrix(similarity: Floats, answers: Floats) -> Floats:
    """The sum in Eq. 7 for all ordered pairs of a few items: the evidence of j, as seen by i.

    `answers` (n, n) holds 1 for same, -1 for different, 0 for unknown, and 0 on the diagonal.
    """
    return np.asarray(similarity @ np.asarray(answers, dtype=np.float64).T)


def with_evidence(view: View, pairs: Candidates, n: int, *, summed: bool) -> tuple[Pool, Floats]:
    """The pool with the evidence of each pair; in a large set, pairs of answered items are added.

    A random pair of a large set hardly ever includes an answered item, but only those have
    evidence. An item may be paired with itself there, which is never asked.
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
    count = min(N_PARTNERS, MAX_ADDED // len(a))
    others = rng.choice(len(points), count - count // 4)
    b = np.unique(np.concatenate([others, rng.choice(answered, count // 4)]))
    return _with_grid(pool, found, evidence, points, a, b)


def _with_grid(
    pool: Pool, found: Floats, evidence: Evidence, points: Floats, a: Ints, b: Ints
) -> tuple[Pool, Floats]:
    """The pool and its evidence, with every item of `a` paired with every item of `b`."""
    alike = points[a] @ points[b].T  # (a, b)
    back = evidence.towards[evidence.row[a]] @ points[b].T  # of b to a's evidence
    forth = points[a] @ evidence.towards[evidence.row[b]].T
    forth[:, evidence.row[b] < 0] = np.nan
    row, column = np.nonzero(a[:, None] == b)
    instead = np.where(column > 0, column - 1, min(1, len(b) - 1))
    for part in (alike, back, forth):  # itself: any other pair, so that no range is widened
        part[row, column] = part[row, instead]
    first, second = a[:, None], b[None]
    swapped = first > second  # the pool keeps the lower item first
    start, size = len(pool.a), alike.size
    low, high = (np.concatenate([part, np.empty(size, dtype=np.intp)]) for part in pool[:2])
    np.minimum(first, second, out=low[start:].reshape(alike.shape))
    np.maximum(first, second, out=high[start:].reshape(alike.shape))
    both = np.empty((2, start + size), dtype=np.float32)
    both[:, :start] = found
    for side, one, other in ((both[0], forth, back), (both[1], back, forth)):
        np.copyto(side[start:].reshape(alike.shape), np.where(swapped, other, one))
    return Pool(low, high, np.concatenate([pool.similarity, alike.ravel()])), both


def reason(evidence: Floats) -> str:
    """Why a pair is asked for its hardness."""
    if np.isnan(evidence).all():
        return "Nothing is known about these two yet."
    return "They look more similar than your answers suggest."
