"""Members: rank the items of a group by how typical they are, and by how surely they belong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering

Floats = NDArray[np.float32]
Positions = NDArray[np.intp]


def by_typicality(clustering: Clustering, number: int) -> Positions:
    """Positions of the members of a group, the most typical first."""

    def ordered() -> Positions:
        members = clustering.members(number)
        far = np.empty(len(members), dtype=np.float32)
        centre = mean_of(clustering, members)
        for part in _parts(len(members)):
            far[part] = _apart(_rows(clustering, members[part]), centre)
        return members[np.argsort(far, kind="stable")]

    return clustering.memo(("typical", number), ordered)


def by_doubt(clustering: Clustering, number: int) -> Positions:
    """Positions of the members of a group, the least sure first, then the least typical."""

    def ordered() -> Positions:
        unusual = by_typicality(clustering, number)[::-1]
        return unusual[np.argsort(sureness(clustering)[unusual], kind="stable")]

    return clustering.memo(("doubtful", number), ordered)


def sureness(clustering: Clustering) -> Floats:
    """(n,) confidence from 0 to 1 that each item belongs to its group.

    The item's soft membership in its own group. Without memberships, the relative distance to the
    next group: one half on the border between two groups, one in the centre of its own.
    """

    def computed() -> Floats:
        if clustering.membership is None:
            return _by_distance(clustering)
        columns = np.searchsorted(clustering.numbers, clustering.labels)
        own = np.take_along_axis(clustering.membership, columns[:, None], axis=1)[:, 0]
        return np.clip(own.astype(np.float32), 0.0, 1.0)

    return clustering.memo("sureness", computed)


def distances_to(clustering: Clustering, positions: Positions, item: int) -> Floats:
    """Distances of some items to one, computed in chunks."""
    point = _rows(clustering, np.array([item]))[0]
    found = np.empty(len(positions), dtype=np.float32)
    for part in _parts(len(positions)):
        found[part] = _apart(_rows(clustering, positions[part]), point)
    return found


def sizes(clustering: Clustering) -> dict[int, int]:
    """Items per group, counted once per snapshot."""
    return clustering.memo("sizes", clustering.sizes)


def representatives(clustering: Clustering, number: int, n: int) -> list[int]:
    """Positions of the most typical item of a group and of n - 1 diverse ones, without outliers."""

    def chosen() -> list[int]:
        typical = by_typicality(clustering, number)
        pool = typical[: max(n, int(len(typical) * 0.8))]
        pool = pool[np.unique(np.linspace(0, len(pool) - 1, 256).astype(int))]
        vectors = _rows(clustering, pool)
        picks = [0]
        nearest = _apart(vectors, vectors[0])
        while len(picks) < min(n, len(pool)):
            nearest[picks] = -1.0
            picks.append(int(np.argmax(nearest)))
            nearest = np.minimum(nearest, _apart(vectors, vectors[picks[-1]]))
        return [int(pool[k]) for k in picks]

    return clustering.memo(("representatives", number, n), chosen)


def _by_distance(clustering: Clustering) -> Floats:
    numbers = clustering.numbers
    if len(numbers) < 2:
        return np.ones(len(clustering.labels), dtype=np.float32)
    columns = np.searchsorted(numbers, clustering.labels)
    centres = np.stack([mean_of(clustering, clustering.members(k)) for k in numbers])  # (k, d)
    length = (centres**2).sum(axis=1)
    sure = np.empty(len(columns), dtype=np.float32)
    for part in _parts(len(columns)):
        rows = _rows(clustering, np.arange(part.start, part.stop))
        apart = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + length  # (b, k)
        apart = np.sqrt(np.maximum(apart, 0.0))
        here = np.arange(len(rows))
        own = apart[here, columns[part]].copy()
        apart[here, columns[part]] = np.inf
        sure[part] = (next_one := apart.min(axis=1)) / np.maximum(own + next_one, 1e-12)
    return sure


def mean_of(clustering: Clustering, members: Positions) -> NDArray[Any]:
    """The mean of some items, computed in chunks: there may be a million of them."""
    total = np.zeros(int(np.prod(clustering.space.shape[1:])), dtype=np.float64)
    for part in _parts(len(members)):
        total += _rows(clustering, members[part]).sum(axis=0, dtype=np.float64)
    return (total / max(len(members), 1)).astype(np.float32)


def _rows(clustering: Clustering, positions: Positions) -> Floats:
    return clustering.space[positions].reshape(len(positions), -1)


def _apart(rows: Floats, point: NDArray[Any]) -> Floats:
    return np.asarray(np.linalg.norm(rows - point, axis=1), dtype=np.float32)


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, min(start + 16_384, n)) for start in range(0, n, 16_384))
