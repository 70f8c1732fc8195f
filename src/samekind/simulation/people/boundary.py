"""Boundary: a person who errs where the kinds run into each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SAMPLE = 20_000
"""Items among which neighbours are looked for in a larger pile."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """A person who takes an item between two kinds for one of the other kind.

    Of the items that a question asks about, the hardest is seen as what it is, or, with a chance of
    its own, as the kind that most of its near neighbours of another kind are of. The answer is then
    true for what was seen. So a wrong answer is always a plausible one: an item that is to be
    placed goes to the kind it was taken for where that is offered, and gets "none" where it is not;
    and two items that nobody would take for each other are never called the same. Items that stand
    for a group are seen as they are. The share of wrong *answers* depends on what is asked: more
    than the rate where the questions are about hard items, less where a mistake changes nothing.

    An item is the harder the more of its nearest neighbours are of another kind. Within one
    neighbour's worth it counts how far it is on the way from the middle of its own kind to that of
    the nearest other. The probability of a mistake is in proportion to that, up to `most`.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    X : (n, d) vectors, in which nearness is measured; never shown to a learner by this.
    rate : mean of the probabilities over all items of known kind, from 0 to `most`.
    neighbours : how many are looked at.
    most : the highest probability of a mistake. A half: the hardest items are a toss of a coin.
    """

    labels: Ints
    X: Any = field(repr=False)
    rate: float = 0.1
    seed: int = 0
    neighbours: int = 10
    most: float = 0.5
    mistaken: Floats = field(init=False, repr=False)
    """(n,) probability that the item is taken for another kind."""
    looks_like: Ints = field(init=False, repr=False)
    """(n,) the kind that it is then taken for."""
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
        """The choice that is true for what the items were taken for."""
        hardest = max(asked_about(question), key=lambda item: float(self.mistaken[item]))
        wrong = self._rng.random() < self.mistaken[hardest]

        def seen(item: int) -> int:
            return int(self.looks_like[item] if wrong and item == hardest else self.labels[item])

        def same(a: int, b: int) -> bool | None:
            return None if seen(a) < 0 or seen(b) < 0 else seen(a) == seen(b)

        return question.truthful(same)

    def _check(self) -> None:
        labels, rows = np.asarray(self.labels), np.asarray(self.X)
        if rows.ndim < 2 or len(labels) != len(rows):
            raise InputError(
                f"One vector per label is needed: {len(labels)} labels and vectors of shape "
                f"{rows.shape} came."
            )
        if len(np.unique(labels[labels >= 0])) < 2:
            raise InputError("Only one kind is known, so there is no boundary. Give two or more.")
        if not 0 < self.most <= 1 or not 0 <= self.rate <= self.most:
            raise InputError(
                "The rate of mistakes is from 0 to 'most', and 'most' at most 1; "
                f"{self.rate} and {self.most} came."
            )
        if self.neighbours < 1:
            raise InputError(f"At least one neighbour must be looked at; {self.neighbours} came.")


def asked_about(question: Question) -> tuple[int, ...]:
    """The items that are in doubt: the others are shown for what they stand for."""
    if question.many:
        return tuple(i for choice in question.choices() for i in question.exemplars(choice))
    return tuple(part[0] for part in question.parts())


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
    """How hard each item is, above zero, and the other kind that it looks like most."""
    from sklearn.neighbors import NearestNeighbors

    rows = rows.reshape(len(rows), -1).astype(np.float64)
    known = np.flatnonzero(labels >= 0)
    some = known
    if len(some) > SAMPLE:
        drawn = np.random.default_rng((seed, 20110716)).choice(some, SAMPLE, replace=False)
        some = np.sort(drawn)
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
    """The hardness of some items, and the position of the other kind that each looks like.

    That is the kind of most neighbours; of several alike, and where there is none, the kind whose
    middle is nearest.
    """
    from sklearn.metrics import euclidean_distances

    each, at = np.arange(len(rows)), np.searchsorted(kinds, own)
    votes = np.zeros((len(rows), len(kinds)))
    for column in near.T:
        np.add.at(votes, (each, np.searchsorted(kinds, column)), 1)
    apart = euclidean_distances(rows, centres)
    here, others = apart[each, at].copy(), 1 - votes[each, at] / near.shape[1]
    apart[each, at] = np.inf
    nearest = apart.min(axis=1)
    way = here / np.maximum(here + nearest, 1e-300)
    closeness = 1 / (1 + apart / np.maximum(nearest, 1e-300)[:, None])  # below one vote
    score = votes + closeness
    score[each, at] = -1
    return others + np.maximum(way, 1e-3) / near.shape[1], score.argmax(axis=1)


def _without(near: Ints, part: Ints) -> Ints:
    """Neighbours without the item itself, or without the last where it is not among them."""
    itself = near == part[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(near[~itself].reshape(len(near), -1))
