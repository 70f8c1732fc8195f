"""Places: one place per group for a whole session, which gives its key, colour and position.

A group takes a place when it is first seen, also as a kind that no refit has made a group of yet,
and keeps it. Places are stored with every refit, so they are the same after a restart and on every
device. Guesses, made before any kinds were told apart, have places that do not last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.event_log import EventLog
from samekind.ledger.places import following_places, free_places


@dataclass(frozen=True)
class Places:
    """The places of the groups and kinds of a session at one moment.

    Parameters
    ----------
    groups : places by group number. kinds : places of kinds without a group, by their first item.
    counted : whether the places of the groups last; those of guesses do not.
    """

    groups: Mapping[int, int]
    kinds: Mapping[int, int]
    counted: bool
    _used: frozenset[int]
    _known: Constraints
    _learnt_from: Constraints
    _clustering: Clustering

    @classmethod
    def of(cls, log: EventLog, clustering: Clustering, learnt_from: Constraints) -> Places:
        """The places of the groups, and of the kinds that were found since they were learnt."""
        known, stored = log.constraints, log.ledger.places
        groups = following_places(stored, clustering.numbers)
        new = free_places(stored.values(), log.ledger.used_places)
        kinds = {
            int(kind[0]): next(new)
            for kind in known.kinds
            if not stored or not np.isin(kind, learnt_from.touched).any()
        }
        return cls(
            groups, kinds, bool(stored), log.ledger.used_places, known, learnt_from, clustering
        )

    def of_item(self, item: int) -> int | None:
        """The place of the kind of an item, or of the group that it represents."""
        kind = self._known.component(item)
        leader = int(kind[0]) if len(kind) else item
        if leader in self.kinds:
            return self.kinds[leader]
        labels = self._clustering.labels
        kind = kind[np.isin(kind, self._learnt_from.touched)]
        if not len(kind):
            return self.groups.get(int(labels[item])) if item < len(labels) else None
        return self.groups.get(int(np.bincount(labels[kind]).argmax()))

    def title(self, item: int) -> str:
        """What an unnamed group is called: "Group 3"; empty if the item represents none."""
        place = self.of_item(item)
        return "" if place is None else f"Group {self._number_at(place) or place + 1}"

    def name(self, item: int) -> str:
        """The name of the group that an item represents; empty if it has none."""
        place = self.of_item(item)
        number = None if place is None else self._number_at(place)
        return "" if number is None else self._clustering.names.get(number, "")

    def _number_at(self, place: int) -> int | None:
        return next((number for number, at in self.groups.items() if at == place), None)

    def of_items(self, items: Iterable[int]) -> list[int | None]:
        """The places of several items, each place once: None where one is there already."""
        found: list[int | None] = []
        for item in items:
            place = self.of_item(item)
            found.append(None if place in found else place)
        return found

    def following(
        self, clustering: Clustering, known: Constraints, *, keep: bool
    ) -> dict[int, int]:
        """The places of the next groups, learnt from these answers; a kind keeps its place.

        Parameters
        ----------
        keep : whether the person relies on the present groups, although they may be guesses.
        """
        if not known.kinds and not keep:
            return {}
        wanted: dict[int, int] = {}
        for kind in known.kinds:
            place = self.of_item(int(kind[0]))
            number = int(np.bincount(clustering.labels[kind]).argmax())
            if place is not None and number not in wanted:
                wanted[number] = place
        before = self.groups if self.counted or not known.kinds else {}
        return following_places(before, clustering.numbers, self._used, wanted)
