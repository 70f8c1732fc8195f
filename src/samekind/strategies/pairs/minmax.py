"""Min-max: the item least similar to everything asked about, compared kind by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Question, SamePair
from samekind.strategies.exemplars import Floats, squared_distances
from samekind.strategies.placement.placement import Nearest

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class MinMax:
    """The item least similar to everything asked about, compared with one kind after the other.

    Min-max (Mallapragada, Jin and Jain, ICPR 2008) picks the item whose largest similarity to the
    items asked so far is smallest. If similarity falls with distance, like the Gaussian of the
    paper, that is the item farthest from all of them: the rule by which the first phase (Basu,
    Banerjee and Mooney, SDM 2004) looks for new kinds. So here both phases are one, and the number
    of kinds need not be known. An item is compared with the nearest kind first until one is the
    same; an item that differs from all of them is a new kind.

    Parameters
    ----------
    sample : number of items that are considered in a large set.
    """

    sample: int = 6000

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """One pair, whatever `n` is, because the next one depends on its answer."""
        known = view.constraints
        kinds = self._kinds(view)
        avoid = {question.items()[0] for question in view.passed}
        for item in self._items(view, kinds, avoid):
            waiting = [kind for kind in kinds if known.same(item, int(kind[0])) is None]
            if waiting:
                return (self._question(view, item, waiting),)
        return ()

    def _question(self, view: View, item: int, kinds: Sequence[Ints]) -> SamePair:
        """Compare the item with the nearest item of the likeliest kind."""
        space = view.clustering.space
        kind = kinds[int(self._likeness(view, item, kinds).argmax())]
        other = int(kind[squared_distances(space[[item]], space[kind])[0].argmin()])
        return SamePair(item, other, why=self._why(view, item))

    def _likeness(self, view: View, item: int, kinds: Sequence[Ints]) -> Floats:
        """(k,) how likely the item is of each kind; the likeliest is asked about first."""
        space = view.clustering.space
        apart = [squared_distances(space[[item]], space[kind]).min() for kind in kinds]
        return -np.array(apart)

    def _why(self, view: View, item: int) -> str:
        if item in view.constraints.touched:
            return "It did not match another kind. Does it match this one?"
        return "It looks different from everything you were asked so far."

    def _kinds(self, view: View) -> tuple[Ints, ...]:
        """Known items, kind by kind; before the first "different" there is one kind."""
        known = view.constraints
        if known.kinds:
            return known.kinds
        if len(known.touched):
            return (known.component(int(known.touched[0])),)
        first = np.random.default_rng(view.seed).integers(known.n_items)
        return (np.array([first], dtype=np.intp),)

    def _items(self, view: View, kinds: Sequence[Ints], avoid: set[int]) -> Iterator[int]:
        """Items whose kind is not known; those with answers first."""
        yield from (i for i in unfinished_items(view.constraints, kinds) if i not in avoid)
        inside = np.concatenate([*kinds, view.constraints.touched])
        pool = self._pool(view)
        out = np.isin(pool, inside) | np.isin(pool, list(avoid))
        if not out.all():
            score = np.where(out, -np.inf, np.round(self._worth(view, pool, kinds), 9))
            order = np.argsort(-score, kind="stable")
            yield from (int(i) for i in pool[order[: int((~out).sum())]])

    def _worth(self, view: View, pool: Ints, kinds: Sequence[Ints]) -> Floats:
        """The value of asking about each item: here its distance to all items asked about."""
        space = view.clustering.space
        key = ("min-max", self, view.seed)
        apart = view.clustering.memo(key, lambda: Nearest.of_none(len(pool)))
        seen = np.union1d(view.constraints.touched, kinds[0])
        return apart.to(space, space[pool], seen)

    def _pool(self, view: View) -> Ints:
        """Items that may be asked about: all, or a random part of a large set."""
        n = view.constraints.n_items

        def drawn() -> Ints:
            if n <= self.sample:
                return np.arange(n)
            rng = np.random.default_rng((view.seed, n))
            return np.sort(rng.choice(n, self.sample, replace=False)).astype(np.intp)

        return view.clustering.memo(("min-max pool", self.sample, view.seed), drawn)


def unfinished_items(known: Constraints, kinds: Sequence[Ints]) -> list[int]:
    """Answered items that are in none of the kinds, so that comparisons are still missing.

    One for each set of items that are known to be the same kind.
    """
    inside = {int(item) for kind in kinds for item in kind}
    waiting = [int(item) for item in known.touched if int(item) not in inside]
    first: dict[int, int] = {}
    for item in waiting:
        first.setdefault(int(known.components[item]), item)
    return list(first.values())
