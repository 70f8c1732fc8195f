"""Live: first find the groups, then draw their borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import Question, WhichGroup
from samekind.strategies.exemplars import Floats, squared_distances
from samekind.strategies.placement.placement import Nearest, Patches, Placement, margin

Ints = NDArray[np.intp]

FOUND = 8
"""Placements per group after which its middle is known and its borders are worth more."""
COVERED = 1500
"""Items by which it is judged how well the placed ones cover the pile."""
CLEAR = 0.1
"""How much an item counts whose group is quite clear; one that is quite unclear counts one more."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Some items, how much each counts, and their distances to middles and to placed items."""

    items: Ints
    weight: Floats
    apart: Floats
    nearest: Nearest

    @classmethod
    def of(cls, clustering: Clustering, patches: Patches, seed: int) -> Cover:
        """Of a random part of the sample that the patches were made of."""
        items = patches.sample
        if len(items) > COVERED:
            items = np.sort(np.random.default_rng(seed).choice(items, COVERED, replace=False))
        space = clustering.space
        apart = squared_distances(space[items], space[patches.middles])
        weight = 1 - margin(clustering, items) + CLEAR
        return cls(items, weight, apart, Nearest.of_none(len(items)))


@dataclass(frozen=True)
class Live(Placement):
    """Which of these groups does this belong to? First of typical items, then of those between.

    As long as groups have few placed items, the middles of small patches are asked about, those
    first that bring most items nearer to something placed. Then items whose group is least clear
    come first, each time the one among them that is farthest from everything placed so far, so
    that one border is not asked about again and again. Every other question looks at a patch until
    there are twice as many.

    Parameters
    ----------
    doubtful : share of the items that counts as least clear.
    check_every : of so many questions one is a random check of the quality; 0: none.
    """

    doubtful: float = 0.02
    check_every: int = 8

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements, a random check among them where one is due."""
        due = self.check_every and view.spent % self.check_every == self.check_every - 1
        check = self._check(view) if due and len(view.constraints.kinds) >= 2 else None
        if check is None:
            return super().propose(view, n)
        rest = super().propose(view, n - 1) if n > 1 else ()
        return (check, *(q for q in rest if q.items()[0] != check.item))

    def _check(self, view: View) -> WhichGroup | None:
        """Where does an item drawn at random belong?"""
        known = view.constraints
        avoid = {question.items()[0] for question in view.passed}
        out = np.zeros(known.n_items, dtype=bool)
        out[known.touched] = True
        out[[i for i in avoid if i < known.n_items]] = True
        open_items = np.flatnonzero(~out)
        if not len(open_items):
            return None
        item = int(view.rng.choice(open_items))
        question = self._question(view, self._patches(view), item, False)
        if question is None:
            return None
        return replace(question, at_random=True, why="A random check: do the groups fit?")

    def _ranked(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        known = view.constraints
        typical = self._covering(view, patches, avoid) if known.kinds else patches.middles[:0]
        if not len(typical):
            typical = super()._ranked(view, patches, avoid)
        placed = sum(len(kind) for kind in known.kinds)
        enough = FOUND * max(len(known.kinds), 1)
        if len(known.kinds) < 2 or placed < enough:
            return typical
        between = self._between(view, patches, avoid)
        if placed < 2 * enough and placed % 2:
            between, typical = typical, between
        return np.concatenate([between, np.setdiff1d(typical, between, assume_unique=True)])

    def _covering(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        """Middles of patches, those first that bring most items nearer to something placed.

        How much nearer, summed over a sample of the items, counts large and far regions alike and
        never prefers an outlier; items whose group is unclear count more.
        """
        known, space = view.constraints, view.clustering.space
        out = np.isin(patches.middles, known.touched) | np.isin(patches.middles, list(avoid))
        if out.all():
            return patches.middles[:0]
        cover = view.clustering.memo(
            ("cover", self, view.seed), lambda: Cover.of(view.clustering, patches, view.seed)
        )
        apart = cover.nearest.to(space, space[cover.items], known.touched)
        gain = cover.weight @ np.maximum(apart[:, None] - cover.apart, 0.0)  # (patches,)
        order = np.lexsort((patches.middles, -np.round(gain, 9)))
        return patches.middles[order[~out[order]]]

    def _between(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        """Items between groups, the one farthest from all placed ones first."""
        known, clustering = view.constraints, view.clustering
        sample = patches.sample
        out = np.isin(sample, known.touched) | np.isin(sample, list(avoid))
        clear = clustering.memo(
            ("margin", self, view.seed), lambda: np.round(margin(clustering, sample), 12)
        )
        order = np.lexsort((sample, clear))
        order = order[~out[order]][: max(50, int(self.doubtful * len(sample)))]
        items = sample[order]
        if not len(items):
            return items
        apart = self._apart_of(view, items)
        return items[np.lexsort((items, -apart))]

    def _apart_of(self, view: View, items: Ints) -> NDArray[np.floating]:
        space = view.clustering.space
        touched = view.constraints.touched
        return np.asarray(np.round(squared_distances(space[items], space[touched]).min(axis=1), 9))
