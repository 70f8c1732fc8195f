"""LedgerState: the state of a session as a fold of its events; no event is ever deleted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samekind.errors import AnswerError, CorruptedLedger
from samekind.protocols import Event, Store
from samekind.questions import Answer, Question, question_from_json


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: its number, and the snapshot that it was made from."""

    number: int
    question: Question
    snapshot: int


@dataclass(frozen=True, slots=True)
class Refitted:
    """A refit: the snapshot that it made, and the last event that it learnt from.

    `marks` lists a few item ids per group number, by which the groups are recognised again. `last`
    is the highest group number used so far.
    """

    snapshot: int
    after: int
    last: int
    marks: Mapping[int, Sequence[str]]


def last_header(store: Store, session: str) -> dict[str, Any]:
    """The header that a session was last opened with; empty for a new session."""
    headers = [event.data for event in store.read(session) if event.kind == "opened"]
    return dict(headers[-1]) if headers else {}


@dataclass
class LedgerState:
    """The state of a session after some events. It also numbers the questions.

    Parameters
    ----------
    position : item id to position; must know every id that a question ever named.
    """

    position: Callable[[str], int]
    seq: int = 0
    header: dict[str, Any] = field(default_factory=dict)
    asked: dict[int, Asked] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    """Answers in force by question number, in the order in which they were given."""
    pending: list[int] = field(default_factory=list)
    """Questions not answered yet, in the order of asking."""
    reopened: list[int] = field(default_factory=list)
    """Questions whose answer was undone; the last one is asked next."""
    skipped: dict[int, int] = field(default_factory=dict)
    """Deferred questions, with the snapshot at which each was deferred."""
    refits: list[Refitted] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    changes: int = 0
    """Answers given, changed or undone since the last refit began."""
    changed_at: list[int] = field(default_factory=list)
    """Sequence numbers of all such changes, ascending."""
    unsure: set[int] = field(default_factory=set)
    """Answered questions whose answer says nothing; `passed` needs them for every question."""
    volunteered: dict[int, int] = field(default_factory=dict)
    """Questions that were answered without being asked, with the number of the event."""

    def fold(self, event: Event) -> None:
        """Take in one event."""
        try:
            getattr(self, f"_{event.kind}")(event.data, event.seq)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise CorruptedLedger(
                f"Event {event.seq} of the ledger ({event.kind!r}) cannot be read: {problem!r}. "
                "It was written by a newer samekind, or the file is damaged. Nothing was changed."
            ) from problem
        self.seq = event.seq

    def until(self, seq: int, events: Sequence[Event]) -> LedgerState:
        """The state after event `seq`."""
        past = LedgerState(self.position)
        for event in events:
            if event.seq <= seq:
                past.fold(event)
        return past

    def answer_of(self, number: int, choice: str, by: str, seconds: float | None) -> Answer:
        """An answer to question `number`; AnswerError when there is no such question or choice."""
        if number not in self.asked:
            raise AnswerError(
                f"There is no question {number}. Questions so far: 1 to {len(self.asked)}."
            )
        return Answer(number, self.asked[number].question, choice, by, seconds)

    @property
    def snapshot(self) -> int:
        """The number of the last refit."""
        return self.refits[-1].snapshot if self.refits else 0

    @property
    def passed(self) -> tuple[Question, ...]:
        """Questions that the person was unsure about, or skipped since the last refit."""
        unsure = [n for n in self.answers if n in self.unsure] if self.unsure else []
        late = [n for n, at in self.skipped.items() if at == self.snapshot]
        return tuple(self.asked[n].question for n in (*unsure, *late))

    def _opened(self, data: Mapping[str, Any], seq: int) -> None:
        self.header = dict(data)

    def _proposed(self, data: Mapping[str, Any], seq: int) -> None:
        for form in data["questions"]:
            number = len(self.asked) + 1
            question = question_from_json(form, self.position)
            self.asked[number] = Asked(number, question, int(data["snapshot"]))
            self.pending.append(number)

    def _told(self, data: Mapping[str, Any], seq: int) -> None:
        number = int(data["number"])
        answer = self.answer_of(number, data["choice"], data["by"], data.get("seconds"))
        self.answers[number] = answer
        (self.unsure.discard if answer.links else self.unsure.add)(number)
        self._close(number)
        self._changed(seq)

    def _volunteered(self, data: Mapping[str, Any], seq: int) -> None:
        """Fold a question and its answer, stored as one event so that no crash separates them."""
        self._proposed(data, seq)
        number = len(self.asked)
        self.volunteered[number] = seq
        self._told({**data, "number": number}, seq)

    def _undone(self, data: Mapping[str, Any], seq: int) -> None:
        number = int(data["number"])
        del self.answers[number]
        self.unsure.discard(number)
        if data.get("again", True) and number not in self.volunteered:
            self.reopened.append(number)
        self._changed(seq)

    def _skipped(self, data: Mapping[str, Any], seq: int) -> None:
        number = int(data["number"])
        self._close(number)
        self.skipped[number] = self.snapshot
        self.pending.append(number)

    def _refitted(self, data: Mapping[str, Any], seq: int) -> None:
        marks = {int(k): tuple(ids) for k, ids in data["marks"].items()}
        refit = Refitted(int(data["snapshot"]), int(data["after"]), int(data["last"]), marks)
        self.refits.append(refit)
        self.changes = sum(1 for at in self.changed_at if at > int(data["after"]))

    def _named(self, data: Mapping[str, Any], seq: int) -> None:
        self.names[int(data["group"])] = str(data["name"])

    def _close(self, number: int) -> None:
        for queue in (self.pending, self.reopened):
            if number in queue:
                queue.remove(number)
        self.skipped.pop(number, None)

    def _changed(self, seq: int) -> None:
        self.changed_at.append(seq)
        self.changes += 1


def answer_data(number: int, choice: str, by: str, seconds: float | None) -> dict[str, Any]:
    """The data of a ``told`` event."""
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise AnswerError(f"Expected the seconds of an answer to be 0 or more, got {seconds}.")
    return {"number": number, "choice": choice, "by": by, "seconds": seconds}
