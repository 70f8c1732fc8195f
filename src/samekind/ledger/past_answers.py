"""PastAnswers: the answers that were in force after an earlier event."""

from __future__ import annotations

from samekind.ledger.fold import EventLog, LedgerState
from samekind.questions import Answer


class PastAnswers:
    """The answers that were in force after an earlier event. Later events are read only once."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._state = LedgerState(log.positions)

    def answers_at(self, seq: int) -> tuple[Answer, ...]:
        """The answers in force after event `seq`."""
        if seq < self._state.seq:
            self._state = LedgerState(self._log.positions)
        for event in self._log.store.read(self._log.name, after=self._state.seq):
            if event.seq > seq:
                break
            self._state.fold(event)
        return tuple(self._state.answers.values())
