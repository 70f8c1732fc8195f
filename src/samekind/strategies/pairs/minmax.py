"""Min-max: the item least like everything asked about so far, compared kind by kind."""

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
    """The item least like all that were asked about, compared with one kind after the other.

    Min-max (Mallapragada, Jin and Jain, ICPR 2008) takes the item whose largest similarity to the
    items asked so far is smallest. For a similarity that falls with distance, the Gaussian of the
    paper among them, that is the item farthest from all of them: the rule by which its first phase
    (Basu, Banerjee and Mooney, SDM 2004) looks for new kinds. So both phases are one here, and
    nobody has to say how many kinds there are. An item is compared with the nearest kind first
    until one is the same; one that differs from all is a new kind.

    Parameters
    ----------
    sample : items of a large set that are looked at.
    """

    sample: int = 6000

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """One pair, however many are wanted: what comes next depends on its answer."""
        known = view.constraints
        kinds = self._kinds(view)
        avoid = {question.items()[0] for question in view.passed}
        for item in self._items(view, kinds, avoid):
            waiting = [kind for kind in kinds if known.same(item, int(kind[0])) is None]
            if waiting:
                return (self._question(view, item, waiting),)
        return ()

    def _question(self, view: View, item: int, kinds: Sequence[Ints]) -> SamePair:
        """The item beside the nearest item of the kind that comes first."""
        space = view.clustering.space
        kind = kinds[int(self._likeness(view, item, kinds).argmax())]
        other = int(kind[squared_distances(space[[item]], space[kind])[0].argmin()])
        return SamePair(item, other, why=self._why(view, item))

    def _likeness(self, view: View, item: int, kinds: Sequence[Ints]) -> Floats:
        """(k,) how likely the item is of each kind: the likeliest is asked about first."""
        space = view.clustering.space
        apart = [squared_distances(space[[item]], space[kind]).min() for kind in kinds]
        return -np.array(apart)

    def _why(self, view: View, item: int) -> str:
        if item in view.constraints.touched:
            return "It was not like another kind: is it like this one?"
        return "It is unlike everything asked about so far."

    def _kinds(self, view: View) -> tuple[Ints, ...]:
        """Items known to be one kind, kind by kind; before the first "different", one of them."""
        known = view.constraints
        if known.kinds:
            return known.kinds
        if len(known.touched):
            return (known.component(int(known.touched[0])),)
        first = np.random.default_rng(view.seed).integers(known.n_items)
        return (np.array([first], dtype=np.intp),)

    def _items(self, view: View, kinds: Sequence[Ints], avoid: set[int]) -> Iterator[int]:
        """Items of which it is not known of which kind they are; those begun with first."""
        yield from (i for i in begun(view.constraints, kinds) if i not in avoid)
        inside = np.concatenate([*kinds, view.constraints.touched])
        pool = self._pool(view)
        out = np.isin(pool, inside) | np.isin(pool, list(avoid))
        if not out.all():
            score = np.where(out, -np.inf, np.round(self._worth(view, pool, kinds), 9))
            order = np.argsort(-score, kind="stable")
            yield from (int(i) for i in pool[order[: int((~out).sum())]])

    def _worth(self, view: View, pool: Ints, kinds: Sequence[Ints]) -> Floats:
        """How much is learnt from asking about each item: here, how far it is from all asked."""
        space = view.clustering.space
        key = ("min-max", self, view.seed)
        apart = view.clustering.memo(key, lambda: Nearest.of_none(len(pool)))
        seen = np.union1d(view.constraints.touched, kinds[0])
        return apart.to(space, space[pool], seen)

    def _pool(self, view: View) -> Ints:
        """The items that may be asked about: all, or a random part of a large set."""
        n = view.constraints.n_items

        def drawn() -> Ints:
            if n <= self.sample:
                return np.arange(n)
            rng = np.random.default_rng((view.seed, n))
            return np.sort(rng.choice(n, self.sample, replace=False)).astype(np.intp)

        return view.clustering.memo(("min-max pool", self.sample, view.seed), drawn)


def begun(known: Constraints, kinds: Sequence[Ints]) -> list[int]:
    """Answered items that are in none of the kinds: the comparisons with them are not finished.

    One for each set of items that are known to be the same.
    """
    inside = {int(item) for kind in kinds for item in kind}
    waiting = [int(item) for item in known.touched if int(item) not in inside]
    first: dict[int, int] = {}
    for item in waiting:
        first.setdefault(int(known.components[item]), item)
    return list(first.values())
