"""EventLog: the events of one session, and Positions: ids outside, positions inside."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.items import Collection
from samekind.ledger.fold import LedgerState
from samekind.protocols import Event, Store
from samekind.questions import Answer, Question

ANSWER_KINDS = ("told", "volunteered")
"""Kinds of event that hold an answer."""


@dataclass
class Positions:
    """Translate the ids in a ledger to positions in the current collection.

    An id that is no longer in the collection is looked up by its stamp, which a renamed or moved
    file keeps. An item that is really gone gets a position after the last item, so that its
    answers and everything they imply are kept.
    """

    collection: Collection
    renamed: dict[str, str] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    _stamps: dict[str, str] = field(default_factory=dict)
    _by_stamp: dict[str, list[str]] | None = None

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
        """The id at a position, also of an item that is gone."""
        if position < len(self.collection):
            return self.collection.id(position)
        return next(id for id, place in self.gone.items() if place == position)

    def _same_stamp(self, id: str) -> list[str]:
        stamp = self._stamps.get(id)
        if stamp is None or stamp == id:  # a stamp that is the id itself says nothing about content
            return []
        if self._by_stamp is None:
            self._by_stamp = {}
            for item in self.collection:
                self._by_stamp.setdefault(item.stamp, []).append(item.id)
        return self._by_stamp.get(stamp, [])


class EventLog:
    """Append events to a store and fold them, including those of other processes.

    Parameters
    ----------
    store : where the events are kept. name : the session that they belong to.
    collection : the items; events refer to them by id.
    """

    def __init__(self, store: Store, name: str, collection: Collection) -> None:
        self.store, self.name = store, name
        self.positions = Positions(collection)
        self.ledger = LedgerState(self.positions)
        self.constraints = Constraints(len(collection))
        self.catch_up()

    def append(self, kind: str, data: dict[str, Any]) -> int:
        """Store an event and fold it; when this returns its number, the event is safe."""
        event = Event(kind, data, time.time())
        seq = self.store.append(self.name, event)
        if seq == self.ledger.seq + 1:
            self._fold(Event(kind, data, event.at, seq))
        else:  # another process wrote in between: fold its events first
            self.catch_up()
        return seq

    def catch_up(self) -> None:
        """Fold what other processes have written."""
        events = list(self.store.read(self.name, after=self.ledger.seq))
        for event in events:
            self._fold(event, refold=False)
        if any(event.kind in (*ANSWER_KINDS, "undone", "proposed") for event in events):
            self.constraints = self.constraints_of(self.ledger.answers.values())

    def constraints_of(self, answers: Iterable[Answer]) -> Constraints:
        """Fold some answers into constraints over the current positions."""
        gone = len(self.positions.gone)
        n_items = len(self.positions.collection)
        return Constraints.from_answers(n_items, answers, n_gone=gone)

    def question_data(
        self, questions: Sequence[Question], clustering: Clustering
    ) -> dict[str, Any]:
        """The data of an event with questions: ids instead of positions, and the items' stamps."""
        collection = self.positions.collection
        shown = {i for question in questions for i in question.items()}
        return {
            "snapshot": clustering.snapshot,
            "questions": [question.to_json(self.positions.name) for question in questions],
            "stamps": {collection.id(i): collection[i].stamp for i in sorted(shown)},
        }

    def _fold(self, event: Event, *, refold: bool = True) -> None:
        if event.kind in ("proposed", "volunteered"):
            self.positions.remember(event.data.get("stamps", {}))
        self.ledger.fold(event)
        known, answers = self.constraints, self.ledger.answers
        if not refold:
            return
        if known.n_gone != len(self.positions.gone):
            self.constraints = self.constraints_of(answers.values())
        elif event.kind in ANSWER_KINDS and len(answers) == len(known.answers) + 1:
            self.constraints = known.with_answer(next(reversed(answers.values())))
        elif event.kind in (*ANSWER_KINDS, "undone"):
            self.constraints = self.constraints_of(answers.values())
