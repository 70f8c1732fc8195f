"""NPU: the item whose kind is least clear, per question that it takes to find out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.strategies.exemplars import Floats
from samekind.strategies.pairs.entropy import entropy
from samekind.strategies.pairs.minmax import Ints, MinMax


@dataclass(frozen=True)
class NPU(MinMax):
    """The item whose kind is least clear per expected question, compared kind by kind.

    Normalised point-based uncertainty (Xiong, Azimi and Fern, TKDE 2014). A random forest learns
    the current groups; the similarity of two items is the share of trees that put them into the
    same leaf. The probability of a kind is the mean similarity to its items. An item is worth the
    entropy of these probabilities divided by the expected number of questions if the likeliest
    kind is asked about first. (The program active-semi-supervised-clustering does not sort the
    probabilities before it counts questions.) Before two kinds are known, the item farthest from
    the first is asked about.

    Parameters
    ----------
    trees : in the forest. sample : number of items that are considered in a large set.
    """

    sample: int = 3000
    trees: int = 50

    def _worth(self, view: View, pool: Ints, kinds: Sequence[Ints]) -> Floats:
        if len(kinds) < 2:
            return super()._worth(view, pool, kinds)
        chances = self._chances(view, pool, kinds)
        asked = -np.sort(-chances, axis=1) @ np.arange(1, len(kinds) + 1)
        return np.asarray(entropy(chances) / asked)

    def _likeness(self, view: View, item: int, kinds: Sequence[Ints]) -> Floats:
        """Rank kinds by probability, ties by distance."""
        near = super()._likeness(view, item, kinds)
        if len(view.constraints.kinds) < 2:
            return near
        chances = np.round(self._chances(view, np.array([item]), kinds)[0], 9)
        rank = np.empty(len(kinds))
        rank[np.lexsort((near, chances))] = np.arange(len(kinds))
        return rank

    def _why(self, view: View, item: int) -> str:
        if item in view.constraints.touched or len(view.constraints.kinds) < 2:
            return super()._why(view, item)
        return "Its group is less clear than any other."

    def _chances(self, view: View, items: Ints, kinds: Sequence[Ints]) -> Floats:
        """(m, k) probability of each kind: mean share of trees that put them together."""
        clustering = view.clustering
        key = ("forest", self, view.seed)
        leaves = clustering.memo(key, lambda: self._leaves(clustering, view.seed))
        members, sizes = np.concatenate(kinds), [len(kind) for kind in kinds]
        kind_of = np.repeat(np.arange(len(kinds)), sizes)
        met = np.zeros((len(items), len(kinds)))
        for leaf in leaves:  # (n,) of one tree
            there = np.zeros((int(leaf.max()) + 1, len(kinds)))
            np.add.at(there, (leaf[members], kind_of), 1.0)
            met += there[leaf[items]]
        met /= np.array(sizes)
        total = met.sum(axis=1, keepdims=True)
        return np.where(total > 0, met / np.maximum(total, 1e-12), 1 / len(kinds))

    def _leaves(self, clustering: Clustering, seed: int) -> Ints:
        """(trees, n) the leaf of every item in every tree."""
        from sklearn.ensemble import RandomForestClassifier

        n = len(clustering.labels)
        rows = np.arange(n)
        if n > self.sample:
            rows = np.random.default_rng((seed, n)).choice(n, self.sample, replace=False)
        forest = RandomForestClassifier(self.trees, random_state=seed, n_jobs=1)
        forest.fit(clustering.space[rows], clustering.labels[rows])
        found = np.empty((self.trees, n), dtype=np.intp)
        for at in range(0, n, 65_536):
            found[:, at : at + 65_536] = forest.apply(clustering.space[at : at + 65_536]).T
        return found
