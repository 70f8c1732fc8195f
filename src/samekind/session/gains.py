"""Gains: the expected gain of more answers, estimated from how many items the latest ones moved.

Measured in simulations: 20 more answers put about a quarter as many items in place as the refits
of the latest ten answers moved, plus a small constant share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from samekind.clustering import Clustering
from samekind.session.quality import Quality, share_moved

N_MORE_ANSWERS = 20
"""Number of further answers for which the gain is estimated."""
N_LATEST_ANSWERS = 10
"""Latest answers whose refits are considered."""
MIN_ANSWERS = 20
"""With fewer answers the groups are still being found, and no gain can be estimated."""
GAIN_PER_MOVE, CONSTANT_GAIN = 0.25, 0.001
"""Gain per item that the latest answers moved, and the constant share of all items."""
SMALL_GAIN = 0.003
"""Share of the items below which the gain is too small to continue."""


@dataclass(frozen=True)
class Moves:
    """New answers and moved items of each refit that followed another one."""

    answers: int = 0
    steps: tuple[tuple[int, float], ...] = ()

    def then(self, answers: int, clustering: Clustering) -> Self:
        """Add a refit on this many answers in total."""
        share = share_moved(clustering)
        new = answers - self.answers
        if share is None or new <= 0:  # a fresh start, or answers were undone
            return type(self)(answers, self.steps if share is not None else ())
        steps = (*self.steps, (new, share * len(clustering.labels)))
        return type(self)(answers, steps[-N_LATEST_ANSWERS:])

    def per_answer(self) -> float | None:
        """Items moved per answer by the refits of the latest answers; None: too few answers."""
        answers, items = 0, 0.0
        for new, count in reversed(self.steps):
            if answers < N_LATEST_ANSWERS:
                answers, items = answers + new, items + count
        enough = answers >= N_LATEST_ANSWERS and self.answers >= MIN_ANSWERS
        return items / answers if enough else None


def expected_gain(moves: Moves, found: Quality | None, n_items: int) -> dict[str, Any] | None:
    """Estimate how many items 20 more answers would put in place, as plain JSON; None: unknown.

    Bounded by the items out of place at the lower end of the quality's interval: a few checks that
    all agree do not prove that nothing is left to gain.
    """
    rate = moves.per_answer()
    if rate is None:
        return None
    items = GAIN_PER_MOVE * N_LATEST_ANSWERS * rate + CONSTANT_GAIN * n_items
    if found is not None:
        items = min(items, (1 - found.low) * n_items + 1)
    return {
        "answers": N_MORE_ANSWERS,
        "items": _rounded(items),
        "share": round(items / n_items, 4),
        "little": items < SMALL_GAIN * n_items,
    }


def _rounded(items: float) -> int:
    """Round to one significant digit, which is all that is known."""
    whole = max(1, round(items))
    step = 10 ** (len(str(whole)) - 1)
    return int(round(whole / step) * step)
