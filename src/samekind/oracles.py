"""Things that answer: a simulated person, one who errs, a recorded one, one at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind import wording
from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Answer, Question

BACK, SKIP, STOP = "\0back", "\0skip", "\0stop"
"""What an oracle may return instead of a choice: take the last answer back, not now, enough."""


@dataclass(frozen=True)
class Truth:
    """A person who knows the kinds, looks only at the items shown, and never errs.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    """

    labels: NDArray[np.intp]

    def answer(self, question: Question) -> str:
        """The true choice."""
        return question.truthful(self._same)

    def _same(self, a: int, b: int) -> bool | None:
        if self.labels[a] < 0 or self.labels[b] < 0:
            return None
        return bool(self.labels[a] == self.labels[b])


@dataclass(frozen=True)
class Noisy:
    """A person who is right, except that now and then any wrong choice is taken instead.

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
        wrong = [c for c in question.choices() if c not in (choice, UNSURE)]
        if choice != UNSURE and wrong and self._rng.random() < self.rate:
            return str(self._rng.choice(wrong))
        return choice


class Replay:
    """A recorded person: gives the recorded answer to the same question, and stops at any other."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._choices: dict[Question, str] = {a.question: a.choice for a in answers}

    def answer(self, question: Question) -> str:
        """The recorded choice."""
        return self._choices.get(question, STOP)


@dataclass(frozen=True)
class Console:
    """A person at the terminal.

    Parameters
    ----------
    show : puts a question on the screen. read : waits for one of the person's keys or words.
    refuse : says that an input is not understood.
    """

    show: Callable[[Question], None]
    read: Callable[[], str]
    refuse: Callable[[str, Question], None]

    def answer(self, question: Question) -> str:
        """Ask until the person gives a choice or a command."""
        self.show(question)
        while True:
            typed = self.read()
            meant = choice_of(typed, question)
            if meant is not None:
                return meant
            self.refuse(typed, question)


_VERBS = {BACK: "back", SKIP: "skip", STOP: "finish"}
KEYS: dict[str, tuple[str, ...]] = wording.KEYS | {v: wording.ACTS[a][0] for v, a in _VERBS.items()}
"""The keys of the page and of the terminal; groups are chosen by their number."""
_TYPED = {"\x7f": "Backspace", "\b": "Backspace", " ": " "}
"""Keys that a terminal sends as characters which stripping would lose."""


def choice_of(typed: str, question: Question) -> str | None:
    """The choice or command that a key or a typed word means; None when it means nothing."""
    word = _TYPED.get(typed) or typed.strip().lower()
    for choice, keys in wording.keys(question.choices()).items():
        if word and (word == choice or word in keys):
            return choice
    for verb, act in _VERBS.items():
        if word and (word == act or word in wording.ACTS[act][0]):
            return verb
    return None
