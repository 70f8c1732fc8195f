"""Placement: over-cluster, ask where a typical item belongs, and let the answer spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Question, WhichGroup
from samekind.strategies.exemplars import Floats, shown, squared_distances
from samekind.strategies.pairs.uncertainty import soft

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Patches:
    """A fine over-clustering: for each small patch its middle item, and how much it stands for."""

    middles: Ints
    patch_of: Ints
    sample: Ints


@dataclass
class Nearest:
    """Squared distances of some points to the nearest of the items seen so far."""

    seen: set[int]
    apart: Floats

    @classmethod
    def of_none(cls, n: int) -> Nearest:
        """Before any item was seen."""
        return cls(set(), np.full(n, np.inf))

    def to(self, space: Floats, points: Floats, items: Ints) -> Floats:
        """The distances to `items`, by those to the ones that were not yet among them."""
        wanted = set(items.tolist())
        if not self.seen <= wanted:  # an answer was taken back
            self.seen, self.apart = set(), np.full(len(points), np.inf)
        new = np.array(sorted(wanted - self.seen), dtype=np.intp)
        if len(new):
            found = squared_distances(points, space[new]).min(axis=1)
            self.seen, self.apart = wanted, np.minimum(self.apart, found)
        return self.apart


@dataclass(frozen=True)
class Placement:
    """Which of these groups does this belong to? Asked of the middles of small patches of items.

    The next patch is the one that holds the most doubt: many items, unclear membership, far from
    everything placed so far. The groups nearest to the item are shown first; after "none of these"
    the remaining groups are shown, and an item that fits none of them opens a new group.

    Parameters
    ----------
    n_patches : patches per snapshot; more ask about finer details.
    sample : items from which patches are made.
    exemplars : how many items show what a group is.
    """

    n_patches: int = 150
    sample: int = 6000
    exemplars: int = 4

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements; more than one only when the groups are already known."""
        known = view.constraints
        patches = self._patches(view)
        avoid = {question.items()[0] for question in view.passed}
        started = dict.fromkeys(self._unfinished(known, avoid))
        questions = []
        for item in dict.fromkeys((*started, *self._ranked(view, patches, avoid).tolist())):
            question = self._question(view, patches, item, item in started)
            if question is not None:
                questions.append(question)
                if len(questions) == n or not known.kinds:
                    break
        return tuple(questions)

    def _question(self, view: View, patches: Patches, item: int, again: bool) -> WhichGroup | None:
        known, space = view.constraints, view.clustering.space
        groups = list(known.kinds) or [self._first_group(view, patches)]
        open_groups = [g for g in groups if len(g) and known.same(item, int(g[0])) is None]
        if not open_groups:
            return None
        apart = [squared_distances(space[[item]], space[g]).min() for g in open_groups]
        belief = _belief(view.clustering, item, open_groups)
        order = np.lexsort((apart, -belief))[: WhichGroup.max_groups]
        nearest = [shown(space, open_groups[k], item, self.exemplars) for k in order]
        if again:
            why = "It fitted none of the groups shown before: here are the others."
        elif not known.kinds:
            why = "The first question: two items that look very different."
        elif (count := self._stands_for(patches, item)) > 1:
            why = f"It stands for {count} items whose group is unclear."
        else:
            why = "Its group is less clear than that of others."
        return WhichGroup(item, tuple(nearest), why=why)

    def _ranked(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        """Middles of patches, most doubt first, then single items; placed ones are left out."""
        known, clustering = view.constraints, view.clustering
        settled = set(known.touched.tolist()) if known.kinds else self._first_component(view)
        middles = np.array(
            [m for m in patches.middles.tolist() if m not in settled and m not in avoid],
            dtype=np.intp,
        )
        if not len(middles):
            return self._leftovers(clustering, patches, settled | avoid)
        sizes = np.bincount(patches.patch_of, minlength=len(patches.middles))
        place = {int(m): k for k, m in enumerate(patches.middles)}
        mass = sizes[[place[int(m)] for m in middles]] / len(patches.sample)
        if not known.kinds:  # nothing is known: far from the largest patch, and large
            anchor = self._anchor(view, patches)
            far = squared_distances(clustering.space[middles], clustering.space[[anchor]])[:, 0]
            return middles[np.lexsort((middles, -far * mass))]
        doubt = self._doubt(view, patches)[[place[int(m)] for m in middles]]
        far = self._apart(view, patches)[[place[int(m)] for m in middles]]
        novelty = np.sqrt(far / (np.median(far) + 1e-12))
        # Rounded, so that the same ranking comes out on every machine.
        score = np.round(mass * (doubt + 0.1) * novelty, 12)
        return middles[np.lexsort((middles, -score))]

    def _apart(self, view: View, patches: Patches) -> Floats:
        """Squared distance of every middle to the nearest placed item.

        Thousands may be placed, but few of them since the question before: only those are new.
        """
        space, key = view.clustering.space, ("nearest", self, view.seed)
        middles = space[patches.middles]
        nearest = view.clustering.memo(key, lambda: Nearest.of_none(len(middles)))
        return nearest.to(space, middles, view.constraints.touched)

    def _leftovers(self, clustering: Clustering, patches: Patches, out: set[int]) -> Ints:
        """When every middle is placed: the single items whose group is least clear."""
        rest = np.array([i for i in patches.sample.tolist() if i not in out], dtype=np.intp)
        if not len(rest):
            return rest
        return rest[np.lexsort((rest, np.round(margin(clustering, rest), 12)))]

    def _doubt(self, view: View, patches: Patches) -> NDArray[np.floating]:
        """Mean closeness of the two strongest groups over the items of each patch."""

        def compute() -> NDArray[np.floating]:
            doubt = 1 - margin(view.clustering, patches.sample)
            total = np.bincount(patches.patch_of, doubt, minlength=len(patches.middles))
            count = np.bincount(patches.patch_of, minlength=len(patches.middles))
            return np.asarray(total / np.maximum(count, 1))

        return view.clustering.memo(("doubt", self, view.seed), compute)

    def _patches(self, view: View) -> Patches:
        """The patches of a snapshot; the same snapshot and seed give the same patches."""
        key = ("patches", self, view.seed)
        return view.clustering.memo(key, lambda: self._over_clustered(view.clustering, view.seed))

    def _over_clustered(self, clustering: Clustering, seed: int) -> Patches:
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        n = len(clustering.space)
        sample = np.arange(n)
        if n > self.sample:
            sample = np.sort(np.random.default_rng(seed).choice(n, self.sample, replace=False))
        points = np.asarray(clustering.space[sample], dtype=np.float64)
        k = min(self.n_patches, max(2, len(sample) // 2), len(np.unique(points, axis=0)))
        with threadpool_limits(1):  # on busy cores threads would wait longer than they work
            found = KMeans(k, n_init=1, max_iter=25, random_state=seed).fit(points)
        apart = ((points - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1)
        order = np.lexsort((apart, found.labels_))
        present, first = np.unique(found.labels_[order], return_index=True)
        patch_of = np.searchsorted(present, found.labels_)
        return Patches(sample[order[first]], patch_of.astype(np.intp), sample)

    def _unfinished(self, known: Constraints, avoid: set[int]) -> list[int]:
        """Items that fit none of the groups shown so far, and were not compared with all."""
        kinds = known.kinds
        out = avoid.union(*(kind.tolist() for kind in kinds))
        placed = (a for a in reversed(known.answers) if isinstance(a.question, WhichGroup))
        none = (_placed_item(a.question) for a in placed if a.choice == "none")
        return list(dict.fromkeys(i for i in none if i < known.n_items and i not in out))

    def _anchor(self, view: View, patches: Patches) -> int:
        touched = view.constraints.touched
        if len(touched):
            return int(touched[0])
        return int(patches.middles[np.bincount(patches.patch_of).argmax()])

    def _first_component(self, view: View) -> set[int]:
        return set(self._first_group(view, self._patches(view)).tolist())

    def _first_group(self, view: View, patches: Patches) -> Ints:
        return view.constraints.component(self._anchor(view, patches))

    def _stands_for(self, patches: Patches, item: int) -> int:
        where = np.flatnonzero(patches.middles == item)
        return int((patches.patch_of == where[0]).sum()) if len(where) else 1


def _placed_item(question: Question) -> int:
    return question.item if isinstance(question, WhichGroup) else question.items()[0]


def margin(clustering: Clustering, items: Ints) -> NDArray[np.floating]:
    """How much more strongly each item belongs to its first group than to its second."""
    belief = np.sort(soft(clustering, items), axis=1)
    return np.asarray(belief[:, -1] - (belief[:, -2] if belief.shape[1] > 1 else 0))


def _belief(clustering: Clustering, item: int, groups: Sequence[Ints]) -> NDArray[np.floating]:
    """How strongly the item is thought to belong to the groups in which these items stand."""
    row = soft(clustering, np.array([item]))[0]
    column = {number: k for k, number in enumerate(clustering.numbers)}
    return np.array([row[column[int(clustering.labels[g[0]])]] for g in groups])
