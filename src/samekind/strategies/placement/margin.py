"""Margin and entropy sampling: place the item nearest to a border into one of the kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import Question, WhichGroup
from samekind.strategies.exemplars import Floats, soft
from samekind.strategies.pairs.entropy import entropy
from samekind.strategies.placement.placement import (
    OTHER_GROUPS,
    ask_among,
    margin,
    membership_in,
    unfinished_items,
)

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Margin:
    """Which of these groups does this belong to? Asked of the item nearest to a border.

    The usual active-learning baseline, best with the method `logistic`: the item whose two
    strongest groups have the closest memberships. An item that fits none of the groups shown is
    asked about again with the others. From eight kinds on all of them are shown at once.

    Parameters
    ----------
    first : number of random items before borders are considered.
    exemplars : number of items that represent a group.
    """

    first: int = 10
    exemplars: int = 4
    why: ClassVar[str] = "It is on the border between two groups."

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements; more than one only if kinds are already known."""
        known = view.constraints
        avoid = {question.items()[0] for question in view.passed}
        again = unfinished_items(known, avoid)
        questions: list[Question] = []
        for item in dict.fromkeys((*again, *self._ranked(view, avoid).tolist())):
            question = self._question(view, item, item in again)
            if question is not None:
                questions.append(question)
            if len(questions) == (n if known.kinds else 1):
                break
        return tuple(questions)

    def _ranked(self, view: View, avoid: set[int]) -> Ints:
        """Items without an answer, nearest to a border first; at the start in random order."""
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
        """(n,) difference between the two highest memberships of each item."""
        return margin(clustering, np.arange(len(clustering.labels)))

    def _question(self, view: View, item: int, again: bool) -> WhichGroup | None:
        """Ask about the likeliest kinds that are still possible for the item, if any."""
        known, clustering = view.constraints, view.clustering
        kinds = list(known.kinds) or [self._anchor(view, item)]
        n_known = len(kinds)
        kinds = [kind for kind in kinds if known.same(item, int(kind[0])) is None]
        if not kinds:
            return None
        belief = np.asarray(membership_in(clustering, item, kinds), dtype=np.float64)
        order = np.argsort(-np.round(belief, 12), kind="stable")
        why = OTHER_GROUPS if again else self.why
        return ask_among(clustering.space, item, kinds, order, n_known, self.exemplars, why)

    def _anchor(self, view: View, item: int) -> Ints:
        """The items that the first ones are compared with: answered ones, or any other item."""
        known = view.constraints
        if len(known.touched):
            return known.component(int(known.touched[0]))
        first = int(np.random.default_rng(view.seed).integers(known.n_items))
        return np.array([first if first != item else (first + 1) % known.n_items])


@dataclass(frozen=True)
class ItemEntropy(Margin):
    """Which of these groups does this belong to? Asked of the item with the least clear membership.

    Like :class:`Margin`, but by the entropy of the whole membership: an item between five groups
    comes before one between two. (The strategy `entropy` asks about pairs.)
    """

    why: ClassVar[str] = "Its group is less clear than any other."

    def _clearness(self, clustering: Clustering) -> Floats:
        n = len(clustering.labels)
        parts = (np.arange(at, min(at + 65_536, n)) for at in range(0, n, 65_536))
        return -np.concatenate([entropy(soft(clustering, part)) for part in parts])
