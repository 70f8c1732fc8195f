"""Opinions: several ways to carry the answers to all items, each as shares of the groups.

No way is the best one everywhere. Answers spread well where kinds are connected, a cloud around
each kind is better where they are round, a line where the wish cuts across what lies close
together, and the plain groups where the answers are few. :mod:`.pooling` weighs them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.heads import straight_head
from samekind.clusterers.live.orientation import Orientation, spread
from samekind.clusterers.live.seeds import Plain, Seeds

Floats = NDArray[Any]
Ints = NDArray[np.intp]

OPINIONS = ("spread", "clouds", "line", "gathered line", "plain")
"""What spreads over neighbours, a cloud around each kind, a line between kinds, the same where
items have moved towards their neighbours, and the plain groups."""
FLOOR = 0.01
"""Share that each opinion leaves to all groups alike: none rules a group out."""
CLOUD_STEPS = 3
SEED_WEIGHT = 5.0
"""Items that an answered one counts for when the middle of a cloud is found."""
PLAIN_WORTH, ANYTHING = 2.0, 0.1
"""Answers that the kind of a plain group is worth, and any other kind."""


@dataclass(frozen=True, eq=False)
class Pile:
    """Items as they are seen by all opinions.

    Parameters
    ----------
    Z : (m, p) principal components. gathered : the same, each moved towards its neighbours.
    groups : (m,) plain groups.
    latest : items that only the latest answers are about (:mod:`.steadying`).
    """

    Z: Floats
    gathered: Floats
    groups: Ints
    latest: tuple[Ints, ...] = ()

    def at(self, rows: Ints) -> Pile:
        """Some of the items."""
        return Pile(self.Z[rows], self.gathered[rows], self.groups[rows])


@dataclass(frozen=True)
class Manner:
    """How an orientation is learnt and answers spread."""

    shrinkage: float
    n_neighbors: int
    width: int
    balance: float


def opinions(
    pile: Pile, seeds: Seeds, plain: Plain, weight: Floats | None, manner: Manner
) -> Floats:
    """(m, k, opinions) logarithms of the shares of each group.

    The first groups are the kinds of the seeds, the others plain groups that are none of them.
    """
    space = Orientation.learnt(pile.Z, seeds, manner.shrinkage, weight)(pile.Z)
    reached = spread(
        space, seeds, manner.n_neighbors, weight, width=manner.width, prior=plain.source,
        balance=manner.balance,
    )  # fmt: skip
    return following(pile, seeds, plain, weight, manner, space, reached)


def following(
    pile: Pile, seeds: Seeds, plain: Plain, weight: Floats | None, manner: Manner,
    space: Floats, reached: Floats,
) -> Floats:  # fmt: skip
    """The same, where the orientation and what spreads in it are there already."""
    told = replace(seeds, n_kinds=reached.shape[1])
    voted = plain_shares(pile.groups, told, plain)
    near = Orientation.learnt(pile.gathered, seeds, manner.shrinkage, weight)(pile.gathered)
    found = [
        reached,
        clouds(space, reached, seeds, weight),
        _completed(straight_head(space, told, weight)(space), voted, told),
        _completed(straight_head(near, told, weight)(near), voted, told),
        voted,
    ]
    shares = np.stack([(1 - FLOOR) * each + FLOOR / told.n_kinds for each in found], axis=2)
    return np.asarray(np.log(shares))


def clouds(space: Floats, start: Floats, seeds: Seeds, weight: Floats | None) -> Floats:
    """(m, k) shares of round clouds of one width, found by expectation-maximisation from `start`.

    Along the orientation the spread within groups has been whitened, so that clouds are round.
    """
    k = start.shape[1]
    told = np.eye(k)[seeds.labels]
    believed = np.ones(len(seeds.rows)) if weight is None else weight
    shares, squares = start, (space**2).sum(axis=1, keepdims=True)
    for _ in range(CLOUD_STEPS):
        mass = shares.copy()
        mass[seeds.rows] = told * (SEED_WEIGHT * believed)[:, None]
        middles = mass.T @ space / (mass.sum(axis=0)[:, None] + 1e-9)
        distances = squares - 2 * space @ middles.T + (middles**2).sum(axis=1)
        variance = (shares * distances).sum() / space.size
        scores = distances / (-2 * max(variance, 1e-12))
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares)


def plain_shares(groups: Ints, seeds: Seeds, plain: Plain) -> Floats:
    """(m, k) shares of the kinds in the plain group of each item, by the answers within it."""
    k = seeds.n_kinds
    votes = np.full((int(groups.max()) + 1, k), ANYTHING / k)
    np.add.at(votes, (groups[seeds.rows], seeds.labels), 1.0)
    named = np.flatnonzero(plain.kind >= 0)
    column = plain.kind[named]
    votes[named, column] += np.where(_present(seeds)[column], PLAIN_WORTH, plain.worth[named])
    votes /= votes.sum(axis=1, keepdims=True)
    return np.asarray(votes[groups])


def _completed(shares: Floats, voted: Floats, seeds: Seeds) -> Floats:
    """Shares of the kinds, and beside them what the plain groups say of groups without a kind."""
    nameless = ~_present(seeds)
    other = voted[:, nameless]
    shares = shares * (1 - other.sum(axis=1, keepdims=True))
    shares[:, nameless] = other
    return shares


def _present(seeds: Seeds) -> NDArray[np.bool_]:
    """(k,) whether a kind has a seed."""
    return np.asarray(np.bincount(seeds.labels, minlength=seeds.n_kinds) > 0)
