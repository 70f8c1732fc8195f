"""Random pairs: the yardstick that every other strategy has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import best_pairs, drawn_pairs


@dataclass(frozen=True)
class Random:
    """Two items drawn at random, whose relation is not known yet."""

    tries: int = 200
    """How many draws before giving up; matters only when nearly everything is known."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """`n` pairs, no item twice; fewer when the answers already imply nearly all of them."""
        a, b = drawn_pairs(view, self.tries * n)
        return best_pairs(view, a, b, np.zeros(len(a)), n, lambda k: "Drawn at random.")
