"""Asking: the next question of a person, reserved in the ledger so that nobody else gets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samekind.errors import StaleWrite
from samekind.ledger.event_log import EventLog
from samekind.ledger.fold import Asked
from samekind.questions import Question
from samekind.session.expectations import with_expectations
from samekind.session.state import Prefetcher, SessionState

FindState = Callable[[str | None], SessionState]
"""The state of the session as a person sees it."""


class Asking:
    """Ask questions from a ledger that others may write to as well.

    Parameters
    ----------
    log : the ledger. state : the state of the session for a person.
    prefetcher : has prepared questions for nobody in particular.
    """

    def __init__(self, log: EventLog, state: FindState, prefetcher: Prefetcher) -> None:
        self._log, self._state, self._prefetcher = log, state, prefetcher

    def ask(self, by: str | None) -> Asked | None:
        """The question that is open for a person; a new one is proposed if there is none."""
        proposed = False
        if (search := self._state(by).search()) is not None:
            return self.put_first(search, by)
        while True:
            now = self._state(by)
            asked = now.open_question() or now.second_opinion()
            if asked is None and not proposed:
                stored = self._propose(now, by)
                if stored is not None:
                    proposed = stored
                    continue
            asked = asked or now.deferred_question()
            if asked is None or now.reservations.is_mine(asked.number):
                return asked
            after = self._log.ledger.seq
            try:
                self._log.append("reserved", {"number": asked.number, "for": by}, after=after)
            except StaleWrite:
                self._log.fold_newer(after)

    def put_first(self, question: Question, by: str | None) -> Asked:
        """Store a question that a person wants to be asked next."""
        data = self._log.question_data([question], self._state(by).clustering)
        self._log.append("proposed", {**data, "first": True} | ({"for": by} if by else {}))
        return self._log.ledger.asked[self._log.ledger.n_asked]

    def _propose(self, now: SessionState, by: str | None) -> bool | None:
        """Store new questions; False if others were quicker, None if nothing is worth asking."""
        questions = self._prefetcher.questions() if by is None else now.proposals()
        seq = self._log.ledger.seq

        def decide() -> tuple[str, dict[str, Any]] | None:
            fresh = questions
            if self._log.ledger.seq != seq:  # others have written since
                late = self._state(by)
                fresh = () if late.open_question() else late.worth_asking(questions)
            if not fresh:
                return None
            for question in fresh:  # a strategy may be anybody's
                self._log.readable(question)
            expecting = with_expectations(fresh, now.clustering)
            data = self._log.question_data(expecting, now.clustering)
            return "proposed", data if by is None else {**data, "for": by}

        return self._log.commit(decide) is not None if questions else None
