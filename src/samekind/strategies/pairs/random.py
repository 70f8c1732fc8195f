"""Random pairs: the baseline for every other strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.choice import random_questions


@dataclass(frozen=True)
class Random:
    """Two random items, not yet known to be the same kind or different.

    Parameters
    ----------
    tries : draws before giving up; matters only if nearly everything is known.
    """

    tries: int = 200

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """`n` pairs, no item twice; fewer if the answers imply nearly all of them."""
        return random_questions(view, n, tries=self.tries)
