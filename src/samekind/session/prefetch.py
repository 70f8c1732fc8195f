"""Prefetcher: prepare the next question for every possible answer while the person thinks.

A prefetched question is exactly the one that would have been asked anyway: it is computed from the
state that an answer would lead to, and used only if the session has reached that state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from samekind.ledger.fold import Asked
from samekind.questions import UNSURE, Question
from samekind.session.state import SessionState

MAX_SECONDS = 0.025
"""Time that a strategy may take per choice; slower ones are not asked in advance."""
MAX_CHOICES = 8
"""Choices of one question that are prefetched; only questions about many items have more."""


@dataclass(eq=False)
class Prefetched:
    """The questions after the open one, by choice.

    Parameters
    ----------
    state : the session while the question is open. asked : that question.
    """

    state: SessionState
    asked: Asked
    slow: bool = False
    """Whether the strategy takes too long to be asked in advance."""
    _seq: int = field(init=False)
    _questions: dict[str, tuple[Question, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._seq = self.state.ledger.seq  # the ledger itself grows

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices to prefetch, "unsure" first.

        Strategies keep results from question to question that grow with the answers. There are
        fewest answers after "unsure", so with this order nothing kept is discarded.
        """
        choices = self.asked.question.choices()
        return (UNSURE, *(choice for choice in choices if choice != UNSURE))[:MAX_CHOICES]

    @property
    def known(self) -> tuple[str, ...]:
        """The choices after which the next question is known."""
        return tuple(self._questions)

    def compute(self, choice: str) -> None:
        """Find the questions after this choice, unless they depend on more than the choice."""
        if self.slow or choice in self._questions:
            return
        after, answer = self.state.after(self.asked.number, choice)
        if after.open_question() is not None:  # the next one is in the queue already
            return
        began = time.perf_counter()
        questions = after.proposals()
        self.slow = time.perf_counter() - began > MAX_SECONDS
        if not answer.inspected:
            self._questions[choice] = questions

    def is_current(self, now: SessionState) -> bool:
        """Whether the session is still in the same state, with the same question open."""
        return now.ledger.seq == self._seq and self._same_groups(now)

    def questions(self, now: SessionState) -> tuple[Question, ...] | None:
        """The questions to ask now; None unless exactly one of the answers has been given."""
        answer = now.ledger.answers.get(self.asked.number)
        if answer is None or now.ledger.seq != self._seq + 1 or not self._same_groups(now):
            return None
        return self._questions.get(answer.choice)

    def _same_groups(self, now: SessionState) -> bool:
        then = self.state
        return (
            now.clustering is then.clustering
            and now.previous is then.previous
            and now.strategy is then.strategy
            and (now.seed, now.budget, now.ahead) == (then.seed, then.budget, then.ahead)
        )


class Prefetcher:
    """Prefetch for one session, from the first call of :meth:`prefetch` on.

    Parameters
    ----------
    state : gives the state of the session. lock : held while that must not change.
    """

    def __init__(
        self, state: Callable[[], SessionState], lock: AbstractContextManager[Any]
    ) -> None:
        self._state, self._lock = state, lock
        self._prefetched: Prefetched | None = None

    def questions(self) -> tuple[Question, ...]:
        """The questions to ask now: prefetched, or else proposed by the strategy."""
        now = self._state()
        found = None if self._prefetched is None else self._prefetched.questions(now)
        return now.proposals() if found is None else found

    def prefetch(self) -> tuple[str, ...]:
        """Prepare the questions after the open one; returns the choices that are prepared."""
        with self._lock:
            now, current = self._state(), self._prefetched
            asked = now.open_question()
            if asked is None:
                return ()
            if current is None or not current.is_current(now):
                current = Prefetched(now, asked, slow=self._was_slow(now))
                self._prefetched = current
        for choice in current.choices:
            with self._lock:  # for one choice at a time: an answer may come in between
                if not current.is_current(self._state()):
                    break
                current.compute(choice)
        return current.known

    def prefetch_again(self) -> None:
        """Prefetch after a refit, if it was ever asked for."""
        if self._prefetched is not None:
            self.prefetch()

    def _was_slow(self, now: SessionState) -> bool:
        last = self._prefetched
        return last is not None and last.slow and last.state.clustering is now.clustering
