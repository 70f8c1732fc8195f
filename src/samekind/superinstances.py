"""Super-instances: small sets of similar items, represented by their middle item.

COBRA and COBRAS decide what to ask while they group, so method and strategy have to agree: both
replay the whole algorithm over the answers so far, from the beginning. The first pair without a
known answer is the next question. The last merging that was completed gives the groups; before
there is one, the first cut does, with what has been merged of it. Cuts by k-means take time, so
they are kept in a tree that is grown once and shared while anything uses it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]
Pair = frozenset[int]

MAX_KMEANS_ITEMS = 20_000
"""Items on which k-means runs in a larger set; the others go to the nearest centre."""
RESTARTS = 3
"""Restarts of each k-means. Ten make the first cut of the digits too coarse: docs/results.md."""
HALVES = "They represent the two halves of one set of items."
NEAREST = "They represent two similar sets of items."


class SuperInstance:
    """Some items, their mean, the item nearest to it, and their cuts by k-means.

    Parameters
    ----------
    rows : (n, d) the vectors of all items. items : those that belong here, ascending.
    """

    __slots__ = ("__weakref__", "_cuts", "centre", "items", "middle", "rows", "seed")

    def __init__(self, rows: Floats, items: Ints, seed: int) -> None:
        self.rows, self.items, self.seed = rows, items, seed
        total = np.zeros(rows.shape[1])
        for part in self._parts():
            total += rows[part].sum(axis=0, dtype=np.float64)
        self.centre: Floats = total / len(items)
        distances = [((rows[part] - self.centre) ** 2).sum(axis=1) for part in self._parts()]
        self.middle = int(items[np.concatenate(distances).argmin()])
        self._cuts: dict[int, tuple[SuperInstance, ...]] = {}

    def __len__(self) -> int:
        return len(self.items)

    def cut(self, k: int) -> tuple[SuperInstance, ...]:
        """Up to `k` parts, by k-means; only itself when all its items are equal."""
        if k not in self._cuts:
            group = self._grouped(min(k, len(self)))
            parts = [self.items[group == g] for g in np.unique(group)]
            cut = tuple(SuperInstance(self.rows, part, self.seed) for part in parts)
            self._cuts[k] = cut if len(cut) > 1 else (self,)
        return self._cuts[k]

    def _grouped(self, k: int) -> Ints:
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        rng = np.random.default_rng((self.seed, int(self.items[0]), len(self), k))
        some = self.items
        if len(some) > MAX_KMEANS_ITEMS:
            some = np.sort(rng.choice(some, MAX_KMEANS_ITEMS, replace=False))
        model = KMeans(k, n_init=RESTARTS, random_state=int(rng.integers(2**31)))
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer different items than parts: fewer parts
            model.fit(self.rows[some])
            if len(some) == len(self):
                return np.asarray(model.labels_, dtype=np.intp)
            return np.concatenate([model.predict(self.rows[part]) for part in self._parts()])

    def _parts(self) -> Iterator[Ints]:
        """The items in chunks, as the set may be large."""
        return (self.items[at : at + 16_384] for at in range(0, len(self.items), 16_384))


_TREES: WeakValueDictionary[tuple[bytes, int], SuperInstance] = WeakValueDictionary()


def tree(rows: Any, seed: int) -> SuperInstance:
    """All items as one super-instance, the same object for the same vectors while it is in use."""
    rows = np.ascontiguousarray(np.asarray(rows).reshape(len(rows), -1))
    key = (blake2b(rows.reshape(-1).view(np.uint8)).digest(), seed)
    found = _TREES.get(key)
    if found is None or found.rows.shape != rows.shape or found.rows.dtype != rows.dtype:
        found = _TREES[key] = SuperInstance(rows, np.arange(len(rows)), seed)
    return found


@dataclass(frozen=True, eq=False)
class Replayed:
    """State of the algorithm after all answers so far.

    Parameters
    ----------
    parts : super-instances of the last completed merging; before that, of the first cut as far as
        it is known.
    question : the two items to ask about next, the smaller first; None when there is none.
    merged : whether it is known which of the parts are one kind.
    """

    parts: tuple[SuperInstance, ...]
    question: tuple[int, int] | None = None
    why: str = ""
    merged: bool = True


def replay_cobras(
    whole: SuperInstance, known: Constraints, passed: Collection[Pair] = ()
) -> Replayed:
    """COBRAS: cut the largest super-instance, merge what is one kind, and repeat.

    Pairs that the person passed on count as different where sets would be merged, and end the
    search for how finely to cut. Until the first merging is complete, which can take a hundred
    answers where there are many kinds, the parts are those of the first cut.
    """
    parts: tuple[SuperInstance, ...] = (whole,)
    done: tuple[SuperInstance, ...] | None = None
    while True:
        open_parts = [part for part in parts if len(part) > 1 and len(part.cut(2)) > 1]
        if not open_parts:
            return Replayed(parts)
        largest = max(open_parts, key=len)
        count, question = _fineness(largest, known, passed)
        if question is not None:
            if done is None and count > 1:
                parts = whole.cut(count)
            return Replayed(done or parts, question, HALVES, merged=done is not None)
        parts = (*(part for part in parts if part is not largest), *largest.cut(count))
        question = _open_pair(parts, known, passed)
        if question is not None:
            return Replayed(done or parts, question, NEAREST, merged=done is not None)
        done = parts


def replay_cobra(
    whole: SuperInstance, known: Constraints, passed: Collection[Pair], n_parts: int
) -> Replayed:
    """COBRA: cut once, merge what is one kind, and end."""
    parts = whole.cut(n_parts)
    question = _open_pair(parts, known, passed)
    return Replayed(parts, question, NEAREST, merged=question is None)


def _fineness(
    part: SuperInstance, known: Constraints, passed: Collection[Pair]
) -> tuple[int, tuple[int, int] | None]:
    """Into how many parts to cut: halve, and continue in the smaller half while halves differ.

    Each "different" doubles the number. When an answer is missing, its question comes with the
    number that the answers so far imply.
    """
    level, at = 0, part
    while len(halves := at.cut(2)) > 1:
        pair = _pair(halves[0], halves[1])
        same = known.same(*pair)
        if same is None and frozenset(pair) not in passed:
            return min(len(part), 2**level), pair
        if same is not False:  # one kind, or the person cannot tell
            break
        level += 1
        larger = [half for half in halves if len(half) > 1]
        if not larger:
            break
        at = min(larger, key=len)
    return min(len(part), 2 ** max(level, 1)), None


def _open_pair(
    parts: Sequence[SuperInstance], known: Constraints, passed: Collection[Pair]
) -> tuple[int, int] | None:
    """The middles of the two nearest parts that are not known to be one kind or different."""
    middles = np.array([part.middle for part in parts])
    kinds, kind = np.unique(known.components[middles], return_inverse=True)
    unknown = ~np.eye(len(kinds), dtype=bool)
    links = known.component_links()
    at = np.minimum(np.searchsorted(kinds, links), len(kinds) - 1)
    at = at[(kinds[at] == links).all(axis=1)]
    unknown[at[:, 0], at[:, 1]] = unknown[at[:, 1], at[:, 0]] = False
    if not unknown.any():
        return None
    open_pairs = unknown[kind][:, kind]
    place = {middle: k for k, middle in enumerate(middles.tolist())}
    for a, b in (tuple(pair) for pair in passed if pair <= place.keys()):
        open_pairs[place[a], place[b]] = open_pairs[place[b], place[a]] = False
    if not open_pairs.any():
        return None
    centres = np.stack([part.centre for part in parts])
    squares = (centres**2).sum(axis=1)
    distances = squares[:, None] - 2 * centres @ centres.T + squares
    # Rounded, so that the same question comes out on every machine.
    distances = np.where(open_pairs, np.round(distances, 6), np.inf)
    first, second = divmod(int(distances.argmin()), len(parts))
    return _pair(parts[first], parts[second])


def _pair(a: SuperInstance, b: SuperInstance) -> tuple[int, int]:
    return min(a.middle, b.middle), max(a.middle, b.middle)
