"""Live: first find the groups, then draw their borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.protocols import View
from samekind.strategies.placement import Patches, Placement, margin

Ints = NDArray[np.intp]

FOUND = 8
"""Placements per group after which its middle is known and its borders are worth more."""


@dataclass(frozen=True)
class Live(Placement):
    """Which of these groups does this belong to? First of typical items, then of those between.

    As long as groups have few placed items, the middles of small patches are asked about, as
    :class:`Placement` does. Then items whose group is least clear come first, each time the one
    among them that is farthest from everything placed so far, so that one border is not asked
    about again and again. Every other question looks at a patch until there are twice as many.

    Parameters
    ----------
    doubtful : share of the items that counts as least clear.
    """

    doubtful: float = 0.02

    def _ranked(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        typical = super()._ranked(view, patches, avoid)
        known = view.constraints
        placed = sum(len(kind) for kind in known.kinds)
        enough = FOUND * max(len(known.kinds), 1)
        if len(known.kinds) < 2 or placed < enough:
            return typical
        between = self._between(view, patches, avoid)
        if placed < 2 * enough and placed % 2:
            between, typical = typical, between
        return np.concatenate([between, np.setdiff1d(typical, between, assume_unique=True)])

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
        from samekind.strategies.exemplars import squared_distances

        space = view.clustering.space
        touched = view.constraints.touched
        return np.asarray(np.round(squared_distances(space[items], space[touched]).min(axis=1), 9))
