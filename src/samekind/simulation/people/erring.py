"""Noisy and Unsure: around any person, one who now and then errs or does not know."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Question, joined, named


@dataclass(frozen=True)
class Unsure:
    """A person who answers, except that now and then "unsure" is all they say.

    Around :class:`Noisy`, or inside it: an "unsure" is never turned into a wrong answer.

    Parameters
    ----------
    oracle : who would have been asked. rate : share of questions left open, from 0 to 1.
    """

    oracle: Oracle
    rate: float
    seed: int = 0
    _rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InputError(f"The share of unsure must be from 0 to 1; {self.rate} came.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20241215)))

    def answer(self, question: Question) -> str:
        """The oracle's choice, or with the given rate "unsure"."""
        choice = self.oracle.answer(question)
        return UNSURE if self._rng.random() < self.rate else choice


@dataclass(frozen=True)
class Noisy:
    """A person who is right, except that now and then any wrong choice is taken instead.

    Where several may be named at once, a wrong answer is one slip: one item named too many or
    one overlooked.

    Parameters
    ----------
    oracle : who would have been asked. rate : share of answers that go wrong, from 0 to 1.
    """

    oracle: Oracle
    rate: float
    seed: int = 0
    _rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InputError(f"The noise must be a share from 0 to 1; {self.rate} came.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20180601)))

    def answer(self, question: Question) -> str:
        """The true choice, or with the given rate one of the others (never "unsure")."""
        choice = self.oracle.answer(question)
        wrong = _slips(question, choice)
        if choice != UNSURE and wrong and self._rng.random() < self.rate:
            return str(self._rng.choice(wrong))
        return choice


def _slips(question: Question, choice: str) -> list[str]:
    """The choices that a person may take by mistake instead of this one."""
    if not question.many:
        return [c for c in question.choices() if c not in (choice, UNSURE)]
    numbers = (int(c) for c in question.choices() if c.isdecimal())
    return [joined({*named(choice)} ^ {number}) for number in numbers]
