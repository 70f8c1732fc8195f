"""Doubt: how much is not known yet, where it is, and how much of it an answer would take away.

One unit for all kinds of question: bits of doubt about where items belong, summed over the items
that an answer tells something about.
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
from samekind.strategies.exemplars import squared_distances
from samekind.strategies.pairs.uncertainty import soft

Floats = NDArray[Any]
Ints = NDArray[np.intp]

SAMPLE = 3000
"""Items that are looked at; in larger piles each stands for several."""
PATCHES = 200
"""Regions in which an answer about one item tells something about the others."""
REACH = 0.3
"""Share of the doubt of the items around it that one answer takes away."""
SHARPER = 4.0
"""Power to which memberships are raised. Those of spreading learners are much too modest: on the
digits after 60 answers 2 % of the items were wrong, where memberships said 40 %, and 3 % so."""
CAUTION = 0.02
"""Share of every belief that is spread over all kinds: no learner is always right."""
LATELY = 16
"""Placements by which the learner's guesses are judged."""
FAR, FARTHEST, LOOSE = 0.1, 0.3, 0.5
"""Chance that a region as a whole is in the wrong group: where the nearest answer is as far away as
usual, at most, and where an answer has said that the learner's group is wrong."""


@dataclass(frozen=True)
class Regions:
    """What belongs to a snapshot alone: a sample of items, in regions around landmarks."""

    sample: Ints
    landmarks: Floats
    region_of: Ints

    @classmethod
    def of(cls, clustering: Clustering, seed: int) -> Regions:
        """Random landmarks, moved twice to the middle of what is nearest to them."""
        n = len(clustering.space)
        rng = np.random.default_rng((seed, 8))
        sample = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
        points = np.asarray(clustering.space[sample], dtype=np.float64)
        count = min(PATCHES, max(1, len(sample) // 6))
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
    """Beliefs about the kinds that the answers have told apart, and the bits that are missing.

    There are two sorts of doubt. Near a border each item is in doubt by itself. And where nobody
    has asked, a whole region may be in the wrong group, however sure the learner is of it.

    Parameters
    ----------
    unseen : share of items that probably belong to a kind that has not come up.
    weight : (regions,) items whose place is open; those of small groups count more.
    common : (regions,) bits of the doubt that the items of a region share.
    single : (regions,) mean bits of their own doubt; less where many answers were given.
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
        """The doubt in a view. `rare`: 0 counts every item the same, 1 every group the same."""
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
        wrong[bare.region(np.setdiff1d(known.touched, placed))] = LOOSE
        single = missing / np.maximum(weight, 1e-12) / (1 + answered)
        common = entropy(np.stack([wrong, 1 - wrong], axis=1))
        return cls(view, regions, known.kinds, bare.unseen, weight, common, single)

    def beliefs(self, items: Ints) -> Floats:
        """(m, kinds + 1) chance of each kind, and last of none of them; answers not considered."""
        clustering = self.view.clustering
        shares = np.asarray(soft(clustering, items), dtype=np.float64) ** SHARPER
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        column = {number: k for k, number in enumerate(clustering.numbers)}
        at = [column[int(clustering.labels[kind[0]])] for kind in self.kinds]
        crowd = np.bincount(at, minlength=shares.shape[1])
        seen = shares[:, at] / np.maximum(crowd[at], 1)
        none = np.maximum(1 - seen.sum(axis=1, keepdims=True), 0)
        found = np.hstack([seen * (1 - self.unseen), none * (1 - self.unseen) + self.unseen])
        return np.asarray((1 - CAUTION) * found + CAUTION / found.shape[1])

    def region(self, items: Ints) -> Ints:
        """The regions that any items lie in."""
        space = np.asarray(self.view.clustering.space[items], dtype=np.float64)
        apart = squared_distances(space, self.regions.landmarks)
        return np.asarray(apart.argmin(axis=1), dtype=np.intp)

    def removed(self, told: Floats, region: Ints) -> Floats:
        """Bits of doubt that placing an item takes away: its own, and that of those around it.

        `told` bits are learnt of the item. No more than that can be learnt of a neighbour, nor more
        than is unknown of it.
        """
        own = told + REACH * self.weight[region] * np.minimum(told, self.single[region])
        return np.asarray(own + self.weight[region] * self.common[region])


def _misplaced(regions: Regions, placed: Floats, answered: Ints) -> Floats:
    """Chance that each region as a whole is in the wrong group, by how far away answers are."""
    apart = squared_distances(regions.landmarks, placed).min(axis=1)
    chance = np.minimum(FAR * apart / max(float(np.median(apart)), 1e-12), FARTHEST)
    return np.asarray(np.where(answered > 0, CAUTION, chance) / (1 + answered))


def entropy(chances: Floats) -> Floats:
    """Bits of each row of chances (m, k).

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    safe = np.clip(chances, 1e-12, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=1).round(9) + 0.0)


def settled(beliefs: Floats) -> Floats:
    """(m, kinds) chance that "does it belong to this kind?" puts an item in its place.

    For beliefs (m, kinds + 1). Yes does. No leaves it to the learner's next guess, which helps as
    often as it is right and harms as often as it is wrong.

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
    """How often the person lately placed an item in the group that the learner thought of first.

    Placements show groups in the order of belief, so the ledger tells. Where the learner is mostly
    wrong, asking "is it this one?" is a waste, however sure it is.
    """
    placed = (a for a in reversed(known.answers) if isinstance(a.question, WhichGroup))
    lately = [a.choice == "1" for a in islice((a for a in placed if a.links), LATELY)]
    return (sum(lately) + 1) / (len(lately) + 2)


def unseen_share(known: Constraints) -> float:
    """Share of items whose kind has probably not come up (Good and Turing): of those placed, the
    share that is alone in its kind."""
    sizes = [len(kind) for kind in known.kinds]
    return sizes.count(1) / sum(sizes) if sizes else 1.0


def _importance(clustering: Clustering, sample: Ints, rare: float) -> Floats:
    """Weights of items with mean one: those of small groups count more."""
    sizes = clustering.memo("planner-sizes", clustering.sizes)
    size = np.array([sizes[number] for number in clustering.numbers], dtype=np.float64)
    weight = size[np.searchsorted(clustering.numbers, clustering.labels[sample])] ** -rare
    return np.asarray(weight / weight.mean())
