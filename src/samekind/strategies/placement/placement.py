"""Placement: over-cluster, ask where the centre of a patch belongs, and let the answer spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import NONE, Question, WhichGroup
from samekind.strategies.exemplars import Floats, choose_exemplars, soft, squared_distances

Ints = NDArray[np.intp]
OTHER_GROUPS = "It did not fit the groups you saw before. Here are the others."
FEW_EXEMPLARS = 2
"""Items that represent a group in a list of many, beyond the nearest ones."""


@dataclass(frozen=True)
class Patches:
    """A fine over-clustering: the medoid of each small patch, and the patch of each item."""

    middles: Ints
    patch_of: Ints
    sample: Ints


@dataclass
class Nearest:
    """Squared distances of some points to the nearest of the items seen so far, kept up to date."""

    seen: set[int]
    apart: Floats

    @classmethod
    def of_none(cls, n: int) -> Nearest:
        """The state before any item was seen."""
        return cls(set(), np.full(n, np.inf))

    def to(self, space: Floats, points: Floats, items: Ints) -> Floats:
        """The distances to `items`; computes only those to items that are new."""
        wanted = set(items.tolist())
        if not self.seen <= wanted:  # an answer was undone
            self.seen, self.apart = set(), np.full(len(points), np.inf)
        new = np.array(sorted(wanted - self.seen), dtype=np.intp)
        if len(new):
            found = squared_distances(points, space[new]).min(axis=1)
            self.seen, self.apart = wanted, np.minimum(self.apart, found)
        return self.apart


@dataclass(frozen=True)
class Placement:
    """Which of these groups does this belong to? Asked of the medoids of small patches.

    The next patch is the most doubtful one: many items, unclear membership, far from everything
    placed so far. The groups nearest to the item are shown first. After "none of these" the
    remaining groups are shown, and an item that fits none of them starts a new group. From eight
    groups on all of them are shown at once.

    Parameters
    ----------
    n_patches : patches per snapshot; more of them ask about finer details.
    sample : number of items from which patches are made.
    exemplars : number of items that represent a group.
    """

    n_patches: int = 150
    sample: int = 6000
    exemplars: int = 4

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` placements; more than one only if groups are already known."""
        known = view.constraints
        patches = self._patches(view)
        avoid = {question.items()[0] for question in view.passed}
        started = unfinished_items(known, avoid)
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
        belief = membership_in(view.clustering, item, open_groups)
        order = np.lexsort((apart, -belief))
        if again:
            why = OTHER_GROUPS
        elif not len(known.touched):
            why = "To start with, two items that look very different."
        else:
            why = self._why(self._patch_size(patches, item))
        return ask_among(space, item, open_groups, order, len(groups), self.exemplars, why)

    def _ranked(self, view: View, patches: Patches, avoid: set[int]) -> Ints:
        """Medoids of patches, most doubtful first, then single items; without placed ones."""
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
        if not known.kinds:  # nothing is known: prefer large patches far from the largest
            anchor = self._anchor(view, patches)
            far = squared_distances(clustering.space[middles], clustering.space[[anchor]])[:, 0]
            return middles[np.lexsort((middles, -far * mass))]
        doubt = self._doubt(view, patches)[[place[int(m)] for m in middles]]
        far = self._apart(view, patches)[[place[int(m)] for m in middles]]
        novelty = np.sqrt(far / (np.median(far) + 1e-12))
        # Rounded for the same ranking on every machine.
        score = np.round(mass * (doubt + 0.1) * novelty, 12)
        return middles[np.lexsort((middles, -score))]

    def _apart(self, view: View, patches: Patches) -> Floats:
        """Squared distance of every medoid to the nearest placed item."""
        space, key = view.clustering.space, ("nearest", self, view.seed)
        middles = space[patches.middles]
        nearest = view.clustering.memo(key, lambda: Nearest.of_none(len(middles)))
        return nearest.to(space, middles, view.constraints.touched)

    def _leftovers(self, clustering: Clustering, patches: Patches, out: set[int]) -> Ints:
        """Once every medoid is placed: the single items whose group is least clear."""
        rest = np.array([i for i in patches.sample.tolist() if i not in out], dtype=np.intp)
        if not len(rest):
            return rest
        return rest[np.lexsort((rest, np.round(margin(clustering, rest), 12)))]

    def _doubt(self, view: View, patches: Patches) -> NDArray[np.floating]:
        """Mean closeness of the two highest memberships over the items of each patch."""

        def compute() -> NDArray[np.floating]:
            doubt = 1 - margin(view.clustering, patches.sample)
            total = np.bincount(patches.patch_of, doubt, minlength=len(patches.middles))
            count = np.bincount(patches.patch_of, minlength=len(patches.middles))
            return np.asarray(total / np.maximum(count, 1))

        return view.clustering.memo(("doubt", self, view.seed), compute)

    def _patches(self, view: View) -> Patches:
        """The patches of a snapshot; they depend on the snapshot and the seed alone."""
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
        with threadpool_limits(1):  # on busy cores more threads are slower
            found = KMeans(k, n_init=1, max_iter=25, random_state=seed).fit(points)
        apart = ((points - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1)
        order = np.lexsort((apart, found.labels_))
        present, first = np.unique(found.labels_[order], return_index=True)
        patch_of = np.searchsorted(present, found.labels_)
        return Patches(sample[order[first]], patch_of.astype(np.intp), sample)

    def _anchor(self, view: View, patches: Patches) -> int:
        touched = view.constraints.touched
        if len(touched):
            return int(touched[0])
        return int(patches.middles[np.bincount(patches.patch_of).argmax()])

    def _first_component(self, view: View) -> set[int]:
        return set(self._first_group(view, self._patches(view)).tolist())

    def _first_group(self, view: View, patches: Patches) -> Ints:
        return view.constraints.component(self._anchor(view, patches))

    def _why(self, size: int) -> str:
        """Say what an answer about an item in a patch of this size is good for."""
        if size > 1:
            return f"Your answer helps place {size} similar items."
        return "Its group is less clear than most."

    def _patch_size(self, patches: Patches, item: int) -> int:
        where = np.flatnonzero(patches.middles == item)
        return int((patches.patch_of == where[0]).sum()) if len(where) else 1


def ask_among(
    space: Floats,
    item: int,
    groups: Sequence[Ints],
    order: Ints,
    n_known: int,
    exemplars: int,
    why: str,
) -> WhichGroup:
    """Ask which of the groups an item belongs to: the nearest few, or all if many are known.

    A few groups keep their places from question to question: where a group is shown must not say
    what the learner believes. Many are shown nearest first, because the list is long.

    Parameters
    ----------
    groups : the groups that it could belong to, in the order in which they were found.
    order : their indices, nearest first.
    n_known : the number of groups, with those that it does not belong to.
    exemplars : items that represent each of the nearest groups.
    """
    shown = order[: WhichGroup.n_shown(n_known)]
    if n_known < WhichGroup.many_groups:
        shown = np.sort(shown)
    few = min(exemplars, FEW_EXEMPLARS)
    sizes = (exemplars if k < WhichGroup.usual_groups else few for k in range(len(shown)))
    chosen = (
        choose_exemplars(space, groups[k], item, size) for k, size in zip(shown, sizes, strict=True)
    )
    complete = n_known >= WhichGroup.many_groups and len(shown) == len(groups)
    return WhichGroup(item, tuple(chosen), why=why, all_groups=complete)


def unfinished_items(known: Constraints, avoid: set[int]) -> list[int]:
    """Items that fit none of the groups shown so far and are in no kind yet, latest first."""
    out = avoid.union(*(kind.tolist() for kind in known.kinds))
    none = (answer.question for answer in reversed(known.answers) if answer.choice == NONE)
    items = (question.item for question in none if isinstance(question, WhichGroup))
    return list(dict.fromkeys(i for i in items if i < known.n_items and i not in out))


def margin(clustering: Clustering, items: Ints) -> NDArray[np.floating]:
    """The difference between the two highest memberships of each item."""
    belief = np.sort(soft(clustering, items), axis=1)
    return np.asarray(belief[:, -1] - (belief[:, -2] if belief.shape[1] > 1 else 0))


def membership_in(clustering: Clustering, item: int, groups: Sequence[Ints]) -> Floats:
    """The membership of an item in the groups that hold these items."""
    row = soft(clustering, np.array([item]))[0]
    column = {number: k for k, number in enumerate(clustering.numbers)}
    return np.array([row[column[int(clustering.labels[g[0]])]] for g in groups])
