"""Uncertain pairs: the two items about which the groups say least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.protocols import View
from samekind.questions import Question, SamePair


@dataclass(frozen=True)
class Uncertainty:
    """Pairs whose chance of being the same kind is closest to one half.

    Parameters
    ----------
    candidates : pairs drawn and scored per question; more finds a better one, slower. Half are
        drawn at random, half are items with one of their near neighbours in the space.
    """

    candidates: int = 2000

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` most uncertain pairs among the candidates, none implied, none sharing an item."""
        a, b = self._pairs(view)
        doubt = -np.abs(same_chance(view.clustering, a, b) - 0.5)
        chosen: list[Question] = []
        used: set[int] = set()
        passed = {frozenset(question.items()) for question in view.passed}
        for k in np.argsort(-doubt, kind="stable"):
            i, j = int(a[k]), int(b[k])
            if {i, j} & used or frozenset((i, j)) in passed:
                continue
            if view.constraints.same(i, j) is None:
                chosen.append(SamePair(i, j, why="The groups cannot tell whether these two agree."))
                used |= {i, j}
                if len(chosen) == n:
                    break
        return tuple(chosen)

    def _pairs(self, view: View) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        n_items = view.constraints.n_items
        half = self.candidates // 2
        a = view.rng.integers(0, n_items, size=self.candidates)
        b = view.rng.integers(0, n_items, size=self.candidates)
        # A near neighbour found among a random handful: no neighbour index has to be built.
        handful = view.rng.integers(0, n_items, size=(half, 16))  # (half, 16)
        space = view.clustering.space
        apart = ((space[handful] - space[a[:half], None]) ** 2).sum(-1)  # (half, 16)
        apart[handful == a[:half, None]] = np.inf
        b[:half] = handful[np.arange(half), apart.argmin(1)]
        different = a != b
        return a[different].astype(np.intp), b[different].astype(np.intp)


def same_chance(
    clustering: Clustering, a: NDArray[np.intp], b: NDArray[np.intp]
) -> NDArray[np.floating]:
    """The chance that pairs are one kind: inner product of their memberships."""
    return np.asarray((soft(clustering, a) * soft(clustering, b)).sum(axis=1))


def soft(clustering: Clustering, items: NDArray[np.intp]) -> NDArray[np.floating]:
    """(m, k) membership of some items; from distances to the group means when there is none."""
    if clustering.membership is not None:
        return clustering.membership[items]
    centres, scale = clustering.memo("centres", lambda: _centres(clustering))
    apart = ((clustering.space[items][:, None] - centres[None]) ** 2).sum(-1)  # (m, k)
    logits = -(apart - apart.min(axis=1, keepdims=True)) / (2 * scale)
    weight = np.exp(logits)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _centres(clustering: Clustering) -> tuple[NDArray[np.floating], float]:
    """Group means, and the mean squared distance of a sample of items to their own mean."""
    index = np.searchsorted(clustering.numbers, clustering.labels)
    sums = np.zeros((clustering.n_groups, clustering.space.shape[1]))
    np.add.at(sums, index, clustering.space)
    centres = sums / np.bincount(index, minlength=clustering.n_groups)[:, None]
    sample = slice(None, None, max(1, len(index) // 20000))
    within = ((clustering.space[sample] - centres[index[sample]]) ** 2).sum(axis=1)
    return centres, max(float(within.mean()), 1e-12)
