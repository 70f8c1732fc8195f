"""Tally: counts over the answers in force, kept up to date from change to change.

A session states its quality and its progress after every answer, so this must not take longer the
more answers there are. Only answers that were given, changed or undone since are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from samekind.questions import Answer
from samekind.session.accuracy import placed

if TYPE_CHECKING:
    from samekind.ledger.fold import LedgerState


class Tally:
    """Counts over answers.

    Attributes
    ----------
    choices : how often each choice was made. seconds : the time that all answers took.
    placements : answers that tell how good the groups were. checks : those about random items.
    agreed : checks that were answered as the groups implied.
    """

    def __init__(self) -> None:
        self.choices: Counter[str] = Counter()
        self.seconds = 0.0
        self.placements = self.checks = self.agreed = 0
        self._version = 0
        self._counted: dict[int, Answer] = {}

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> Tally:
        """Count some answers."""
        tally = cls()
        for answer in answers:
            tally._count(answer, 1)
        return tally

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.choices.total()

    def follow(self, ledger: LedgerState) -> bool:
        """Count what has changed since the last call; returns whether anything has."""
        since = ledger.changed[self._version :]
        self._version += len(since)
        self._change(dict.fromkeys(number for _, number in since), ledger.answers)
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
        if (found := placed(answer)) is not None:
            self.placements += sign
            self.checks += sign * found.random
            self.agreed += sign * (found.random and found.agreed)
