"""Gains: what some more answers would bring, by how much the latest ones still moved.

How many items come into their place with 20 more answers was measured in simulations: about a
quarter of what the refits of the latest ten answers moved, and a little that comes anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from samekind.clustering import Clustering
from samekind.session.quality import Quality, moved

ANSWERS = 20
"""The gain is told for so many more answers."""
LATEST = 10
"""Answers whose refits are looked at."""
BEGINNING = 20
"""Before so many answers the groups are still being found, and nothing can be told."""
OF_MOVES, ANYWAY = 0.25, 0.001
"""Gain per item that the latest answers moved, and as a share of all items besides."""
LITTLE = 0.003
"""If 20 more answers put less than this share of the items in place, one may stop."""


@dataclass(frozen=True)
class Moves:
    """For each refit that followed another one: answers that were new, and items that moved."""

    answers: int = 0
    steps: tuple[tuple[int, float], ...] = ()

    def then(self, answers: int, clustering: Clustering) -> Self:
        """With one more refit, from so many answers in all."""
        share = moved(clustering)
        new = answers - self.answers
        if share is None or new <= 0:  # a fresh start, or answers were taken back
            return type(self)(answers, self.steps if share is not None else ())
        steps = (*self.steps, (new, share * len(clustering.labels)))
        return type(self)(answers, steps[-LATEST:])

    def per_answer(self) -> float | None:
        """Items moved per answer by the refits of the latest answers; None while there are few."""
        answers, items = 0, 0.0
        for new, count in reversed(self.steps):
            if answers < LATEST:
                answers, items = answers + new, items + count
        return items / answers if answers >= LATEST and self.answers >= BEGINNING else None


def expected_gain(moves: Moves, found: Quality | None, n_items: int) -> dict[str, Any] | None:
    """Items that 20 more answers would probably put in place, as plain JSON; None: not known.

    There cannot be more of them than are out of place by the worse end of the checks' interval: a
    few checks that all agree do not mean that nothing is left to gain.
    """
    rate = moves.per_answer()
    if rate is None:
        return None
    items = OF_MOVES * LATEST * rate + ANYWAY * n_items
    if found is not None:
        items = min(items, (1 - found.low) * n_items + 1)
    return {
        "answers": ANSWERS,
        "items": _rounded(items),
        "share": round(items / n_items, 4),
        "little": items < LITTLE * n_items,
    }


def _rounded(items: float) -> int:
    """To one digit, since more are not known: 1 to 10, 20, ... 100, 200, ..."""
    whole = max(1, round(items))
    step = 10 ** (len(str(whole)) - 1)
    return int(round(whole / step) * step)
