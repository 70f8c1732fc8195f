"""Positions: where the items of a ledger are in the current collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index

from samekind.errors import InputError
from samekind.items import Collection


@dataclass
class Positions:
    """Translate the ids in a ledger to positions in the current collection.

    An id that is no longer in the collection is looked up by its stamp, which a renamed or moved
    file keeps. An item that is really gone gets a position after the last item, so that its
    answers and everything they imply are kept. It was not renamed to an item that it was asked
    about beside, or after: that is a copy, which had its id all along.

    Parameters
    ----------
    asked : returns the ids, with their stamps, of each event with questions so far, in order.
    """

    collection: Collection
    asked: Callable[[], Iterable[Mapping[str, str]]] = tuple
    renamed: dict[str, str] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    _stamps: dict[str, str] = field(default_factory=dict)
    _by_stamp: dict[str, list[str]] | None = None
    _first: dict[str, int] = field(default_factory=dict)
    """When each item was asked about first, and last."""
    _last: dict[str, int] = field(default_factory=dict)

    def remember(self, stamps: Mapping[str, str]) -> None:
        """Store the stamps that items had when they were asked about."""
        self._stamps.update(stamps)

    def __call__(self, id: str) -> int:
        try:
            return self.collection.position(id)
        except KeyError:
            pass
        if id in self.renamed:
            return self.collection.position(self.renamed[id])
        if id not in self.gone:
            candidates = self._same_stamp(id)
            if len(candidates) == 1:
                self.renamed[id] = candidates[0]
                return self.collection.position(candidates[0])
            self.gone[id] = len(self.collection) + len(self.gone)
        return self.gone[id]

    def name(self, position: int) -> str:
        """The id at a position, also of an item that is gone; InputError if there is none."""
        place, n_items = self._checked(position), len(self.collection)
        if place < n_items:
            return self.collection.id(place)
        return next(id for id, gone in self.gone.items() if gone == place)

    def _checked(self, position: int) -> int:
        try:
            place = index(position)
        except TypeError:
            place = -1
        if not 0 <= place < len(self.collection) + len(self.gone):
            raise InputError(
                f"Expected positions of items, whole numbers from 0 to {len(self.collection) - 1}, "
                f"got {position!r}. Count from 0."
            )
        return place

    def _same_stamp(self, id: str) -> list[str]:
        stamp = self._stamps.get(id)
        if stamp is None or stamp == id:  # a stamp that is the id itself says nothing about content
            return []
        if self._by_stamp is None:
            self._by_stamp = {}
            for item in self.collection:
                self._by_stamp.setdefault(item.stamp, []).append(item.id)
        found = self._by_stamp.get(stamp, [])
        return [other for other in found if not self._was_beside(id, other)] if found else []

    def _was_beside(self, id: str, other: str) -> bool:
        """Whether an item had its id already when one that is missing now was asked about."""
        if id not in self._last:  # read only where an item is missing
            for time, stamps in enumerate(self.asked()):
                for each in stamps:
                    self._first.setdefault(each, time)
                    self._last[each] = time
        return other in self._first and self._first[other] <= self._last.get(id, -1)
