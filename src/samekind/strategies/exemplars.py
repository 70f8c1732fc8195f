"""Groups as strategies see them: exemplars that show a group, and soft memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering

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


def same_chance(
    clustering: Clustering, a: NDArray[np.intp], b: NDArray[np.intp]
) -> NDArray[np.floating]:
    """The probability that pairs are the same kind: inner product of their memberships."""
    return np.asarray((soft(clustering, a) * soft(clustering, b)).sum(axis=1))


def soft(clustering: Clustering, items: NDArray[np.intp]) -> NDArray[np.floating]:
    """(m, k) membership of some items; from distances to the group means if there is none."""
    if clustering.membership is not None:
        return clustering.membership[items]
    centres, scale = clustering.memo("centres", lambda: _centres(clustering))
    found = np.empty((len(items), len(centres)))
    for start in range(0, len(items), 4096):  # in chunks: (items, groups, width) can be large
        part = slice(start, start + 4096)
        apart = ((clustering.space[items[part]][:, None] - centres[None]) ** 2).sum(-1)  # (m, k)
        weight = np.exp(-(apart - apart.min(axis=1, keepdims=True)) / (2 * scale))
        found[part] = weight / weight.sum(axis=1, keepdims=True)
    return found


def _centres(clustering: Clustering) -> tuple[NDArray[np.floating], float]:
    """Group means, and the mean squared distance of a sample of items to their own mean."""
    index = np.searchsorted(clustering.numbers, clustering.labels)
    sums = np.zeros((clustering.n_groups, clustering.space.shape[1]))
    np.add.at(sums, index, clustering.space)
    centres = sums / np.bincount(index, minlength=clustering.n_groups)[:, None]
    sample = slice(None, None, max(1, len(index) // 20000))
    within = ((clustering.space[sample] - centres[index[sample]]) ** 2).sum(axis=1)
    return centres, max(float(within.mean()), 1e-12)
