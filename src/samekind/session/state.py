"""SessionState: everything that the next question depends on, now or after a possible answer.

The Prefetcher prepares the next question for every possible answer while the person thinks.
A prefetched question is exactly the one that would have been asked anyway: it is computed from the
state that an answer would lead to, and used only if the session has reached that state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.ledger.fold import Asked, LedgerState, answer_data
from samekind.protocols import Event, QueryStrategy, View
from samekind.questions import UNSURE, Answer, Question
from samekind.session.people import Reservations, subject
from samekind.session.search import is_search, next_search

MAX_SECONDS = 0.025
"""Time that a strategy may take per choice; slower ones are not asked in advance."""
MAX_CHOICES = 8
"""Choices of one question that are prefetched; only those about many items or groups have more."""


@dataclass(frozen=True, eq=False)
class SessionState:
    """A session at one moment; its next question is a function of this alone.

    Parameters
    ----------
    ledger, constraints : the answers. clustering, previous : the groups, and those before.
    strategy, ahead : what proposes questions, and how many it is asked for at once.
    n_items : items in the collection. seed, budget : those of the session.
    reservations : what the person who is asked may be asked.
    """

    ledger: LedgerState
    constraints: Constraints
    clustering: Clustering
    previous: Clustering | None
    strategy: QueryStrategy
    ahead: int
    n_items: int
    seed: int
    budget: int | None
    reservations: Reservations

    def view(self) -> View:
        """The view that the strategy is given."""
        return View(
            clustering=self.clustering,
            previous=self.previous,
            constraints=self.constraints,
            rng=np.random.default_rng((self.seed, len(self.ledger.asked) + 1)),
            spent=len(self.ledger.answers),
            budget=self.budget,
            passed=self.passed,
            seed=self.seed,
        )

    @property
    def passed(self) -> tuple[Question, ...]:
        """Questions that are not asked now: the person passed on them, or others see them."""
        return (*self.ledger.passed, *self.reservations.taken())

    def proposals(self) -> tuple[Question, ...]:
        """The strategy's questions, without those that are implied or were passed on."""
        proposed = self.strategy.propose(self.view(), self.ahead)
        found = tuple(proposed) if isinstance(proposed, Iterable) else (proposed,)
        if not all(isinstance(question, Question) for question in found):
            raise InputError(
                f"Expected a list of questions from propose of {type(self.strategy).__name__}, got "
                f"{proposed!r:.200}. Return an empty list where nothing is worth asking."
            )
        return self.worth_asking(found)

    def search(self) -> Question | None:
        """The next question of a search that the person began, unless it is open already."""
        if any(is_search(self.ledger.asked[number].question) for number in self.ledger.pending):
            return None
        found = next_search(self.view())
        return next(iter(self.worth_asking(() if found is None else (found,))), None)

    def worth_asking(self, proposed: Sequence[Question]) -> tuple[Question, ...]:
        """Those of some questions that are neither implied, passed on, nor open for others."""
        passed = set(self.passed)
        found = tuple(q for q in proposed if not self._implied(q) and q not in passed)
        taken = {subject(q) for q in self.reservations.taken()}
        return tuple(q for q in found if subject(q) not in taken) if taken else found

    def open_question(self) -> Asked | None:
        """The question that waits for an answer; questions implied by now are left out.

        First those that this person has seen already, then those that nobody else is asked.
        """
        ledger, reservations = self.ledger, self.reservations
        late = {n for n, at in ledger.skipped.items() if at == ledger.snapshot}
        waiting = [*reversed(ledger.reopened), *ledger.pending]
        waiting = [number for number in waiting if reservations.is_free(number)]
        if reservations.person is not None:
            waiting.sort(key=lambda n: not reservations.was_mine(n))
        for number in waiting:
            asked = ledger.asked[number]
            if number not in late and self._askable(asked.question):
                return asked
        return None

    def second_opinion(self) -> Asked | None:
        """An answered question on which this person's opinion is wanted as well."""
        number = self.reservations.second_opinion(self.seed)
        asked = None if number is None else self.ledger.asked[number]
        return asked if asked and max(asked.question.items()) < self.n_items else None

    def deferred_question(self) -> Asked | None:
        """The oldest skipped question, for when there is nothing else to ask."""
        free = [n for n in self.ledger.skipped if self.reservations.is_free(n)]
        skipped = (self.ledger.asked[n] for n in free)
        return next((asked for asked in skipped if self._askable(asked.question)), None)

    def after(self, number: int, choice: str) -> tuple[SessionState, HypotheticalAnswer]:
        """The state that this answer would lead to; nothing is stored."""
        ledger = replace(
            self.ledger,
            answers=dict(self.ledger.answers),
            pending=list(self.ledger.pending),
            reopened=list(self.ledger.reopened),
            skipped=dict(self.ledger.skipped),
            changed=list(self.ledger.changed),
            unsure=set(self.ledger.unsure),
            told_at=dict(self.ledger.told_at),
            reservations=dict(self.ledger.reservations),
            names=self.ledger.names.copy(),
        )
        data = answer_data(number, choice, "me", None)
        ledger.fold(Event("told", data, seq=ledger.seq + 1))
        answer = HypotheticalAnswer(number, ledger.asked[number].question, choice)
        ledger.answers[number] = answer
        constraints = self.constraints.with_answer(answer)
        reservations = replace(self.reservations, ledger=ledger)
        after = replace(self, ledger=ledger, constraints=constraints, reservations=reservations)
        return after, answer

    def _implied(self, question: Question) -> bool:
        return question.truthful(self.constraints.same) != UNSURE

    def _askable(self, question: Question) -> bool:
        return not self._implied(question) and max(question.items()) < self.n_items


class HypotheticalAnswer(Answer):
    """A possible answer that notes whether anyone looked at what cannot be known in advance:
    who will give it, and how many seconds it will take."""

    __slots__ = ("inspected",)
    inspected: bool

    def __getattribute__(self, name: str) -> Any:
        if name in ("by", "seconds"):
            object.__setattr__(self, "inspected", True)
        return super().__getattribute__(name)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inspected", False)


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
        fewest answers after "unsure", so with this order nothing kept is discarded. Of many
        numbers the first are prefetched, which stand for the nearest groups; "none" always is.
        """
        choices = self.asked.question.choices()
        numbers = [choice for choice in choices if choice.isdecimal()]
        left_out = set(numbers[max(0, MAX_CHOICES - (len(choices) - len(numbers))) :])
        return (UNSURE, *(c for c in choices if c != UNSURE and c not in left_out))

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
