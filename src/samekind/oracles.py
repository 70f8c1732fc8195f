"""Things that answer: simulated persons, a recorded one, and one at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind import wording
from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Answer, Question, joined, named

BACK, SKIP, STOP = "\0back", "\0skip", "\0stop"
"""What an oracle may return instead of a choice: take the last answer back, not now, enough."""


@dataclass(frozen=True)
class Truth:
    """A person who knows the kinds, looks only at the items shown, and never errs.

    A group is judged by the item that stands for it, its central exemplar, and by nothing else: not
    by the rest of the group, nor by what the other groups are. That is all that a real person has.
    So an item of a kind that no exemplar is of gets "none", however many of its kind are in one of
    the groups; and of two groups whose exemplars are both of its kind, the first is chosen.

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
class Matched:
    """The answers of the published IDC protocol, for comparison only: no person could give them.

    Clusters and kinds are matched one to one, once, by the true labels of all items. Every answer
    then says which cluster an item should be in, and who stands for a group stands for the cluster
    that it was in at the beginning, whatever kind it is itself. Report such runs apart.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    clusters : (n,) the cluster of each item before any answer.

    >>> Matched(np.array([0, 0, 0, 1, 1]), np.array([5, 5, 2, 2, 2])).cluster_of
    {0: 5, 1: 2}
    """

    labels: NDArray[np.intp]
    clusters: NDArray[np.intp]
    cluster_of: dict[int, int] = field(init=False, repr=False, compare=False)
    """For each kind the cluster that it is matched with; without one when there are too few."""

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.clusters):
            raise InputError(
                f"One cluster per label is needed: {len(self.labels)} labels and "
                f"{len(self.clusters)} clusters came."
            )
        object.__setattr__(self, "cluster_of", _matched(self.labels, self.clusters))

    def answer(self, question: Question) -> str:
        """The choice whose exemplar was in the cluster that the item's kind is matched with."""
        standing = {i for choice in question.choices() for i in question.exemplars(choice)}

        def cluster(item: int) -> int | None:
            return self.cluster_of.get(int(self.labels[item]))

        def same(a: int, b: int) -> bool | None:
            if self.labels[a] < 0 or (b not in standing and self.labels[b] < 0):
                return None
            if b in standing:
                return bool(cluster(a) == int(self.clusters[b]))
            return bool(self.labels[a] == self.labels[b])

        return question.truthful(same)


def _matched(labels: NDArray[np.intp], clusters: NDArray[np.intp]) -> dict[int, int]:
    """The one-to-one matching of kinds with clusters that most items agree with (Hungarian)."""
    from scipy.optimize import linear_sum_assignment

    known = labels >= 0
    kinds, kind = np.unique(labels[known], return_inverse=True)
    numbers, number = np.unique(clusters[known], return_inverse=True)
    shared = np.zeros((len(kinds), len(numbers)), dtype=np.intp)
    np.add.at(shared, (kind, number), 1)
    pairs = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
    return {int(kinds[row]): int(numbers[column]) for row, column in pairs}


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
    return wording.typed_numbers(typed, question.choices()) if question.many else None
