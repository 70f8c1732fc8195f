"""The number of groups: what the answers prove, or a guess."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.kmeans.centres import Blocks, assign_free, nearest, seed_centres, sums_by
from samekind.constraints import Constraints
from samekind.constraints.constraints import told_same
from samekind.errors import InputError, VectorError
from samekind.questions import Answer, SamePair

Floats = NDArray[Any]
Known = Constraints | Iterable[tuple[int, int, bool]] | None
"""Answers: constraints, or links (a, b, same) between rows by position."""
Pairs = Iterable[tuple[int, int]] | None
"""Pairs of rows by position, also as an array (n, 2)."""

MAX_SILHOUETTE_ITEMS = 1_500
"""Items on which numbers of groups are compared; silhouettes cost the square of it."""
MAX_NUMBER = float(np.finfo(np.float32).max)
"""The largest number in a vector."""
MAX_GUESS = 20
"""Largest number of groups that is guessed without answers."""


def checked_constraints(
    constraints: Known, n: int, must_link: Pairs = None, cannot_link: Pairs = None
) -> Constraints | None:
    """Put all answers together, and check that they are about as many items as there are vectors.

    >>> checked_constraints([(0, 1, True)], 3, cannot_link=[(1, 2)]).same(0, 2)
    False
    """
    if constraints is not None and not isinstance(constraints, Constraints):
        constraints = Constraints.from_links(n, _links(constraints, 3, "constraints", n))
    pairs = [(a, b, True) for a, b in _links(must_link, 2, "must_link", n)]
    pairs += [(a, b, False) for a, b in _links(cannot_link, 2, "cannot_link", n)]
    if pairs:
        known = Constraints(n) if constraints is None else constraints
        start = max((answer.number for answer in known.answers), default=0) + 1
        for number, (a, b, same) in enumerate(pairs, start):
            choice = "same" if same else "different"
            known = known.with_answer(Answer(number, SamePair(a, b), choice))
        constraints = known
    if constraints is not None and constraints.n_items != n:
        raise InputError(
            f"Expected answers about {n} items, as many as vectors, got answers about "
            f"{constraints.n_items} items. Fit on the items that the questions were asked about."
        )
    return constraints


def _links(given: Iterable[Any] | None, width: int, name: str, n: int) -> list[tuple[Any, ...]]:
    """Check links that were given as tuples of positions."""
    example = "[(0, 3), (1, 2)]" if width == 2 else "[(0, 3, True), (1, 2, False)]"
    found: list[tuple[Any, ...]] = []
    for each in [] if given is None else given:
        try:
            link = tuple(each)
            places = [index(position) for position in link[:2]]
        except TypeError:
            raise InputError(f"Expected {name} as {example}, got {each!r} in it.") from None
        if len(link) != width or not all(0 <= place < n for place in places):
            raise InputError(
                f"Expected {name} as {example}, with positions from 0 to {n - 1}, got {link!r} in "
                "it."
            )
        found.append((*places, *map(told_same, link[2:])))
    return found


def check_count(n_clusters: int | None, n: int) -> None:
    """Check that so many groups can be made of n items; None leaves the number open."""
    if n_clusters is None:
        return
    if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool) or n_clusters < 1:
        raise InputError(
            f"Expected n_clusters to be a whole number of at least 1, or None, got {n_clusters!r}."
        )
    if n_clusters > n:
        raise InputError(
            f"Expected n_clusters from 1 to {n} (n_samples={n}) or None, got {n_clusters} groups. "
            f"Ask for at most {n}."
        )


def check_size(X: Floats) -> None:
    """Check that numbers are small enough to be squared and summed: they must fit float32."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > MAX_NUMBER:
        raise VectorError(
            f"Expected numbers of at most {MAX_NUMBER:.2g}, which float32 can hold, got "
            f"{largest:.2g}. Scale the columns first."
        )


def resolved_count(
    n_clusters: int | None, X: Floats, blocks: Blocks, rng: np.random.Generator
) -> int:
    """The number of groups to look for: the one asked for, or a guess."""
    if n_clusters is None:
        return guessed_count(X, blocks, rng)
    check_count(n_clusters, len(X))
    return int(n_clusters)


def told_count(known: Constraints) -> int | None:
    """The number of kinds that the answers have told apart; None where they leave it open.

    Placements put nearly every answered item into one of the kinds. Pairs prove few kinds to be
    different, however many there are: when most answered items are in none of the kinds, the kinds
    do not say how many groups there are.

    >>> told_count(Constraints.from_links(9, [(0, 1, False), (0, 2, True), (1, 3, True)]))
    2
    >>> told_count(Constraints.from_links(9, [(0, 1, False), (2, 3, False), (4, 5, False)]))
    """
    kinds = known.kinds
    placed = sum(len(kind) for kind in kinds)
    return len(kinds) if len(kinds) > 1 and placed >= 0.5 * len(known.touched) else None


def guessed_count(X: Floats, blocks: Blocks, rng: np.random.Generator) -> int:
    """Guess the number with the best silhouette on a sample, never fewer than proven different.

    One group is never guessed for three or more items: a silhouette needs two.
    """
    from sklearn.metrics import pairwise_distances

    proven = max(1, len(blocks.distinct()))
    most = min(max(MAX_GUESS, proven + 5), blocks.n_movable)
    rows = np.sort(rng.permutation(len(X))[:MAX_SILHOUETTE_ITEMS])
    sample = np.ascontiguousarray(X[rows])
    different = len(np.unique(sample, axis=0))
    tried = range(max(2, proven), min(most, different, len(sample) - 1) + 1)
    if not len(tried):
        return min(proven, blocks.n_movable)
    distances = pairwise_distances(sample).astype(np.float64, copy=False)
    free = Blocks.from_constraints(sample, None)
    best, best_score = tried[0], -np.inf
    for k in tried:
        labels = _quick_groups(sample, free, k, rng)
        if 2 <= len(np.unique(labels)) < len(sample):
            found = silhouette(distances, labels)
            if found > best_score:
                best, best_score = k, found
    return best


def silhouette(distances: Floats, labels: NDArray[np.intp]) -> float:
    """Mean silhouette of groups, of which there are at least two, by all distances (n, n).

    As ``sklearn.metrics.silhouette_score``, which costs more in checks than here in sums.
    """
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.arange(len(labels))
    sums = sums_by(labels, distances, len(sizes)).T
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[rows, labels] = np.inf
    other = means.min(axis=1)
    larger = np.maximum(own, other)
    found = np.divide(other - own, larger, out=np.zeros(len(rows)), where=larger > 0)
    return float(np.where(sizes[labels] > 1, found, 0.0).mean())


def _quick_groups(
    sample: Floats, free: Blocks, k: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Groups by two short plain k-means runs: enough to compare numbers of groups."""
    everything = np.ones(len(sample), dtype=bool)
    best, least = np.zeros(len(sample), dtype=np.intp), np.inf
    for _ in range(2):
        centres = seed_centres(sample, free, k, rng, np.empty(0, dtype=np.intp))
        before = None
        for _ in range(15):
            step = assign_free(sample, centres, everything)
            if before is not None and np.array_equal(step.labels, before):
                break  # the centres would stay as they are
            before, filled = step.labels, step.counts > 0
            centres[filled] = step.sums[filled] / step.counts[filled, None]
        labels, distance = nearest(sample, centres)
        if distance.sum() < least:
            best, least = labels, float(distance.sum())
    return best
