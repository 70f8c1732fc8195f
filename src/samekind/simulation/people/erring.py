"""Noisy and Unsure: wrappers around a person who sometimes errs or does not know."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Question, joined, named


@dataclass(frozen=True)
class Unsure:
    """A person who sometimes answers "unsure".

    It may wrap :class:`Noisy` or be wrapped by it: "unsure" never becomes a wrong answer.

    Parameters
    ----------
    oracle : the wrapped person. rate : share of "unsure", from 0 to 1.
    """

    oracle: Oracle
    rate: float
    seed: int = 0
    _rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InputError(f"Expected a share of unsure from 0 to 1, got {self.rate:g}.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20241215)))

    def answer(self, question: Question) -> str:
        """The oracle's choice, or with the given rate "unsure"."""
        choice = self.oracle.answer(question)
        return UNSURE if self._rng.random() < self.rate else choice


@dataclass(frozen=True)
class Noisy:
    """A person who sometimes takes a wrong choice, each with the same probability.

    Where several items may be named at once, a wrong answer has one item too many or too few.

    Parameters
    ----------
    oracle : the wrapped person. rate : share of wrong answers, from 0 to 1.
    """

    oracle: Oracle
    rate: float
    seed: int = 0
    _rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InputError(f"Expected a noise from 0 to 1, got {self.rate:g}.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20180601)))

    def answer(self, question: Question) -> str:
        """The true choice, or with the given rate one of the others (never "unsure")."""
        choice = self.oracle.answer(question)
        wrong = _slips(question, choice)
        if choice != UNSURE and wrong and self._rng.random() < self.rate:
            return str(self._rng.choice(wrong))
        return choice


def _slips(question: Question, choice: str) -> list[str]:
    """The wrong choices that a person may take instead of this one."""
    if not question.many:
        return [c for c in question.choices() if c not in (choice, UNSURE)]
    numbers = (int(c) for c in question.choices() if c.isdecimal())
    return [joined({*named(choice)} ^ {number}) for number in numbers]
