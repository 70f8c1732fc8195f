"""Tally: counts over the answers in force, kept up to date from change to change.

A session states its quality and its progress after every answer, so this must not take longer the
more answers there are. Only answers that were given, changed or undone since are looked at.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from samekind.constraints import Constraints
from samekind.questions import UNSURE, Answer
from samekind.session.accuracy import placed

if TYPE_CHECKING:
    from samekind.ledger.fold import LedgerState

MAX_KEPT = 20
"""Earlier constraints that are kept, so that the last answers can be taken back one by one."""


class FixedItems:
    """The items whose group the answers fix: those of the kinds that are all told apart.

    A pair that is the same kind, or an item that differs from a few groups, may still belong to
    several groups. Folding all answers takes a while, so the next answer is added to those before.

    Parameters
    ----------
    n_items : in the pile; 0: not known.
    """

    def __init__(self, n_items: int = 0) -> None:
        self.n_items = n_items
        self._known = Constraints(n_items)
        self._earlier: deque[Constraints] = deque(maxlen=MAX_KEPT)

    def count(self) -> int:
        """The number of these items."""
        return sum(map(len, self._known.kinds))

    def count_with(self, others: Collection[int]) -> int:
        """The number of these and some other items together."""
        kinds = self._known.kinds
        if not others or not kinds:
            return self.count() + len(others)
        return self.count() + int((~np.isin([*others], np.concatenate(kinds))).sum())

    def fold(self, answers: Iterable[Answer]) -> None:
        """Take these answers for all that are in force."""
        everything = tuple(answers)
        self._earlier.clear()
        self._known = Constraints.from_answers(
            self.n_items, everything, n_gone=self._beyond(everything)
        )

    def change(self, numbers: Sequence[int], ledger: LedgerState) -> None:
        """Take in the answers to these questions, which were given, changed or undone."""
        n_items, answers = int(ledger.header.get("n_items", 0)), ledger.answers
        added = [*islice(reversed(answers.values()), len(numbers))][::-1]
        simple = n_items == self.n_items and ledger.aside.keys().isdisjoint(numbers)
        if simple and self._are_new(numbers, added, len(answers)):
            for answer in added:
                self._earlier.append(self._known)
                self._known = self._known.with_answer(answer)
        elif simple and self._is_last(numbers, len(answers)):
            self._known = self._earlier.pop()
        else:
            self.n_items = n_items
            self.fold(answers.values())

    def _are_new(self, numbers: Sequence[int], added: Sequence[Answer], n_answers: int) -> bool:
        """Whether these answers came after all that are known, and nothing else has changed."""
        in_order = {answer.number for answer in added} == set(numbers)
        grown = n_answers == self._known.n_answers + len(numbers)
        return in_order and grown and self._beyond(added) <= self._known.n_gone

    def _is_last(self, numbers: Sequence[int], n_answers: int) -> bool:
        """Whether the last answer was taken back, and nothing else has changed."""
        known, one_less = self._known, n_answers == self._known.n_answers - 1
        return bool(one_less and self._earlier and [known.last_answer.number] == [*numbers])

    def _beyond(self, answers: Iterable[Answer]) -> int:
        """How many positions lie behind the items of the pile: of items that are gone."""
        named = (max(link.a, link.b) for answer in answers for link in answer.links)
        return max(0, max(named, default=-1) + 1 - self.n_items)


class Tally:
    """Counts over answers.

    Attributes
    ----------
    choices : how often each choice was made. seconds : the time that all answers took.
    placements : answers that tell how good the groups were. checks : those about random items.
    agreed : checks that were answered as the groups implied.
    fixed : the items whose group the answers fix.
    unsure_of : items by themselves that the person was not sure about, and how often.
    """

    def __init__(self, n_items: int = 0) -> None:
        self.choices: Counter[str] = Counter()
        self.seconds = 0.0
        self.placements = self.checks = self.agreed = 0
        self.fixed = FixedItems(n_items)
        self.unsure_of: Counter[int] = Counter()
        self._version = 0
        self._counted: dict[int, Answer] = {}

    @classmethod
    def of(cls, answers: Sequence[Answer], n_items: int = 0) -> Tally:
        """Count some answers about a pile of so many items; 0: not known."""
        tally = cls(n_items)
        for answer in answers:
            tally._count(answer, 1)
        tally.fixed.fold(answers)
        return tally

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.choices.total()

    @property
    def left(self) -> int | None:
        """The number of items that could still be asked about; None: not known."""
        n_items = self.fixed.n_items
        return n_items - self.fixed.count_with(self.unsure_of) if n_items else None

    def follow(self, ledger: LedgerState) -> bool:
        """Count what has changed since the last call; returns whether anything has."""
        since = ledger.changed[self._version :]
        self._version += len(since)
        numbers = tuple(dict.fromkeys(number for _, number in since))
        self._change(numbers, ledger.answers)
        if numbers:
            self.fixed.change(numbers, ledger)
        return bool(since)

    def _change(self, numbers: Iterable[int], answers: Mapping[int, Answer]) -> None:
        replaced = False
        for number in numbers:
            if (before := self._counted.pop(number, None)) is not None:
                self._count(before, -1)
                replaced = True
            if (answer := answers.get(number)) is not None:
                self._count(answer, 1)
                self._counted[number] = answer
        if replaced:  # without the rounding of a subtraction
            self.seconds = sum(answer.seconds or 0.0 for answer in answers.values())

    def _count(self, answer: Answer, sign: int) -> None:
        self.choices[answer.choice] += sign
        if not self.choices[answer.choice]:
            del self.choices[answer.choice]
        self.seconds += sign * (answer.seconds or 0.0)
        if answer.choice == UNSURE and len(subjects := answer.question.subjects()) == 1:
            self.unsure_of[subjects[0]] += sign
            if not self.unsure_of[subjects[0]]:
                del self.unsure_of[subjects[0]]
        if (found := placed(answer)) is not None:
            self.placements += sign
            self.checks += sign * found.random
            self.agreed += sign * (found.random and found.agreed)
