"""Which items of a large set are placed one by one: a stratified sample with all answered items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[np.intp]

STRATA = 50
"""Regions that are each represented by their share of the items, at least by one."""
LOOKED_AT = 5_000
"""Items from which the middles of regions are found."""


def stratified(x: Floats, must: Ints, most: int, rng: np.random.Generator) -> Ints:
    """At most `most` items (all that `must` be in, even if they are more), ascending.

    Items are sorted by region and taken at even distances, so that every region has its share.
    """
    if len(x) <= most:
        return np.arange(len(x))
    others = np.setdiff1d(np.arange(len(x)), must)
    room = most - len(must)
    if room <= 0:
        return np.asarray(must, dtype=np.intp)
    region = _regions(x, rng)[others]
    order = np.lexsort((rng.random(len(others)), region))
    ticks = (np.arange(room) + rng.random()) * (len(others) / room)
    drawn = order[np.minimum(ticks.astype(np.intp), len(others) - 1)]
    _, first = np.unique(region[order], return_index=True)
    # A region too small to be met by chance brings one item all the same.
    missed = np.setdiff1d(region[order[first]], region[drawn])
    extra = order[first][np.isin(region[order[first]], missed)]
    kept = rng.permutation(drawn)[: max(0, room - len(extra))]
    return np.union1d(must, others[np.concatenate([kept, extra[:room]])])


def _regions(x: Floats, rng: np.random.Generator) -> Ints:
    """(n,) the nearest of a few middles, which k-means finds on a part of the items."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    part = x[np.sort(rng.choice(len(x), min(len(x), LOOKED_AT), replace=False))]
    k = min(STRATA, len(np.unique(part, axis=0)))
    with threadpool_limits(1):  # on busy cores threads would wait longer than they work
        model = KMeans(k, n_init=1, max_iter=10, random_state=int(rng.integers(2**31))).fit(part)
        return np.asarray(model.predict(x), dtype=np.intp)
