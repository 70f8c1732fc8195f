"""Draws of groupings and what is derived from them, and samples of large sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from samekind.clusterers.ncp.amortized.samples import Samples


Floats = NDArray[Any]
Ints = NDArray[np.intp]


class Draws(NamedTuple):
    """Groupings drawn from a posterior, for strategies that choose questions.

    Parameters
    ----------
    items : (m,) the items that they are about, ascending. labels : (S, m) groups in each draw.
    weight : (S,) share of each draw in averages.
    """

    items: Ints
    labels: NDArray[Any]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, items: Ints, drawn: Samples) -> Draws:
        """On the host, in as few bits as the group numbers need."""
        labels = drawn.labels.cpu().numpy()
        few = int(labels.max()) <= np.iinfo(np.int16).max
        narrow = labels.astype(np.int16 if few else np.int32)
        return cls(items, narrow, drawn.weights.double().cpu().numpy())

    def strength(self, labels: Ints) -> NDArray[np.float32]:
        """(m, k) mean probability of being with a member of each group; rows sum to one."""
        K = int(labels.max()) + 1
        size = np.bincount(labels, minlength=K)
        found = np.zeros((len(labels), K))
        for row, share in zip(self.labels, self.weight, strict=True):
            shared = np.zeros((int(row.max()) + 1, K))
            np.add.at(shared, (row, labels), 1.0)
            found += share * (shared / size)[row]
        return np.asarray(found / found.sum(axis=1, keepdims=True), dtype=np.float32)

    def together(self, some: Ints) -> NDArray[np.float32]:
        """(s, s) probability that two of s items are in one group."""
        labels = self.labels[:, np.searchsorted(self.items, some)]
        found = np.zeros((len(some),) * 2, dtype=np.float32)
        for k in range(int(labels.max()) + 1):
            inside = (labels == k).astype(np.float32)  # (S, m)
            inside, share = inside[inside.any(axis=1)], self.weight[inside.any(axis=1)]
            found += (inside * share[:, None].astype(np.float32)).T @ inside
        np.fill_diagonal(found, 1.0)
        return found

    def equally_likely(self, n: int, rng: np.random.Generator) -> Ints:
        """(n,) places of draws, each as often as its weight says, in random order."""
        share = self.weight.cumsum()
        ticks = (np.arange(n) + rng.random()) / n * share[-1]
        return rng.permutation(np.searchsorted(share, ticks).clip(0, len(share) - 1))


def sparse_pairs(together: Floats, some: Ints, n: int) -> Any:
    """(n, n) sparse: the pairs of some of n items, and ones on the diagonal."""
    from scipy.sparse import csr_array

    rest = np.setdiff1d(np.arange(n), some)
    a, b = np.nonzero(together > 1e-6)
    values = np.concatenate([together[a, b], np.ones(len(rest), dtype=np.float32)])
    places = (np.concatenate([some[a], rest]), np.concatenate([some[b], rest]))
    return csr_array((values, places), shape=(n, n))


STRATA = 50
"""Regions that are each represented by their share of the items, at least by one."""
MAX_KMEANS_ITEMS = 5_000
"""Items from which the centres of regions are found."""


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
    # A region too small to be drawn still contributes one item.
    missed = np.setdiff1d(region[order[first]], region[drawn])
    extra = order[first][np.isin(region[order[first]], missed)]
    kept = rng.permutation(drawn)[: max(0, room - len(extra))]
    return np.union1d(must, others[np.concatenate([kept, extra[:room]])])


def _regions(x: Floats, rng: np.random.Generator) -> Ints:
    """(n,) the nearest of a few centres, which k-means finds on some of the items."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    part = x[np.sort(rng.choice(len(x), min(len(x), MAX_KMEANS_ITEMS), replace=False))]
    k = min(STRATA, len(np.unique(part, axis=0)))
    with threadpool_limits(1):  # on busy cores threads would wait longer than they work
        model = KMeans(k, n_init=1, max_iter=10, random_state=int(rng.integers(2**31))).fit(part)
        return np.asarray(model.predict(x), dtype=np.intp)
