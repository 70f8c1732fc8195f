"""PCL as published: the rule of the released program, which differs from the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import CHUNK, Candidates, Floats, Ints, inner, scaled
from samekind.strategies.pairs.choice import (
    RandomFirst,
    ShiftingScores,
    best_pairs_by_share,
    remaining,
)


class PairCosines(NamedTuple):
    """Cosines of pairs: first views, first with second view both ways, mean of equal views."""

    same_view: Floats
    forth: Floats
    back: Floats
    mean: Floats


@dataclass(frozen=True)
class PCLReference(RandomFirst):
    """The questions of the released PCL program; for reproducing its tables.

    It differs from Eq. 6 to 8. The divergence is negated, so it asks about pairs whose similarity
    is the same within a view and across views. Q has no evidence from answers: they are added to
    the answered pair itself, where nothing is left to ask. S_up has a tanh and no factor r. Scaling
    includes each item with itself, and answered pairs. Nothing is asked if the best score is 0.
    Without two views only the S_up part distinguishes pairs.

    The program compares items of one fixed batch; here candidates come from the whole set. When
    many questions are proposed at once, each is chosen with the share r of the budget that is left
    after those before it; the answers are those given before the proposal.

    Parameters
    ----------
    epsilon : the similarity at which a pair is most uncertain.
    pairs : how candidates are drawn.
    random_first : random questions at the beginning; none in the program's default setting. Its
        sampler also drew items with themselves and answered pairs, this one never does.
    """

    epsilon: float = 0.2
    pairs: Candidates = field(default_factory=Candidates)

    def best(self, view: View, n: int, begun: Sequence[Question]) -> Sequence[Question]:
        """The highest pairs among the candidates, as r falls from question to question."""
        pool = self.pairs.pool(view)
        n_items = len(view.clustering.labels)
        items = np.arange(0, n_items, max(1, n_items // 1024))
        a, b = np.concatenate([pool.a, items]), np.concatenate([pool.b, items])
        key = ("pcl-reference", self.pairs, view.seed)
        alike = view.clustering.memo(key, lambda: self._cosines(view.clustering, a, b))
        answers = known_answers(view.constraints, a, b)
        answers[len(pool.a) :] = 0  # an item with itself was never asked
        fixed = view.clustering.memo(
            ("pcl-reference unanswered", self, view.seed),
            lambda: Unanswered.of(alike, self.epsilon),
        )
        unclear, agreeing = reference_parts(alike, answers, self.epsilon, fixed)
        scores = ShiftingScores(unclear, unclear + agreeing)
        scores = ShiftingScores(*(part[: len(pool.a)] for part in scores))
        if not (scores.at(remaining(view, len(begun))) > 0).any():
            return begun
        why = "It is unclear how similar these two are."
        return best_pairs_by_share(view, pool.a, pool.b, scores, n, lambda k, r: why, begun)

    def _cosines(self, clustering: Clustering, a: Ints, b: Ints) -> PairCosines:
        first, second = (self.pairs.views(clustering) * 2)[:2]
        if first is second:
            alike = inner(first, a, first, b)
            return PairCosines(alike, alike, alike, alike)
        found = np.empty((4, len(a)), dtype=np.float32)
        for start in range(0, len(a), CHUNK):
            part = slice(start, start + CHUNK)
            one, two = ((view[a[part]], view[b[part]]) for view in (first, second))
            pairs = ((one[0], one[1]), (one[0], two[1]), (two[0], one[1]), (two[0], two[1]))
            for row, (left, right) in zip(found, pairs, strict=True):
                np.einsum("ij,ij->i", left, right, out=row[part])
        same_view, forth, back, other_view = found
        return PairCosines(same_view, forth, back, (same_view + other_view) / 2)


class Unanswered(NamedTuple):
    """The parts of the program's score without any answers."""

    unclear: Floats
    divergence: Floats

    @classmethod
    def of(cls, alike: PairCosines, epsilon: float) -> Unanswered:
        """For arrays of any one shape."""
        unclear = np.tanh(scaled(-np.abs(alike.mean - epsilon)))
        return cls(np.asarray(unclear), _divergences(alike, np.zeros(1)))


def reference_scores(alike: PairCosines, answers: Floats, r: float, epsilon: float = 0.2) -> Floats:
    """The program's score, for arrays of any one shape, scaled over all of them.

    `answers` holds 1, -1 or 0.
    """
    unclear, agreeing = reference_parts(alike, answers, epsilon)
    return np.asarray(unclear + (1 - r) * agreeing)


def reference_parts(
    alike: PairCosines, answers: Floats, epsilon: float, unanswered: Unanswered | None = None
) -> tuple[Floats, Floats]:
    """The two parts of the score: S_up with its tanh, and S_hp, which counts (1 - r) times.

    `unanswered`, if computed before, saves most of the work.
    """
    fixed = Unanswered.of(alike, epsilon) if unanswered is None else unanswered
    divergence = fixed.divergence.copy()
    asked = np.nonzero(answers)
    divergence[asked] = _divergences(PairCosines(*(part[asked] for part in alike)), answers[asked])
    return fixed.unclear, scaled(-divergence)


def _divergences(alike: PairCosines, answers: Floats) -> Floats:
    """Sum of both directions. The factor 2 in the second is the program's: its first update
    overwrites the buffer that the second one reads."""
    known = answers * alike.same_view
    forth = bernoulli_divergence(alike.same_view, alike.forth + known)
    return forth + bernoulli_divergence(alike.same_view, alike.back + 2 * known)


def bernoulli_divergence(p: Floats, q: Floats) -> Floats:
    """Divergence of two Bernoulli distributions, probabilities clipped to [0.001, 0.999]."""
    p = np.clip(np.asarray(p, dtype=np.float64), 1e-3, 1 - 1e-3)
    q = np.clip(np.asarray(q, dtype=np.float64), 1e-3, 1 - 1e-3)
    return np.asarray(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


def known_answers(known: Constraints, a: Ints, b: Ints) -> Ints:
    """1 for pairs known to be the same kind, -1 for known to differ, 0 for the rest."""
    found = np.zeros(len(a), dtype=np.intp)
    found[a == b] = 1
    touched = np.zeros(known.n_items, dtype=bool)
    touched[known.touched] = True
    maybe = np.flatnonzero(touched[a] & touched[b])
    if not len(maybe):
        return found
    group = known.components
    first, second = group[a[maybe]], group[b[maybe]]
    low, high = np.minimum(first, second), np.maximum(first, second)
    codes = known.component_links() @ (known.n_items, 1)  # ascending, as the pairs are
    place = np.searchsorted(codes, low * known.n_items + high)
    differ = np.append(codes, -1)[place] == low * known.n_items + high
    found[maybe] = np.where(first == second, 1, np.where(differ, -1, 0))
    return found
