"""Noisy, Overlooking and Unsure: a person who sometimes errs, misses an item or does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Question, joined, named

OVERLOOKED_SHARE = 0.07
"""Share of the items to name that a person overlooks."""


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

    Where several items may be named at once, each item is a judgement of its own, and wrong at the
    same rate: so a rate means the same for every kind of question.

    Parameters
    ----------
    oracle : the wrapped person. rate : share of wrong answers, or of wrong judgements where an
        answer has many, from 0 to 1.
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
        if choice == UNSURE:
            return choice
        if question.many:
            numbers = [int(c) for c in question.choices() if c.isdecimal()]
            return joined({*named(choice)} ^ set(self._drawn(numbers)))
        wrong = [c for c in question.choices() if c not in (choice, UNSURE)]
        if wrong and self._rng.random() < self.rate:
            return str(self._rng.choice(wrong))
        return choice

    def _drawn(self, numbers: Sequence[int]) -> list[int]:
        chances = self._rng.random(len(numbers))
        return [k for k, chance in zip(numbers, chances, strict=True) if chance < self.rate]


@dataclass(frozen=True)
class Overlooking:
    """A person who overlooks some of the items to name in a grid, and names no wrong one.

    In visual search people miss 7 % of the targets if every second display has one, 16 % if every
    tenth has, and 30 % if one in a hundred has (Wolfe, Horowitz and Kenner, Rare items often missed
    in visual searches, Nature 435, 2005). The default is the first of these.

    Parameters
    ----------
    oracle : the wrapped person. share : probability that an item to name is overlooked, from 0 to
        1. Questions in which one choice is taken are answered as the wrapped person does.

    >>> from samekind.questions import OddOnes
    >>> from samekind.simulation.people import Truth
    >>> person = Overlooking(Truth(np.array([0, 0, 1, 1])), share=1.0)
    >>> person.answer(OddOnes((0,), (1, 2, 3)))
    'none'
    """

    oracle: Oracle
    share: float = OVERLOOKED_SHARE
    seed: int = 0
    _rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InputError(f"Expected a share to overlook from 0 to 1, got {self.share:g}.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20050526)))

    def answer(self, question: Question) -> str:
        """The oracle's choice without the items that were overlooked."""
        choice = self.oracle.answer(question)
        numbers = named(choice) if question.many else ()
        if not numbers:
            return choice
        chances = self._rng.random(len(numbers))
        return joined(k for k, chance in zip(numbers, chances, strict=True) if chance >= self.share)
