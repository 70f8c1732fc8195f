"""Journal: the store's events of one session, and what they add up to at this moment."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from samekind.constraints import Constraints
from samekind.items import Collection
from samekind.ledger.fold import Ledger
from samekind.ledger.positions import Positions
from samekind.protocols import Event, Store
from samekind.questions import Answer

ANSWERING = ("told", "volunteered")
"""Events that hold an answer."""


class EventLog:
    """Appends events to a store and folds them, those of other processes included.

    Parameters
    ----------
    store : where the events are kept. name : the session that they belong to.
    collection : the items, by whose ids events speak.
    """

    def __init__(self, store: Store, name: str, collection: Collection) -> None:
        self.store, self.name = store, name
        self.positions = Positions(collection)
        self.ledger = Ledger(self.positions)
        self.constraints = Constraints(len(collection))
        self.catch_up()

    def append(self, kind: str, data: dict[str, Any]) -> int:
        """Write an event down; when its number comes back it is safe, and folded in."""
        event = Event(kind, data, time.time())
        seq = self.store.append(self.name, event)
        if seq == self.ledger.seq + 1:
            self._fold(Event(kind, data, event.at, seq))
        else:  # another process wrote in between: take its events first
            self.catch_up()
        return seq

    def catch_up(self) -> None:
        """Take in what other processes have written."""
        events = list(self.store.read(self.name, after=self.ledger.seq))
        for event in events:
            self._fold(event, refold=False)
        if any(event.kind in (*ANSWERING, "undone", "proposed") for event in events):
            self.constraints = self.folded(self.ledger.answers.values())

    def folded(self, answers: Iterable[Answer]) -> Constraints:
        """What some answers say and imply, by the positions of today."""
        gone = len(self.positions.gone)
        n_items = len(self.positions.collection)
        return Constraints.from_answers(n_items, answers, n_gone=gone)

    def _fold(self, event: Event, *, refold: bool = True) -> None:
        if event.kind in ("proposed", "volunteered"):
            self.positions.remember(event.data.get("stamps", {}))
        self.ledger.fold(event)
        known, told = self.constraints, self.ledger.answers
        if not refold:
            return
        if known.n_gone != len(self.positions.gone):
            self.constraints = self.folded(told.values())
        elif event.kind in ANSWERING and len(told) == len(known.answers) + 1:
            self.constraints = known.with_answer(next(reversed(told.values())))
        elif event.kind in (*ANSWERING, "undone"):
            self.constraints = self.folded(told.values())
