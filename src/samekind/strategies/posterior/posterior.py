"""Posterior: the question whose answer tells most, under draws of whole groupings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Question, SamePair, WhichGroup
from samekind.strategies.exemplars import shown
from samekind.strategies.pairs.candidates import best_pairs
from samekind.strategies.pairs.entropy import entropy
from samekind.strategies.posterior.draws import Drawn, Floats, Ints, drawn_of, looked_at

ASKS = ("either", "pair", "placement")
POOL = 20_000
"""Pairs that are scored for a question: half of them the most doubtful at the refit."""


@dataclass(frozen=True)
class Posterior:
    """The question that tells most about the grouping, the number of groups being unknown.

    Draws of whole groupings predict each answer; a draw leaves no doubt about it. So what an
    answer is expected to tell (the information gain, in nats) is the entropy of the prediction:
    nothing when all draws agree, log 2 for a pair that is together in half of them, more for an
    item that may belong to several groups. Answers since the draws were made count at once.

    Made for methods that draw groupings (``ncp``). For others draws are made from the memberships,
    item by item, which misses that items move together.

    Parameters
    ----------
    ask : ``pair``; ``placement``, once two kinds are told apart; or ``either``, what tells more.
    n_draws : draws that are made where the method has none.
    exemplars : how many items show what a group is.
    """

    ask: str = "either"
    n_draws: int = 200
    exemplars: int = 4

    def __post_init__(self) -> None:
        if self.ask not in ASKS:
            raise InputError(f"{self.ask!r} cannot be asked. Choose one of: {', '.join(ASKS)}.")

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` questions of largest expected gain among the candidates, no item twice."""
        drawn = drawn_of(view, self.n_draws)
        weight = drawn.given(view.constraints)
        placements = [] if self.ask == "pair" else self._placements(view, drawn, weight, n)
        pairs = [] if self.ask == "placement" and placements else self._pairs(
            view, drawn, weight, n
        )  # fmt: skip
        ranked = sorted([*placements, *pairs], key=lambda found: -round(found.gain, 9))
        chosen: list[Question] = []
        used: set[int] = set()
        for found in ranked:
            about = found.question.items()
            asked = set(about if isinstance(found.question, SamePair) else about[:1])
            if not asked & used and len(chosen) < n:
                chosen.append(found.question)
                used |= asked
        return tuple(chosen)

    def _pairs(self, view: View, drawn: Drawn, weight: NDArray[np.float64], n: int) -> list[_Found]:
        key = ("gain-pairs", self, *looked_at(view))
        a, b = view.clustering.memo(key, lambda: pool(view, drawn))
        alive = np.flatnonzero(weight > 0)
        together = drawn.labels[np.ix_(alive, a)] == drawn.labels[np.ix_(alive, b)]
        chance = weight[alive] @ together if len(a) else np.zeros(0)
        gain = pair_gain(chance)
        gains: list[float] = []

        def why(k: int) -> str:
            gains.append(float(gain[k]))
            return "Whether these two are one kind says most about all groups" + _from(drawn)

        questions = best_pairs(view, drawn.items[a], drawn.items[b], gain, n, why)
        # Pairs drawn at random to fill up come last and have no gain.
        told = [*gains, *[0.0] * (len(questions) - len(gains))]
        return [_Found(g, q) for g, q in zip(told, questions, strict=True)]

    def _placements(
        self, view: View, drawn: Drawn, weight: NDArray[np.float64], n: int
    ) -> list[_Found]:
        """Where does this belong? Of items that no answer has placed, among the kinds known."""
        known = view.constraints
        first = np.array([kind[0] for kind in known.kinds], dtype=np.intp)
        columns = drawn.places(first)
        if len(first) < 2 or (columns < 0).any():
            return []
        placed = np.concatenate(known.kinds)
        avoid = [question.items()[0] for question in view.passed]
        free = np.flatnonzero(~np.isin(drawn.items, placed) & ~np.isin(drawn.items, avoid))
        match = drawn.labels[:, free][:, :, None] == drawn.labels[:, columns][:, None]  # (S, f, k)
        chance = np.einsum("s,sfk->fk", weight, match)
        told = _told_different(view, drawn.items[free], first)
        chance = np.where(told, 0.0, chance)
        most = WhichGroup.max_groups
        seen = np.sort(chance, axis=1)[:, ::-1][:, :most]
        none = np.clip(1 - seen.sum(axis=1, keepdims=True), 0.0, 1.0)
        gain = entropy(np.concatenate([seen, none], axis=1))
        order = np.lexsort((free, -np.round(gain, 9)))
        found = []
        for k in order[: 4 * n].tolist():
            question = self._placement(view, drawn, int(drawn.items[free[k]]), chance[k], told[k])
            if question is not None:
                found.append(_Found(float(gain[k]), question))
        return found[:n]

    def _placement(
        self, view: View, drawn: Drawn, item: int, chance: Floats, told: NDArray[np.bool_]
    ) -> WhichGroup | None:
        kinds, space = view.constraints.kinds, view.clustering.space
        order = [k for k in np.argsort(-chance, kind="stable").tolist() if not told[k]]
        groups = tuple(
            shown(space, kinds[k], item, self.exemplars) for k in order[: WhichGroup.max_groups]
        )
        why = "Where this belongs says most about all groups" + _from(drawn)
        return WhichGroup(item, groups, why=why) if groups else None


class _Found(NamedTuple):
    gain: float
    question: Question


def pair_gain(chance: Floats) -> Floats:
    """(m,) nats that the answer to "same kind?" is expected to tell, by the chance of "same".

    >>> pair_gain(np.array([0.5, 1.0])).round(4).tolist()
    [0.6931, 0.0]
    """
    chance = np.clip(np.asarray(chance, dtype=np.float64), 0.0, 1.0)
    return entropy(np.stack([chance, 1 - chance], axis=1))


def pool(view: View, drawn: Drawn) -> tuple[Ints, Ints]:
    """Columns ``a < b`` of candidate pairs in random order: doubtful ones, and any others."""
    m = len(drawn.items)
    rng = np.random.default_rng((view.seed, view.clustering.snapshot, 1))
    a, b = np.triu_indices(m, 1)
    order = rng.permutation(len(a))
    if len(a) > POOL:
        gain = pair_gain(together(drawn)[a, b])[order]
        doubtful = np.argpartition(-gain, POOL // 2)[: POOL // 2]
        others = np.setdiff1d(np.arange(POOL), doubtful)[: POOL // 2]
        order = order[np.sort(np.concatenate([doubtful, others]))]
    return a[order].astype(np.intp), b[order].astype(np.intp)


def together(drawn: Drawn) -> Floats:
    """(m, m) chance that two items are in one group."""
    found = np.zeros((len(drawn.items),) * 2, dtype=np.float32)
    for k in range(int(drawn.labels.max(initial=0)) + 1):
        inside = (drawn.labels == k).astype(np.float32)  # (S, m)
        found += (inside * drawn.weight[:, None].astype(np.float32)).T @ inside
    return found


def _told_different(view: View, items: Ints, first: Ints) -> NDArray[np.bool_]:
    """(m, k) whether an item is known not to be of a kind; only touched items can be."""
    known = view.constraints
    told = np.zeros((len(items), len(first)), dtype=bool)
    for row in np.flatnonzero(np.isin(items, known.touched)).tolist():
        told[row] = [known.same(int(items[row]), int(f)) is False for f in first]
    return told


def _from(drawn: Drawn) -> str:
    return "." if drawn.exact else " (guessed from memberships: only ncp draws whole groupings)."
