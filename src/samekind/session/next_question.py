"""Upcoming: which question comes next, as things stand and after each answer that may come.

While a person looks at a question, the one after it can be prepared for every choice. What is
prepared is exactly what would have been asked anyway: it is computed from the session as it would
stand after that choice, and used only if the session has come to stand so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.fold import Asked, Ledger, told_data
from samekind.protocols import Event, QueryStrategy, View
from samekind.questions import UNSURE, Answer, Question

CHEAP = 0.025
"""Seconds that the question after one choice may take; strategies that need more are not asked."""
MOST = 8
"""Choices of one question that are looked at; only questions about many items have more."""


@dataclass(frozen=True, eq=False)
class SessionState:
    """Where a session stands: everything that its next question depends on.

    Parameters
    ----------
    ledger, constraints : the answers. clustering, previous : the groups, and those before.
    strategy, ahead : who proposes questions, and how many it is asked for at once.
    n_items : items in the collection. seed, budget : those of the session.
    """

    ledger: Ledger
    constraints: Constraints
    clustering: Clustering
    previous: Clustering | None
    strategy: QueryStrategy
    ahead: int
    n_items: int
    seed: int
    budget: int | None

    def view(self) -> View:
        """What a strategy sees when it is asked for the next question."""
        return View(
            clustering=self.clustering,
            previous=self.previous,
            constraints=self.constraints,
            rng=np.random.default_rng((self.seed, len(self.ledger.asked) + 1)),
            spent=len(self.ledger.answers),
            budget=self.budget,
            passed=self.ledger.passed,
            seed=self.seed,
        )

    def proposals(self) -> tuple[Question, ...]:
        """What the strategy would ask, less what is implied or was passed on."""
        passed = set(self.ledger.passed)
        proposed = self.strategy.propose(self.view(), self.ahead)
        return tuple(q for q in proposed if not self._implied(q) and q not in passed)

    def open_question(self) -> Asked | None:
        """The question that waits for an answer; those implied by now are left out."""
        ledger = self.ledger
        late = {n for n, at in ledger.skipped.items() if at == ledger.snapshot}
        for number in (*reversed(ledger.reopened), *ledger.pending):
            asked = ledger.asked[number]
            if number not in late and self._askable(asked.question):
                return asked
        return None

    def put_off(self) -> Asked | None:
        """The oldest skipped question, for when there is nothing else."""
        waiting = (self.ledger.asked[n] for n in self.ledger.skipped)
        return next((a for a in waiting if self._askable(a.question)), None)

    def after(self, number: int, choice: str) -> tuple[SessionState, HypotheticalAnswer]:
        """Where the session would stand, had this been answered; nothing is stored."""
        ledger = replace(
            self.ledger,
            answers=dict(self.ledger.answers),
            pending=list(self.ledger.pending),
            reopened=list(self.ledger.reopened),
            skipped=dict(self.ledger.skipped),
            told_at=list(self.ledger.told_at),
            unsure=set(self.ledger.unsure),
        )
        data = told_data(number, choice, "me", None)
        ledger.fold(Event("told", data, seq=ledger.seq + 1))
        supposed = HypotheticalAnswer(number, ledger.asked[number].question, choice)
        ledger.answers[number] = supposed
        known = self.constraints.with_answer(supposed)
        return replace(self, ledger=ledger, constraints=known), supposed

    def _implied(self, question: Question) -> bool:
        return question.truthful(self.constraints.same) != UNSURE

    def _askable(self, question: Question) -> bool:
        return not self._implied(question) and max(question.items()) < self.n_items


class HypotheticalAnswer(Answer):
    """An answer that may come. It notes whether anybody looked at what nobody can know before:
    who will give it, and how many seconds that will take."""

    __slots__ = ("looked_at",)
    looked_at: bool

    def __getattribute__(self, name: str) -> Any:
        if name in ("by", "seconds"):
            object.__setattr__(self, "looked_at", True)
        return super().__getattribute__(name)

    def __post_init__(self) -> None:
        object.__setattr__(self, "looked_at", False)


@dataclass(eq=False)
class Prefetched:
    """The questions after the open one, for each answer that may come.

    Parameters
    ----------
    standing : where the session stands while the question is open. asked : that question.
    """

    standing: SessionState
    asked: Asked
    slow: bool = False
    """Whether the strategy takes too long to be asked in advance."""
    _seq: int = field(init=False)
    _found: dict[str, tuple[Question, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._seq = self.standing.ledger.seq  # the ledger itself grows

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that are looked at, "unsure" first.

        What strategies keep from question to question grows with the answers; after "unsure" there
        are fewest, so that nothing that is kept must be thrown away.
        """
        choices = self.asked.question.choices()
        return (UNSURE, *(choice for choice in choices if choice != UNSURE))[:MOST]

    @property
    def known(self) -> tuple[str, ...]:
        """The choices after which the next question is known."""
        return tuple(self._found)

    def suppose(self, choice: str) -> None:
        """Find out what would be asked after this choice, unless it depends on more than that."""
        if self.slow or choice in self._found:
            return
        after, supposed = self.standing.after(self.asked.number, choice)
        if after.open_question() is not None:  # the next one is in the queue already
            return
        began = time.perf_counter()
        questions = after.proposals()
        self.slow = time.perf_counter() - began > CHEAP
        if not supposed.looked_at:
            self._found[choice] = questions

    def holds(self, now: SessionState) -> bool:
        """Whether the session still stands as it did, with the same question open."""
        return now.ledger.seq == self._seq and self._alike(now)

    def come_true(self, now: SessionState) -> tuple[Question, ...] | None:
        """What is to be asked now; None unless one of the answers has come, and nothing else."""
        told = now.ledger.answers.get(self.asked.number)
        if told is None or now.ledger.seq != self._seq + 1 or not self._alike(now):
            return None
        return self._found.get(told.choice)

    def _alike(self, now: SessionState) -> bool:
        was = self.standing
        return (
            now.clustering is was.clustering
            and now.previous is was.previous
            and now.strategy is was.strategy
            and (now.seed, now.budget, now.ahead) == (was.seed, was.budget, was.ahead)
        )


class Prefetcher:
    """Looks ahead for one session, from the first time that it is asked to.

    Parameters
    ----------
    standing : tells where the session stands. lock : held while it must not change.
    """

    def __init__(
        self, standing: Callable[[], SessionState], lock: AbstractContextManager[Any]
    ) -> None:
        self._standing, self._lock = standing, lock
        self._foresight: Prefetched | None = None

    def questions(self) -> tuple[Question, ...]:
        """What is to be asked now: as foreseen, else as the strategy proposes."""
        now = self._standing()
        found = None if self._foresight is None else self._foresight.come_true(now)
        return now.proposals() if found is None else found

    def look(self) -> tuple[str, ...]:
        """Prepare what is asked after the open question; the choices for which that is done."""
        with self._lock:
            now, ahead = self._standing(), self._foresight
            asked = now.open_question()
            if asked is None:
                return ()
            if ahead is None or not ahead.holds(now):
                self._foresight = ahead = Prefetched(now, asked, slow=self._was_slow(now))
        for choice in ahead.choices:
            with self._lock:  # for one choice at a time: an answer may come in between
                if not ahead.holds(self._standing()):
                    break
                ahead.suppose(choice)
        return ahead.known

    def look_again(self) -> None:
        """The same after a refit, if anybody ever asked for it."""
        if self._foresight is not None:
            self.look()

    def _was_slow(self, now: SessionState) -> bool:
        before = self._foresight
        return before is not None and before.slow and before.standing.clustering is now.clustering
