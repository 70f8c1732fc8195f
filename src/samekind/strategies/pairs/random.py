"""Random pairs: the baseline for every other strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.pairs.candidates import AT_RANDOM, best_pairs, random_pairs


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
        a, b = random_pairs(view, self.tries * n)
        return best_pairs(view, a, b, np.zeros(len(a)), n, lambda k: AT_RANDOM)
