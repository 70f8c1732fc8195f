"""Exemplars: the few items that show a person what a group is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


def choose_exemplars(
    space: Floats, members: NDArray[np.intp], item: int, count: int
) -> tuple[int, ...]:
    """A central member first, then diverse ones; never `item` itself.

    All members should be known to be the same kind, so that each of them represents the group.
    """
    members = members[members != item]
    points = np.asarray(space[members], dtype=np.float64)
    middle = int(((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin())
    chosen = [middle]
    apart = ((points - points[middle]) ** 2).sum(axis=1)
    while len(chosen) < min(count, len(members)):
        farthest = int(apart.argmax())
        if farthest in chosen:
            break
        chosen.append(farthest)
        apart = np.minimum(apart, ((points - points[farthest]) ** 2).sum(axis=1))
    return tuple(int(members[k]) for k in chosen)


def squared_distances(A: Floats, B: Floats) -> Floats:
    """(a, b) squared Euclidean distances between rows."""
    from scipy.spatial.distance import cdist

    # cdist needs no (a, b, d) array, which would be huge with thousands of answers.
    return np.asarray(cdist(A, B, "sqeuclidean"))
