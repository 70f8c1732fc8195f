"""Doubt: how uncertain the groups are, where, and how much an answer would resolve.

One unit for all kinds of question: bits of uncertainty about where items belong, summed over the
items that an answer informs about.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import WhichGroup
from samekind.strategies.exemplars import soft, squared_distances

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_ITEMS = 3000
"""Items that are considered; in larger collections each represents several."""
MAX_REGIONS = 200
"""Regions in which an answer about one item informs about the others."""
REACH = 0.3
"""Share of the surrounding items' doubt that one answer resolves."""
SHARPENING = 4.0
"""Power to which memberships are raised, because those of propagation are underconfident: on the
digits after 60 answers 2 % of the items were wrong; memberships predicted 40 %, sharpened 3 %."""
SMOOTHING = 0.02
"""Share of every belief that is spread over all kinds: no learner is always right."""
N_LATEST_PLACEMENTS = 16
"""Placements by which the learner's guesses are judged."""
TYPICAL_ERROR, MAX_ERROR, LOOSE_ERROR = 0.1, 0.3, 0.5
"""Probability that a whole region is in the wrong group: at the median distance to the nearest
answer, at most, and where an answer contradicts the learner's group."""


@dataclass(frozen=True)
class Regions:
    """A sample of items in regions around landmarks; depends on the snapshot alone."""

    sample: Ints
    landmarks: Floats
    region_of: Ints

    @classmethod
    def of(cls, clustering: Clustering, seed: int) -> Regions:
        """Take random landmarks, and move them twice to the mean of their nearest items."""
        n = len(clustering.space)
        rng = np.random.default_rng((seed, 8))
        sample = (
            np.arange(n) if n <= MAX_ITEMS else np.sort(rng.choice(n, MAX_ITEMS, replace=False))
        )
        points = np.asarray(clustering.space[sample], dtype=np.float64)
        count = min(MAX_REGIONS, max(1, len(sample) // 6))
        landmarks = points[rng.choice(len(sample), count, replace=False)]
        for _ in range(2):
            nearest = squared_distances(points, landmarks).argmin(axis=1)
            held = np.bincount(nearest, minlength=count)
            sums = np.zeros_like(landmarks)
            np.add.at(sums, nearest, points)
            landmarks = np.where(held[:, None] > 0, sums / np.maximum(held, 1)[:, None], landmarks)
        nearest = squared_distances(points, landmarks).argmin(axis=1)
        return cls(sample, landmarks, nearest.astype(np.intp))


@dataclass(frozen=True)
class Doubt:
    """Beliefs about the kinds that answers have told apart, and their uncertainty in bits.

    There are two sorts of doubt. Near a border each item is doubtful by itself. Where nothing was
    asked, a whole region may be in the wrong group, however confident the learner is.

    Parameters
    ----------
    unseen : share of items that probably belong to a kind not seen yet.
    weight : (regions,) items that are not placed; those of small groups count more.
    common : (regions,) bits of doubt that the items of a region share.
    single : (regions,) mean bits of the items' own doubt; lower where many answers were given.
    """

    view: View
    regions: Regions
    kinds: tuple[Ints, ...]
    unseen: float
    weight: Floats
    common: Floats
    single: Floats

    @classmethod
    def of(cls, view: View, rare: float) -> Doubt:
        """Compute the doubt of a view. `rare`: 0 weighs items equally, 1 groups equally."""
        clustering, known = view.clustering, view.constraints
        regions = clustering.memo(
            ("planner-regions", view.seed), lambda: Regions.of(clustering, view.seed)
        )
        sample, where = regions.sample, regions.region_of
        count = len(regions.landmarks)
        blank = np.zeros(count)
        bare = cls(view, regions, known.kinds, unseen_share(known), blank, blank, blank)
        placed = np.concatenate(known.kinds)
        counted = _importance(clustering, sample, rare) * known.n_items / len(sample)
        counted[np.isin(sample, placed)] = 0.0
        weight = np.bincount(where, counted, minlength=count)
        missing = np.bincount(where, counted * entropy(bare.beliefs(sample)), minlength=count)
        answered = np.bincount(bare.region(placed), minlength=count)
        wrong = _misplaced(regions, clustering.space[placed], answered)
        wrong[bare.region(np.setdiff1d(known.touched, placed))] = LOOSE_ERROR
        single = missing / np.maximum(weight, 1e-12) / (1 + answered)
        common = entropy(np.stack([wrong, 1 - wrong], axis=1))
        return cls(view, regions, known.kinds, bare.unseen, weight, common, single)

    def beliefs(self, items: Ints) -> Floats:
        """(m, kinds + 1) probability of each kind, and last of none; ignores the answers."""
        clustering = self.view.clustering
        shares = np.asarray(soft(clustering, items), dtype=np.float64) ** SHARPENING
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        column = {number: k for k, number in enumerate(clustering.numbers)}
        at = [column[int(clustering.labels[kind[0]])] for kind in self.kinds]
        crowd = np.bincount(at, minlength=shares.shape[1])
        seen = shares[:, at] / np.maximum(crowd[at], 1)
        none = np.maximum(1 - seen.sum(axis=1, keepdims=True), 0)
        found = np.hstack([seen * (1 - self.unseen), none * (1 - self.unseen) + self.unseen])
        return np.asarray((1 - SMOOTHING) * found + SMOOTHING / found.shape[1])

    def region(self, items: Ints) -> Ints:
        """The regions of any items."""
        space = np.asarray(self.view.clustering.space[items], dtype=np.float64)
        apart = squared_distances(space, self.regions.landmarks)
        return np.asarray(apart.argmin(axis=1), dtype=np.intp)

    def resolved(self, bits: Floats, region: Ints) -> Floats:
        """Bits of doubt that placing an item resolves: its own, and that of the items around it.

        `bits` are learnt about the item itself. A neighbour's doubt shrinks by at most that much,
        and by at most what is unknown about it.
        """
        own = bits + REACH * self.weight[region] * np.minimum(bits, self.single[region])
        return np.asarray(own + self.weight[region] * self.common[region])


def _misplaced(regions: Regions, placed: Floats, answered: Ints) -> Floats:
    """Probability that each whole region is in the wrong group, by its distance to answers."""
    apart = squared_distances(regions.landmarks, placed).min(axis=1)
    typical = max(float(np.median(apart)), 1e-12)
    chance = np.minimum(TYPICAL_ERROR * apart / typical, MAX_ERROR)
    return np.asarray(np.where(answered > 0, SMOOTHING, chance) / (1 + answered))


def entropy(chances: Floats) -> Floats:
    """The entropy in bits of each row of probabilities (m, k).

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    safe = np.clip(chances, 1e-12, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=1).round(9) + 0.0)


def settled(beliefs: Floats) -> Floats:
    """(m, kinds) probability that "does it belong to this kind?" puts an item in its place.

    From beliefs (m, kinds + 1). "Yes" does. "No" leaves it to the learner's next guess, which helps
    as often as it is right and harms as often as it is wrong.

    >>> settled(np.array([[0.5, 0.5, 0.0], [0.4, 0.3, 0.3]])).round(2).tolist()
    [[1.0, 1.0], [0.4, 0.4]]
    """
    seen = beliefs[:, :-1]
    ordered = np.sort(seen, axis=1)
    second = ordered[:, -2:-1] if seen.shape[1] > 1 else np.zeros((len(seen), 1))
    best_other = np.where(seen == ordered[:, -1:], second, ordered[:, -1:])
    return np.asarray(seen + np.maximum(0.0, 2 * best_other - (1 - seen)))


def rank_within(where: Ints) -> Ints:
    """For each row, how many rows before it are in the same region."""
    order = np.argsort(where, kind="stable")
    held = where[order]
    starts = np.flatnonzero(np.r_[True, held[1:] != held[:-1]])
    rank = np.arange(len(held)) - np.repeat(starts, np.diff(np.r_[starts, len(held)]))
    found = np.empty(len(held), dtype=np.intp)
    found[order] = rank
    return found


def first_guess_right(known: Constraints) -> float:
    """How often the person recently chose what the groups had implied.

    If the learner is mostly wrong, asking "is it this one?" is a waste, however confident it is.
    """
    placed = (a for a in reversed(known.answers) if isinstance(a.question, WhichGroup))
    known_before = ((a, a.question.expected) for a in placed if a.links)
    latest = islice(((a, e) for a, e in known_before if e is not None), N_LATEST_PLACEMENTS)
    right = [answer.choice == expected.choice for answer, expected in latest]
    return (sum(right) + 1) / (len(right) + 2)


def unseen_share(known: Constraints) -> float:
    """Good-Turing estimate of the share of items whose kind was not seen yet: of the placed items,
    the share that is alone in its kind."""
    sizes = [len(kind) for kind in known.kinds]
    return sizes.count(1) / sum(sizes) if sizes else 1.0


def _importance(clustering: Clustering, sample: Ints, rare: float) -> Floats:
    """Weights of items with mean one: those of small groups count more."""
    sizes = clustering.memo("planner-sizes", clustering.sizes)
    size = np.array([sizes[number] for number in clustering.numbers], dtype=np.float64)
    weight = size[np.searchsorted(clustering.numbers, clustering.labels[sample])] ** -rare
    return np.asarray(weight / weight.mean())
