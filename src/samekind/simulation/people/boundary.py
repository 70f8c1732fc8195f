"""Boundary: a person who errs where the kinds overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MAX_REFERENCE_ITEMS = 20_000
"""Items among which neighbours are searched; larger sets are sampled."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """A person who mistakes an item between two kinds for the other kind.

    The hardest of the items that a question asks about is seen as it is or, with its own
    probability, as the commonest other kind among its neighbours. The answer is true for what was
    seen, so a wrong answer is always plausible: two items that nobody would confuse are never
    called the same. In a question about many items each of them is seen in this way. Items that
    stand for a group are seen as they are. The share of wrong *answers* is above the rate where
    questions are about hard items, and below it where a mistake changes nothing.

    The hardness of an item is the share of its nearest neighbours of other kinds. Ties are broken
    by its position between the centre of its own kind and the nearest other centre. The probability
    of a mistake is proportional to the hardness, up to `most`.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    X : (n, d) vectors that define the neighbours.
    rate : mean probability of a mistake over the items of known kind, from 0 to `most`.
    neighbours : number of neighbours.
    most : the highest probability of a mistake; at .5 the hardest items are a coin toss.
    """

    labels: Ints
    X: Any = field(repr=False)
    rate: float = 0.1
    seed: int = 0
    neighbours: int = 10
    most: float = 0.5
    mistaken: Floats = field(init=False, repr=False)
    """(n,) probability that the item is mistaken for another kind."""
    looks_like: Ints = field(init=False, repr=False)
    """(n,) the kind that it is mistaken for."""
    _rng: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check()
        hardness, looks_like = _hardness(
            np.asarray(self.X), np.asarray(self.labels), self.neighbours, self.seed
        )
        known = np.asarray(self.labels) >= 0
        mistaken = np.zeros(len(hardness))
        mistaken[known] = scaled_to_mean(hardness[known], self.rate, self.most)
        object.__setattr__(self, "mistaken", mistaken)
        object.__setattr__(self, "looks_like", looks_like)
        object.__setattr__(self, "_rng", np.random.default_rng((self.seed, 20110715)))

    def answer(self, question: Question) -> str:
        """The choice that is true for what was seen."""
        mistakes = self._mistakes(question)

        def seen(item: int) -> int:
            return int(self.looks_like[item] if item in mistakes else self.labels[item])

        def same(a: int, b: int) -> bool | None:
            return None if seen(a) < 0 or seen(b) < 0 else seen(a) == seen(b)

        return question.truthful(same)

    def _mistakes(self, question: Question) -> set[int]:
        """Items that are taken for another kind this time."""
        items = question.subjects()
        if not question.many:
            items = (max(items, key=lambda item: float(self.mistaken[item])),)
        return {i for i in items if self._rng.random() < self.mistaken[i]}

    def _check(self) -> None:
        labels, rows = np.asarray(self.labels), np.asarray(self.X)
        if rows.ndim < 2 or len(labels) != len(rows):
            raise InputError(
                f"Expected one vector per label, got {len(labels)} labels and vectors of shape "
                f"{rows.shape}."
            )
        if len(np.unique(labels[labels >= 0])) < 2:
            raise InputError("Expected at least two kinds, got one. A boundary needs two or more.")
        if not 0 < self.most <= 1 or not 0 <= self.rate <= self.most:
            raise InputError(
                "Expected a rate of mistakes from 0 to 'most', and 'most' at most 1, got "
                f"{self.rate:g} and {self.most:g}."
            )
        if self.neighbours < 1:
            raise InputError(f"Expected at least 1 neighbour, got {self.neighbours}.")


def scaled_to_mean(weights: Floats, mean: float, most: float) -> Floats:
    """Probabilities in proportion to positive weights, none above `most`, with the given mean."""
    if mean <= 0:
        return np.zeros(len(weights))
    left, right = 0.0, most / float(weights.min())
    for _ in range(200):  # the mean rises with the factor, up to `most`
        middle = 0.5 * (left + right)
        if np.minimum(weights * middle, most).mean() < mean:
            left = middle
        else:
            right = middle
    return np.asarray(np.minimum(weights * right, most))


def _hardness(rows: Any, labels: Ints, neighbours: int, seed: int) -> tuple[Floats, Ints]:
    """The hardness of each item, above zero, and the other kind that it resembles most."""
    from sklearn.neighbors import NearestNeighbors

    rows = rows.reshape(len(rows), -1).astype(np.float64)
    known = np.flatnonzero(labels >= 0)
    some = known
    if len(some) > MAX_REFERENCE_ITEMS:
        rng = np.random.default_rng((seed, 20110716))
        some = np.sort(rng.choice(some, MAX_REFERENCE_ITEMS, replace=False))
    kinds = np.unique(labels[known])
    centres = np.stack([rows[labels == kind].mean(axis=0) for kind in kinds])
    count = min(neighbours, len(some) - 1)
    search = NearestNeighbors(n_neighbors=count + 1).fit(rows[some])
    hardness, looks_like = np.ones(len(rows)), labels.astype(np.intp).copy()
    for at in range(0, len(known), 4096):
        part = known[at : at + 4096]
        near = _without(some[search.kneighbors(rows[part], return_distance=False)], part)
        share, other = _seen_from(rows[part], labels[part], labels[near], kinds, centres)
        hardness[part], looks_like[part] = share, kinds[other]
    return hardness, looks_like


def _seen_from(
    rows: Floats, own: Ints, near: Ints, kinds: Ints, centres: Floats
) -> tuple[Floats, Ints]:
    """The hardness of some items, and the index of the other kind that each resembles.

    That is the kind of most neighbours, and among equals the one with the nearest centre.
    """
    from sklearn.metrics import euclidean_distances

    each, at = np.arange(len(rows)), np.searchsorted(kinds, own)
    votes = np.zeros((len(rows), len(kinds)))
    for column in near.T:
        np.add.at(votes, (each, np.searchsorted(kinds, column)), 1)
    distances = euclidean_distances(rows, centres)
    here, others = distances[each, at].copy(), 1 - votes[each, at] / near.shape[1]
    distances[each, at] = np.inf
    nearest = distances.min(axis=1)
    way = here / np.maximum(here + nearest, 1e-300)
    closeness = 1 / (1 + distances / np.maximum(nearest, 1e-300)[:, None])  # below one vote
    score = votes + closeness
    score[each, at] = -1
    return others + np.maximum(way, 1e-3) / near.shape[1], score.argmax(axis=1)


def _without(near: Ints, part: Ints) -> Ints:
    """Neighbours without the item itself, or without the last where it is not among them."""
    itself = near == part[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(near[~itself].reshape(len(near), -1))
