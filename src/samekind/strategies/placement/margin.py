"""Margin and entropy sampling: the item nearest to a border, placed into one of the kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import NONE, Question, WhichGroup
from samekind.strategies.exemplars import Floats, shown
from samekind.strategies.pairs.entropy import entropy
from samekind.strategies.pairs.uncertainty import soft
from samekind.strategies.placement.placement import margin

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Margin:
    """Which of these groups does this belong to? Asked of the item nearest to a border.

    What most people would try first, best with the method `logistic`: the item whose two strongest
    groups are nearest to each other. An item that fits none of the groups shown is asked about
    again with the others, so with many kinds a placement may cost several questions.

    Parameters
    ----------
    first : items drawn at random before borders are looked at.
    exemplars : how many items show what a group is.
    """

    first: int = 10
    exemplars: int = 4
    why: ClassVar[str] = "It is nearest to a border."

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements; more than one only when kinds are already known."""
        known = view.constraints
        avoid = {question.items()[0] for question in view.passed}
        again = self._unfinished(view, avoid)
        questions: list[Question] = []
        for item in dict.fromkeys((*again, *self._ranked(view, avoid).tolist())):
            question = self._question(view, item, item in again)
            if question is not None:
                questions.append(question)
            if len(questions) == (n if known.kinds else 1):
                break
        return tuple(questions)

    def _unfinished(self, view: View, avoid: set[int]) -> list[int]:
        """Items that fitted none of the groups shown and are in no kind yet, the latest first."""
        known = view.constraints
        out = avoid.union(*(kind.tolist() for kind in known.kinds))
        none = (a.question for a in reversed(known.answers) if a.choice == NONE)
        items = (q.item for q in none if isinstance(q, WhichGroup))
        return list(dict.fromkeys(i for i in items if i < known.n_items and i not in out))

    def _ranked(self, view: View, avoid: set[int]) -> Ints:
        """Items without an answer, the one nearest to a border first; to begin with, at random."""
        known, clustering = view.constraints, view.clustering
        free = np.ones(known.n_items, dtype=bool)
        free[known.touched] = False
        free[[i for i in avoid if i < known.n_items]] = False
        items = np.flatnonzero(free)
        if len(known.touched) < self.first or not known.kinds:
            return view.rng.permutation(items)
        key = ("border", type(self))
        border = clustering.memo(key, lambda: np.round(self._clearness(clustering), 12))
        return items[np.argsort(border[items], kind="stable")]

    def _clearness(self, clustering: Clustering) -> Floats:
        """(n,) how far the first group of each item is ahead of its second."""
        return margin(clustering, np.arange(len(clustering.labels)))

    def _question(self, view: View, item: int, again: bool) -> WhichGroup | None:
        """The item with the likeliest of the kinds that are open for it; None when none is."""
        known, clustering = view.constraints, view.clustering
        kinds = list(known.kinds) or [self._anchor(view, item)]
        kinds = [kind for kind in kinds if known.same(item, int(kind[0])) is None]
        if not kinds:
            return None
        belief = soft(clustering, np.array([item]))[0]
        column = {number: k for k, number in enumerate(clustering.numbers)}
        of = [float(belief[column[int(clustering.labels[kind[0]])]]) for kind in kinds]
        likeliest = np.argsort(-np.round(of, 12), kind="stable")[: WhichGroup.max_groups]
        groups = (shown(clustering.space, kinds[k], item, self.exemplars) for k in likeliest)
        why = "It fitted none of the groups shown before: here are the others."
        return WhichGroup(item, tuple(groups), why=why if again else self.why)

    def _anchor(self, view: View, item: int) -> Ints:
        """What the first items are compared with: what is already answered, or any other item."""
        known = view.constraints
        if len(known.touched):
            return known.component(int(known.touched[0]))
        first = int(np.random.default_rng(view.seed).integers(known.n_items))
        return np.array([first if first != item else (first + 1) % known.n_items])


@dataclass(frozen=True)
class ItemEntropy(Margin):
    """Which of these groups does this belong to? Asked of the item with the least clear membership.

    As :class:`Margin`, by the entropy of the whole membership: an item between five groups comes
    before one between two. (The strategy `entropy` asks about pairs.)
    """

    why: ClassVar[str] = "Its group is the least clear of all."

    def _clearness(self, clustering: Clustering) -> Floats:
        n = len(clustering.labels)
        parts = (np.arange(at, min(at + 65_536, n)) for at in range(0, n, 65_536))
        return -np.concatenate([entropy(soft(clustering, part)) for part in parts])
