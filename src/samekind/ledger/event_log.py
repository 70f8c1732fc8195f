"""The event log of a session: events are stored, then folded, those of other processes too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import CorruptedLedger, InputError, SamekindError, StaleWrite
from samekind.items import Collection
from samekind.ledger.fold import LedgerState
from samekind.ledger.folded_constraints import FoldedConstraints, without_collection
from samekind.ledger.positions import Positions
from samekind.protocols import Event, Store
from samekind.questions import Answer, Link, Question, question_from_json

ASKING_KINDS = ("proposed", "volunteered")
"""Events with questions."""
FEW_EVENTS = 50
"""Events of other processes up to which the constraints are extended one answer at a time."""
Decide = Callable[[], tuple[str, dict[str, Any]] | None]
"""Returns the kind and the data of an event that the present state calls for, or None."""


class EventLog:
    """Append events to a store and fold them, including those of other processes.

    Parameters
    ----------
    store : where the events are kept. name : the session that they belong to.
    collection : the items; events refer to them by id.
    """

    def __init__(self, store: Store, name: str, collection: Collection) -> None:
        if not all(callable(getattr(store, does, None)) for does in ("append", "read")):
            raise InputError(
                f"Expected an open ledger as store, got {store!r}. Open the file first: "
                "store=samekind.open_store('NAME.samekind')"
            )
        self.store, self.name = store, name
        self.positions = Positions(collection, self._asked_about)
        self.ledger = LedgerState(self.positions)
        self._folded = FoldedConstraints(self.ledger, self.positions)
        self.catch_up()

    @property
    def constraints(self) -> Constraints:
        """What the answers in force state and imply."""
        return self._folded.now

    def commit(self, decide: Decide) -> int | None:
        """Store the event that `decide` returns, if nobody else has written since it decided.

        Otherwise the new events are folded first, and it decides again. It returns None to store
        nothing, and raises to refuse, which counts only on the newest state.
        """
        while True:
            try:
                decided = decide()
            except SamekindError:
                if not self.catch_up():
                    raise
                continue
            if decided is None:
                return None
            after = self.ledger.seq
            try:
                return self.append(*decided, after=after)
            except StaleWrite:
                self.fold_newer(after)

    def append(self, kind: str, data: dict[str, Any], *, after: int | None = None) -> int:
        """Store an event and fold it; when this returns its number, the event is safe.

        With `after`, only if that is the number of the last event so far.
        """
        event, before = Event(kind, data, time.time()), self.ledger.seq
        seq = self.store.append(self.name, event, after=after)
        if seq <= before:
            raise self._lost_events()
        if seq == self.ledger.seq + 1:
            self._fold(Event(kind, data, event.at, seq))
        else:  # another process wrote in between: fold its events first
            self.catch_up()
        return seq

    def fold_newer(self, after: int) -> None:
        """Fold the events after one number, which another process must have written.

        Raises
        ------
        CorruptedLedger
            If there are none: the store has lost events, and would refuse every decision.
        """
        self.catch_up()
        if self.ledger.seq <= after:
            raise self._lost_events()

    def _lost_events(self) -> CorruptedLedger:
        return CorruptedLedger(
            f"The ledger of {self.name!r} ends before event {self.ledger.seq}, which it had "
            "confirmed: perhaps an older copy was restored. Open it again to go on with what it "
            "holds."
        )

    def catch_up(self) -> int:
        """Fold what other processes have written; returns the number of their events."""
        events = self.store.read(self.name, after=self.ledger.seq)
        first = list(islice(events, FEW_EVENTS + 1))
        if len(first) <= FEW_EVENTS:
            for event in first:
                self._fold(event)
            return len(first)
        before = self.ledger.seq
        with without_collection():
            for event in chain(first, events):
                self._fold(event, refold=False)
            self._folded.fold_all()
        return self.ledger.seq - before

    def constraints_of(self, answers: Sequence[Answer]) -> Constraints:
        """Fold some answers into constraints over the current positions."""
        return self._folded.of(answers)

    def question_data(
        self,
        questions: Sequence[Question],
        clustering: Clustering,
        aside: Mapping[int, Iterable[Link]] | None = None,
    ) -> dict[str, Any]:
        """The data of an event with questions: ids instead of positions, and the items' stamps.

        With the links of earlier answers that it sets aside, if there are any.
        """
        name = self.positions.name
        found = {
            str(number): [[name(a), name(b), same] for a, b, same in sorted(links)]
            for number, links in (aside or {}).items()
        }
        forms = [self.readable(question) for question in questions]
        collection = self.positions.collection
        shown = {i for question in questions for i in question.items()}
        return {
            "snapshot": clustering.snapshot,
            "questions": forms,
            "stamps": {collection.id(i): collection[i].stamp for i in sorted(shown)},
            **({"aside": found} if found else {}),
        }

    def readable(self, question: Question) -> dict[str, Any]:
        """The JSON of a question; InputError unless the same question can be read back from it.

        What cannot be read would close the ledger for good, so it is never stored.
        """
        if not isinstance(question, Question):
            raise InputError(f"Expected a question, such as SamePair(0, 3), got {question!r}.")
        form = question.to_json(self.positions.name)
        found = question_from_json(form, self.positions).items()
        if found != question.items():
            raise InputError(
                f"Expected items with ids of their own, got a {question.kind!r} question about the "
                f"items {question.items()}, whose ids belong to {found}. Rename an item."
            )
        return form

    def _asked_about(self) -> Iterator[Mapping[str, str]]:
        """The ids and stamps of each event with questions."""
        for event in self.store.read(self.name):
            if event.kind in ASKING_KINDS:
                yield _stamps(event)

    def _fold(self, event: Event, *, refold: bool = True) -> None:
        if event.kind in ASKING_KINDS:
            self.positions.remember(_stamps(event))
        try:
            self.ledger.fold(event)
        except CorruptedLedger as problem:
            raise CorruptedLedger(
                f"{problem} Update samekind, or save all other events to a new file: samekind "
                "repair LEDGER"
            ) from problem
        if refold:
            self._folded.fold(event)


def _stamps(event: Event) -> Mapping[str, str]:
    """The stamps of the items of an event; a stranger's file may hold anything."""
    stamps = event.data.get("stamps", {})
    return stamps if isinstance(stamps, dict) else {}
