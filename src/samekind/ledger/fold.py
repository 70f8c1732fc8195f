"""The fold of a ledger: the state of a session after its events."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from samekind.characters import whole_characters
from samekind.errors import AnswerError, CorruptedLedger
from samekind.ledger.headers import checked_header
from samekind.ledger.names import Name, Names
from samekind.ledger.places import following_places
from samekind.ledger.records import Refitted, Reservation
from samekind.protocols import Event, Store
from samekind.questions import Answer, Link, Question, question_from_json

_OF_QUESTIONS = ("proposed", "reserved", "told", "volunteered", "undone", "restored", "skipped")
KINDS = frozenset((*_OF_QUESTIONS, "opened", "refitted", "named", "listed", "lost"))
"""Every kind of event; what else a stranger's file may name is not called."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: its number, and the snapshot that it was made from."""

    number: int
    question: Question
    snapshot: int


def last_header(store: Store, session: str) -> dict[str, Any]:
    """The header that a session was last opened with; empty for a new session."""
    headers = [event for event in store.read(session) if event.kind == "opened"]
    if not headers:
        return {}
    try:
        return checked_header(headers[-1].data)
    except (TypeError, ValueError) as problem:
        raise _unreadable(headers[-1], problem) from problem


def _unreadable(event: Event, problem: Exception) -> CorruptedLedger:
    return CorruptedLedger(
        f"Event {event.seq} of the ledger ({event.kind!r:.40}) cannot be read: {problem!r:.200}. "
        "It was written by a newer samekind, or the file is damaged. Nothing was changed. What "
        "can be read is saved to a new file by: samekind repair LEDGER"
    )


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
    n_asked: int = 0
    """The number of the last question; more than `asked` holds where a repair lost some."""
    answers: dict[int, Answer] = field(default_factory=dict)
    """Answers in force by question number, in the order in which they were given."""
    pending: list[int] = field(default_factory=list)
    """Questions not answered yet, in the order of asking."""
    reopened: list[int] = field(default_factory=list)
    """Questions whose answer was undone; the last one is asked next."""
    skipped: dict[int, int] = field(default_factory=dict)
    """Deferred questions, with the snapshot at which each was deferred."""
    refits: list[Refitted] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    """The places of the groups, by number; empty for guesses."""
    used_places: frozenset[int] = frozenset()
    """All places that any group ever had."""
    names: Names = field(default_factory=Names)
    changes: int = 0
    """Answers given, changed or undone since the last refit began."""
    changed: list[tuple[int, int]] = field(default_factory=list)
    """All such changes, in order: the number of the event, and of the question."""
    unsure: set[int] = field(default_factory=set)
    """Answered questions whose answer says nothing; `passed` needs them for every question."""
    aside: dict[int, dict[int, frozenset[Link]]] = field(default_factory=dict)
    """By change by hand, the answers that it contradicts, with those of their links."""
    volunteered: dict[int, int] = field(default_factory=dict)
    """Questions that were answered without being asked, with the number of the event."""
    told_at: dict[int, int] = field(default_factory=dict)
    """The event in which each question in `answers` was answered first, ascending."""
    reservations: dict[int, Reservation] = field(default_factory=dict)
    """For whom each open question was asked last; also second opinions on answered ones."""
    second: dict[tuple[int, str], Answer] = field(default_factory=dict)
    """Second opinions by question number and person; the groups are not learnt from them."""
    second_at: dict[tuple[int, str], int] = field(default_factory=dict)
    """The event of each second opinion."""
    grid_at: int = 0
    """The last event with an answer about many items at once."""
    begun: float = 0.0
    """Time of the first event, by which a ledger is recognised."""
    at: float = 0.0
    """Time of the last event."""

    def fold(self, event: Event) -> None:
        """Take in one event."""
        if not self.seq:
            self.begun = event.at
        self.at = event.at
        try:
            if event.kind not in KINDS:
                raise ValueError("an event of this kind is not known")
            getattr(self, f"_{event.kind}")(event.data, event.seq)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as problem:
            raise _unreadable(event, problem) from problem
        self.seq = event.seq

    def answer_of(self, number: int, choice: str, by: str, seconds: float | None) -> Answer:
        """An answer to question `number`; AnswerError when there is no such question or choice."""
        if number not in self.asked:
            raise AnswerError(
                f"There is no question {number}. Questions so far: 1 to {self.n_asked}."
            )
        return Answer(number, self.asked[number].question, choice, by, seconds)

    def set_aside(self, number: int) -> dict[int, frozenset[Link]]:
        """By change by hand in force, the links of an answer that it has set aside."""
        acts = ((act, found[number]) for act, found in self.aside.items() if number in found)
        return {
            act: links for act, links in acts if act in self.answers and self.answers[act].links
        }

    def history(self, by: str, *, own: bool) -> tuple[Answer, ...]:
        """The answers as a person sees them, latest last; with `own` only this person's."""
        first = ((self.told_at[n], a) for n, a in self.answers.items() if not own or a.by == by)
        second = ((at, self.second[key]) for key, at in self.second_at.items() if key[1] == by)
        return tuple(a for _, a in sorted((*first, *second), key=lambda pair: pair[0]))

    @property
    def snapshot(self) -> int:
        """The number of the last refit."""
        return self.refits[-1].snapshot if self.refits else 0

    @property
    def has_new_grid(self) -> bool:
        """Whether the last refit did not know an answer about many items at once."""
        return bool(self.refits) and self.grid_at > self.refits[-1].after

    @property
    def passed(self) -> tuple[Question, ...]:
        """Questions that the person was unsure about, or skipped since the last refit."""
        unsure = [n for n in self.answers if n in self.unsure] if self.unsure else []
        late = [n for n, at in self.skipped.items() if at == self.snapshot]
        return tuple(self.asked[n].question for n in (*unsure, *late))

    def _opened(self, data: Mapping[str, Any], seq: int) -> None:
        self.header = checked_header(data)

    def _proposed(self, data: Mapping[str, Any], seq: int) -> None:
        for form in data["questions"]:
            number = self.n_asked = self.n_asked + 1
            question = question_from_json(form, self.position)
            self.asked[number] = Asked(number, question, int(data["snapshot"]))
            self.pending.insert(0 if data.get("first") else len(self.pending), number)
            self.reservations[number] = Reservation(data.get("for"), self.at)

    def _reserved(self, data: Mapping[str, Any], seq: int) -> None:
        self.reservations[int(data["number"])] = Reservation(data["for"], self.at)

    def _told(self, data: Mapping[str, Any], seq: int) -> None:
        number = int(data["number"])
        answer = self.answer_of(number, data["choice"], data["by"], data.get("seconds"))
        if data.get("second"):
            self.second[number, answer.by] = answer
            self.second_at.setdefault((number, answer.by), seq)
            self.reservations.pop(number, None)
            return
        self.answers[number] = self._with_aside(answer)
        self.told_at.setdefault(number, seq)
        item = answer.question.placed_item(answer.choice)
        self.names.told(number, item, whole_characters(data.get("name", "")), seq)
        (self.unsure.discard if answer.links else self.unsure.add)(number)
        self._set_aside_by(number)
        if answer.question.many and answer.links:
            self.grid_at = seq
        self._close(number)
        self._change(seq, number)

    def _volunteered(self, data: Mapping[str, Any], seq: int) -> None:
        """Fold a question and its answer, stored as one event so that no crash separates them."""
        self._proposed(data, seq)
        number = self.n_asked
        self.volunteered[number] = seq
        if data.get("aside"):
            self.aside[number] = {
                int(other): frozenset(
                    Link(self.position(a), self.position(b), bool(same)) for a, b, same in links
                )
                for other, links in data["aside"].items()
            }
        self._told({**data, "number": number}, seq)

    def _undone(self, data: Mapping[str, Any], seq: int) -> None:
        number, by = int(data["number"]), data.get("for")
        if by is not None:  # the person sees the question again
            self.reservations[number] = Reservation(by, self.at)
        if data.get("second"):
            del self.second[number, str(by)], self.second_at[number, str(by)]
            return
        del self.answers[number], self.told_at[number]
        self._set_aside_by(number)
        self.unsure.discard(number)
        self.names.by_answer.pop(number, None)
        if data.get("again", True) and number not in self.volunteered:
            self.reopened.append(number)
        self._change(seq, number)

    def _restored(self, data: Mapping[str, Any], seq: int) -> None:
        """Fold an answer that counts again, against the changes by hand that set it aside."""
        number = int(data["number"])
        for found in self.aside.values():
            found.pop(number, None)
        self.answers[number] = replace(self.answers[number], aside=frozenset())
        self._change(seq, number)

    def _skipped(self, data: Mapping[str, Any], seq: int) -> None:
        number = int(data["number"])
        self._close(number)
        self.skipped[number] = self.snapshot
        self.pending.append(number)

    def _refitted(self, data: Mapping[str, Any], seq: int) -> None:
        marks = {int(k): tuple(ids) for k, ids in data["marks"].items()}
        after = int(data["after"])
        known = len(self.told_at) - _count_after(after, reversed(self.told_at.values()))
        numbers = int(data["snapshot"]), after, int(data["last"])
        self._place(marks, data.get("places"))
        self.refits.append(Refitted(*numbers, marks, known, data.get("moved"), self.places))
        self.changes = _count_after(after, (at for at, _ in reversed(self.changed)))

    def _place(self, numbers: Iterable[int], stored: Mapping[str, int] | None) -> None:
        """Give the groups of a refit their places; older ledgers have none."""
        if stored is None:
            self.places = following_places(self.places, numbers)
            return
        self.places = {int(number): int(place) for number, place in stored.items()}
        self.used_places = self.used_places.union(self.places.values())

    def _named(self, data: Mapping[str, Any], seq: int) -> None:
        name = Name(seq, whole_characters(str(data["name"])))
        if "item" in data:
            self.names.by_item[self.position(data["item"])] = name
        else:
            self.names.by_group[int(data["group"])] = name

    def _set_aside_by(self, act: int) -> None:
        """Set aside what a change by hand contradicts, or let it count again."""
        for number in self.aside.get(act, ()):
            if number in self.answers:
                self.answers[number] = self._with_aside(self.answers[number])

    def _with_aside(self, answer: Answer) -> Answer:
        if not self.aside:
            return answer
        links = frozenset[Link]().union(*self.set_aside(answer.number).values())
        return answer if links == answer.aside else replace(answer, aside=links)

    def _listed(self, data: Mapping[str, Any], seq: int) -> None:
        """How the orientation is listed changes nothing in it."""

    def _lost(self, data: Mapping[str, Any], seq: int) -> None:
        """An event that `samekind repair` could not save: later questions keep their numbers."""
        self.n_asked += int(data["questions"])

    def _close(self, number: int) -> None:
        for queue in (self.pending, self.reopened):
            if number in queue:
                queue.remove(number)
        self.skipped.pop(number, None)
        self.reservations.pop(number, None)

    def _change(self, seq: int, number: int) -> None:
        self.changed.append((seq, number))
        self.changes += 1


def _count_after(seq: int, latest_first: Iterable[int]) -> int:
    """How many of some events, the latest first, came after event `seq`."""
    return sum(1 for _ in takewhile(lambda at: at > seq, latest_first))


def answer_data(number: int, choice: str, by: str, seconds: float | None) -> dict[str, Any]:
    """The data of a ``told`` event."""
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise AnswerError(f"Expected the seconds of an answer to be 0 or more, got {seconds}.")
    return {"number": number, "choice": choice, "by": by, "seconds": seconds}
