"""PastAnswers: the answers that were in force after an earlier event."""

from __future__ import annotations

from itertools import takewhile

from samekind.ledger.event_log import EventLog
from samekind.ledger.fold import LedgerState
from samekind.questions import Answer


class PastAnswers:
    """The answers that were in force after an earlier event. Later events are read only once."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._state = LedgerState(log.positions)

    def answers_at(self, seq: int) -> tuple[Answer, ...]:
        """The answers in force after event `seq`."""
        found = self._without_later(seq)
        if found is not None:
            return found
        if seq < self._state.seq:
            self._state = LedgerState(self._log.positions)
        for event in self._log.store.read(self._log.name, after=self._state.seq):
            if event.seq > seq:
                break
            self._state.fold(event)
        return tuple(self._state.answers.values())

    def _without_later(self, seq: int) -> tuple[Answer, ...] | None:
        """The answers of now without later ones; None if an earlier one has changed since."""
        now = self._log.ledger
        if now.seq < seq:
            return None
        later = [number for _, number in takewhile(lambda c: c[0] > seq, reversed(now.changed))]
        if not later:
            return tuple(now.answers.values())
        new = set(later)
        earlier = now.changed[: -len(later)]
        if not new.isdisjoint(now.aside) or any(number in new for _, number in earlier):
            return None
        return tuple(answer for number, answer in now.answers.items() if number not in new)
