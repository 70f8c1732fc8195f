"""Random pairs: the yardstick that every other strategy has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.protocols import View
from samekind.questions import Question, SamePair


@dataclass(frozen=True)
class Random:
    """Two items drawn at random, whose relation is not known yet."""

    tries: int = 200
    """How many draws before giving up; matters only when nearly everything is known."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """`n` pairs; fewer when the answers already imply nearly all of them."""
        n_items = view.constraints.n_items
        found: dict[Question, None] = {}
        for _ in range(self.tries * n):
            a, b = (int(i) for i in view.rng.choice(n_items, 2, replace=False))
            question = SamePair(a, b, why="Drawn at random.")
            if view.constraints.same(a, b) is None and not _passed(question, view):
                found[question] = None
                if len(found) == n:
                    break
        return tuple(found)


def _passed(question: SamePair, view: View) -> bool:
    return question in view.passed or SamePair(question.b, question.a) in view.passed
