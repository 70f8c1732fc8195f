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
from samekind.strategies.placement.placement import (
    FEW_EXEMPLARS,
    Nearest,
    Patches,
    Placement,
    margin,
)

Ints = NDArray[np.intp]

PLACEMENTS_PER_GROUP = 8
"""Placements after which the centre of a group is known, and its borders are worth more."""
MAX_COVERED_ITEMS = 1500
"""Items on which it is judged how well the placed items cover the collection."""
MIN_WEIGHT = 0.1
"""Weight of an item whose group is clear; that of an unclear item is one higher."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Some items with their weights, and their distances to medoids and to placed items."""

    items: Ints
    weight: Floats
    apart: Floats
    nearest: Nearest

    @classmethod
    def of(cls, clustering: Clustering, patches: Patches, seed: int) -> Cover:
        """Take a random part of the sample that the patches were made of."""
        items = patches.sample
        if len(items) > MAX_COVERED_ITEMS:
            rng = np.random.default_rng(seed)
            items = np.sort(rng.choice(items, MAX_COVERED_ITEMS, replace=False))
        space = clustering.space
        apart = squared_distances(space[items], space[patches.middles])
        weight = 1 - margin(clustering, items) + MIN_WEIGHT
        return cls(items, weight, apart, Nearest.of_none(len(items)))


@dataclass(frozen=True)
class Live(Placement):
    """Which of these groups does this belong to? Asked of typical items, then of borderline ones.

    As long as groups have few placed items, it asks about the medoids of small patches, first those
    that bring the most items close to a placed one. Then it asks about the items whose group is
    least clear, each time the one farthest from everything placed, so that no border is asked about
    again and again. In between, every other question is about a patch.

    Parameters
    ----------
    doubtful : share of the items that count as least clear.
    check_every : one in this many questions is a random check of the quality; 0: none.
    """

    doubtful: float = 0.02
    check_every: int = 8

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements, including a random check if one is due."""
        due = self.check_every and view.spent % self.check_every == self.check_every - 1
        check = self._check(view) if due and len(view.constraints.kinds) >= 2 else None
        if check is None:
            return super().propose(view, n)
        rest = super().propose(view, n - 1) if n > 1 else ()
        return (check, *(q for q in rest if q.items()[0] != check.item))

    def _check(self, view: View) -> WhichGroup | None:
        """Ask where a random item belongs, in a question that looks like any other."""
        known = view.constraints
        avoid = {question.items()[0] for question in view.passed}
        out = np.zeros(known.n_items, dtype=bool)
        out[known.touched] = True
        out[[i for i in avoid if i < known.n_items]] = True
        open_items = np.flatnonzero(~out)
        if not len(open_items):
            return None
        item = int(view.rng.choice(open_items))
        patches = self._patches(view)
        question = self._question(view, patches, item, False)
        if question is None:
            return None
        place = {int(i): k for k, kind in enumerate(known.kinds) for i in kind}
        groups = tuple(sorted(question.groups, key=lambda group: place[group[0]]))
        if len(known.kinds) >= WhichGroup.many_groups:  # else the nearest have more exemplars
            groups = tuple(group[:FEW_EXEMPLARS] for group in groups)
        space = view.clustering.space
        nearest = int(squared_distances(space[[item]], space[patches.middles]).argmin())
        why = self._why(int((patches.patch_of == nearest).sum()))
        return replace(question, groups=groups, at_random=True, why=why)

    def _ranked(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        known = view.constraints
        typical = self._covering(view, patches, avoid) if known.kinds else patches.middles[:0]
        if not len(typical):
            typical = super()._ranked(view, patches, avoid)
        placed = sum(len(kind) for kind in known.kinds)
        enough = PLACEMENTS_PER_GROUP * max(len(known.kinds), 1)
        if len(known.kinds) < 2 or placed < enough:
            return typical
        between = self._between(view, patches, avoid)
        if placed < 2 * enough and placed % 2:
            between, typical = typical, between
        return np.concatenate([between, np.setdiff1d(typical, between, assume_unique=True)])

    def _covering(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        """Medoids of patches, first those that bring the most items close to a placed one.

        The reduction of distance, summed over a sample of the items, favours large and distant
        regions but never an outlier. Items whose group is unclear count more.
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
        """Items between groups, the one farthest from all placed items first."""
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
