"""SessionState: everything that the next question depends on, now or after a possible answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.fold import Asked, LedgerState, answer_data
from samekind.protocols import Event, QueryStrategy, View
from samekind.questions import UNSURE, Answer, Question


@dataclass(frozen=True, eq=False)
class SessionState:
    """A session at one moment; its next question is a function of this alone.

    Parameters
    ----------
    ledger, constraints : the answers. clustering, previous : the groups, and those before.
    strategy, ahead : what proposes questions, and how many it is asked for at once.
    n_items : items in the collection. seed, budget : those of the session.
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

    def view(self) -> View:
        """The view that the strategy is given."""
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
        """The strategy's questions, without those that are implied or were passed on."""
        passed = set(self.ledger.passed)
        proposed = self.strategy.propose(self.view(), self.ahead)
        return tuple(q for q in proposed if not self._implied(q) and q not in passed)

    def open_question(self) -> Asked | None:
        """The question that waits for an answer; questions implied by now are left out."""
        ledger = self.ledger
        late = {n for n, at in ledger.skipped.items() if at == ledger.snapshot}
        for number in (*reversed(ledger.reopened), *ledger.pending):
            asked = ledger.asked[number]
            if number not in late and self._askable(asked.question):
                return asked
        return None

    def deferred_question(self) -> Asked | None:
        """The oldest skipped question, for when there is nothing else to ask."""
        skipped = (self.ledger.asked[n] for n in self.ledger.skipped)
        return next((asked for asked in skipped if self._askable(asked.question)), None)

    def after(self, number: int, choice: str) -> tuple[SessionState, HypotheticalAnswer]:
        """The state that this answer would lead to; nothing is stored."""
        ledger = replace(
            self.ledger,
            answers=dict(self.ledger.answers),
            pending=list(self.ledger.pending),
            reopened=list(self.ledger.reopened),
            skipped=dict(self.ledger.skipped),
            changed_at=list(self.ledger.changed_at),
            unsure=set(self.ledger.unsure),
        )
        data = answer_data(number, choice, "me", None)
        ledger.fold(Event("told", data, seq=ledger.seq + 1))
        answer = HypotheticalAnswer(number, ledger.asked[number].question, choice)
        ledger.answers[number] = answer
        constraints = self.constraints.with_answer(answer)
        return replace(self, ledger=ledger, constraints=constraints), answer

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
