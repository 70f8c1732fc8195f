"""The outcome of an attack, and what all attacks share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.session import Session
from samekind.sources import RowCollection, Rows


class Skipped(RuntimeError):
    """The attack cannot be made on this machine; the message says why."""


@dataclass
class Outcome:
    """What an attack did.

    Parameters
    ----------
    rounds : attempts. survived : attempts that ended as promised.
    lost : answers or files that were lost, doubled, or changed without a word. Must be 0.
    problems : what else went wrong, in words. figures : what was measured.
    """

    rounds: int = 0
    survived: int = 0
    lost: int = 0
    problems: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether everything that is promised held."""
        return self.survived == self.rounds and not self.lost and not self.problems

    def note(self, good: bool, words: str = "") -> None:
        """Count one round."""
        self.rounds += 1
        self.survived += bool(good)
        if not good and words and len(self.problems) < 10:
            self.problems.append(words)

    def add(self, more: Outcome) -> None:
        """Count the rounds of another outcome as well; its figures must be counts."""
        self.rounds += more.rounds
        self.survived += more.survived
        self.lost += more.lost
        self.problems = [*self.problems, *more.problems][:10]
        for name, count in more.figures.items():
            self.figures[name] = self.figures.get(name, 0) + count

    def row(self) -> dict[str, Any]:
        """The outcome as part of a row."""
        shown = {"rounds": self.rounds, "survived": self.survived, "lost": self.lost}
        return {**shown, "problems": self.problems, "figures": self.figures}


Attack = Callable[[int, int], Outcome]
"""Takes the number of rounds and the seed."""


def session_over(X: NDArray[Any], **settings: Any) -> Session:
    """A session over vectors; the ids of the items are their numbers."""
    rows = Rows(X, keys=[f"item-{k}" for k in range(len(X))])
    return Session(RowCollection("faults", rows, location="faults", ready=True), X, **settings)


def clouds(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Vectors (n, 6) in four clouds, and their kinds: two clouds are one kind."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 4
    centres = np.array([[0, 0], [0, 4], [4, 0], [4, 4]])[place]
    X = np.hstack([centres, np.zeros((n, 4))]) + rng.normal(scale=0.4, size=(n, 6))
    return X.astype(np.float32), (place // 2).astype(np.intp)
