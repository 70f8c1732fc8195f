"""Drifting and Two: more than one orientation in one session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.protocols import Oracle
from samekind.questions import Question
from samekind.simulation.people.knowing import Truth

Ints = NDArray[np.intp]

CHANGES = ("merge", "split")
"""How a person may change their mind when no second orientation is given."""


@dataclass(frozen=True, eq=False)
class Drifting:
    """A person who changes their mind: from one orientation gradually to another.

    Each answer is true for one of the two orientations. The first `start` answers follow the first;
    then the probability that an answer follows the second grows linearly, to 1 after `over` more.
    Score such a person against the second orientation, which they have in mind at the end.

    Parameters
    ----------
    before, labels : (n,) kinds under the first and under the last orientation; negative: not known.
    start : answers before the change begins. over : answers that it takes; 0 changes at once.
    """

    before: Ints
    labels: Ints
    start: int = 20
    over: int = 20
    seed: int = 0
    _given: list[int] = field(init=False, repr=False, default_factory=lambda: [0])
    _rng: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_lengths(self.before, self.labels)
        if self.start < 0 or self.over < 0:
            raise InputError(
                "Expected a change that starts after 0 or more answers and takes 0 or more, got "
                f"{self.start} and {self.over}."
            )
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20140404)))

    def share(self, given: int) -> float:
        """The probability that the answer after `given` others follows the second orientation."""
        late = given - self.start
        if self.over == 0:
            return float(late >= 0)
        return float(np.clip(late / self.over, 0.0, 1.0))

    def answer(self, question: Question) -> str:
        """The true choice under one of the two orientations."""
        changed = self._rng.random() < self.share(self._given[0])
        self._given[0] += 1
        return Truth(self.labels if changed else self.before).answer(question)


@dataclass(frozen=True, eq=False)
class Two:
    """Two people at one session: each question goes to one of them.

    Parameters
    ----------
    first, second : the two people.
    share : share of questions that go to the second, drawn at random; None: they take turns,
        beginning with the first.
    """

    first: Oracle
    second: Oracle
    share: float | None = None
    seed: int = 0
    _last: list[int] = field(init=False, repr=False, default_factory=lambda: [1])
    _rng: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise InputError(f"Expected a share of the second from 0 to 1, got {self.share:g}.")
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20020202)))

    @property
    def by(self) -> str:
        """The person who gave the last answer: "first" or "second"."""
        return ("first", "second")[self._last[0]]

    def answer(self, question: Question) -> str:
        """The answer of the person whose turn it is."""
        if self.share is None:
            self._last[0] = 1 - self._last[0]
        else:
            self._last[0] = int(self._rng.random() < self.share)
        return (self.first, self.second)[self._last[0]].answer(question)


def changed_kinds(labels: Any, change: str, X: Any) -> Ints:
    """Make another orientation of one: two kinds become one, or one becomes two.

    Parameters
    ----------
    change : "merge" joins the two kinds with the nearest centres; "split" halves the largest kind
        along its main axis.
    X : (n, d) vectors.
    """
    kinds = np.asarray(labels, dtype=np.intp).copy()
    rows = np.asarray(X, dtype=np.float64).reshape(len(kinds), -1)
    found, sizes = np.unique(kinds[kinds >= 0], return_counts=True)
    if change not in CHANGES:
        raise InputError(f"Expected the change 'merge' or 'split', got {change!r}.")
    if len(found) < (2 if change == "merge" else 1):
        raise InputError(f"Expected enough kinds to {change}, got {len(found)}.")
    if change == "merge":
        centres = np.stack([rows[kinds == kind].mean(axis=0) for kind in found])
        distances = np.linalg.norm(centres[:, None] - centres, axis=2)
        distances[np.diag_indices(len(found))] = np.inf
        a, b = np.unravel_index(int(distances.argmin()), distances.shape)
        kinds[kinds == found[max(a, b)]] = found[min(a, b)]
        return kinds
    members = np.flatnonzero(kinds == found[sizes.argmax()])
    if len(members) < 2:
        raise InputError("No kind has two items, so none can be split. Try 'merge'.")
    away = rows[members] - rows[members].mean(axis=0)
    along = away @ np.linalg.eigh(away.T @ away)[1][:, -1]
    kinds[members[np.argsort(along, kind="stable")[len(members) // 2 :]]] = found.max() + 1
    return kinds


def check_lengths(first: Any, second: Any) -> None:
    """Raise an error if two orientations are about different items."""
    if len(first) != len(second):
        raise InputError(
            f"Expected one kind per item in both orientations, got {len(first)} and {len(second)}."
        )
