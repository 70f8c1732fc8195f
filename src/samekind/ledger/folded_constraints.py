"""FoldedConstraints: the constraints that follow from a ledger, and those before its last answers.

Folding a hundred thousand answers takes seconds. One more answer, taking back the last one, and
the answers that the last refit knew should not.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import is_
from typing import TYPE_CHECKING

from samekind.constraints import Constraints
from samekind.protocols import Event
from samekind.questions import Answer

if TYPE_CHECKING:
    from samekind.ledger.fold import LedgerState
    from samekind.ledger.positions import Positions

ANSWER_KINDS = ("told", "volunteered")
"""Kinds of event that hold an answer."""
CHANGING_KINDS = (*ANSWER_KINDS, "undone", "restored")
"""Kinds of event that change which links hold."""
MAX_KEPT = 20
"""Earlier constraints that are kept; they share nearly everything."""
N_UNFOLDED = 8
"""Last answers that are folded one by one when a ledger is opened, so that each can be undone."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Within this context no cycles are looked for: of a million new objects all will stay.

    Looking at all of them again and again takes as long as folding a large ledger itself.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class FoldedConstraints:
    """The constraints over the current positions, kept up with the events.

    Parameters
    ----------
    ledger : the state after the events. positions : of the items.
    """

    def __init__(self, ledger: LedgerState, positions: Positions) -> None:
        self._ledger, self._positions = ledger, positions
        self.now = Constraints(len(positions.collection))
        self._earlier: deque[Constraints] = deque(maxlen=MAX_KEPT)

    def of(self, answers: Sequence[Answer]) -> Constraints:
        """The constraints of some answers, without folding if they are the first ones in force."""
        n_gone = len(self._positions.gone)
        for known in (self.now, *self._earlier):
            if known.n_answers == len(answers) and known.n_gone == n_gone:
                if all(map(is_, known.answers, answers)):
                    return known
        n_items = len(self._positions.collection)
        return Constraints.from_answers(n_items, answers, n_gone=n_gone)

    def fold_all(self) -> None:
        """Fold all answers in force."""
        answers = tuple(self._ledger.answers.values())
        self._earlier.clear()
        first = max(0, len(answers) - N_UNFOLDED)
        self.now = self.of(answers[:first])
        for answer in answers[first:]:
            self._add(answer)

    def fold(self, event: Event) -> None:
        """Take in what an event changed; the ledger has folded it already."""
        answers = self._ledger.answers
        if event.data.get("second"):
            return
        if self.now.n_gone != len(self._positions.gone):
            self.fold_all()
        elif self._adds_one(event):
            self._add(next(reversed(answers.values())))
        elif self._takes_back_the_last(event):
            self.now = self._earlier.pop()
        elif event.kind in CHANGING_KINDS:
            self.fold_all()

    def _add(self, answer: Answer) -> None:
        self._earlier.append(self.now)
        self.now = self.now.with_answer(answer)

    def _adds_one(self, event: Event) -> bool:
        """Whether an event adds an answer and changes no other."""
        adds = event.kind in ANSWER_KINDS and not event.data.get("aside")
        return adds and len(self._ledger.answers) == self.now.n_answers + 1

    def _takes_back_the_last(self, event: Event) -> bool:
        """Whether an event removes the last answer and changes no other."""
        if event.kind != "undone" or not self._earlier:
            return False
        number, before = int(event.data["number"]), self._earlier[-1]
        one_less = len(self._ledger.answers) == self.now.n_answers - 1 == before.n_answers
        is_last = one_less and self.now.last_answer.number == number
        return is_last and before.n_gone == self.now.n_gone and number not in self._ledger.aside
