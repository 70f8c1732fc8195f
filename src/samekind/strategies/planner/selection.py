"""Selection: a few items that stand for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.strategies.exemplars import squared_distances

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_CANDIDATES = 300
"""Items among which some are chosen; those of the least weight are left out."""


def covering(space: Floats, items: Ints, weight: Floats, placed: Ints | None, count: int) -> Ints:
    """Up to `count` of the items, the first of which bring the most weight close to a chosen one.

    Parameters
    ----------
    weight : of each item. placed : items that count as chosen already.

    >>> line = np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])
    >>> covering(line, np.arange(5), np.ones(5), None, 2).tolist()
    [2, 3]
    """
    if len(items) > MAX_CANDIDATES:
        kept = np.sort(np.argsort(-weight, kind="stable")[:MAX_CANDIDATES])
        items, weight = items[kept], weight[kept]
    distances = squared_distances(space[items], space[items])
    if placed is None or not len(placed):
        nearest = np.full(len(items), distances.max(initial=0.0))
    else:
        nearest = squared_distances(space[items], space[placed]).min(axis=1)
    chosen: list[int] = []
    for _ in range(min(count, len(items))):
        gain = np.round(weight @ np.maximum(nearest[:, None] - distances, 0.0), 9)
        gain[chosen] = -1.0
        best = int(gain.argmax())
        chosen.append(best)
        nearest = np.minimum(nearest, distances[:, best])
    return items[np.array(chosen, dtype=np.intp)]
