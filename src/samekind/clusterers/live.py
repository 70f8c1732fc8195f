"""Live: groups from few answers within a second, also for a million items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.graph import Reference, one_thread, spread
from samekind.clusterers.group_count import checked_constraints
from samekind.clusterers.kmeans import KMeans
from samekind.clusterers.linear_head import LinearHead
from samekind.clusterers.orientation import Axes, Orientation
from samekind.clusterers.reliability import Reliability
from samekind.clusterers.seeds import Seeds, placed, restricted
from samekind.constraints import Constraints
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]

WIDTH = 32
"""Coordinates that are kept of each item: those that say most of the groups come first."""
FEWEST, MOST, PER_ANSWER = 4000, 10_000, 20
"""Items on which answers spread: more with more answers, as finer borders can be drawn."""


class Live(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups from few, partly wrong answers: learn what matters, spread the answers, distil.

    1. The kinds that answers tell apart are groups. While new kinds keep turning up, regions that
       no answer has reached keep the groups of a plain clustering.
    2. A linear classifier on the answers shows in which directions the person's groups differ;
       the spread within groups is whitened away. This is the orientation.
    3. In that space the answers spread over a neighbour graph of some thousand items. Answers that
       the others contradict (see :class:`~samekind.clusterers.reliability.Reliability`) spread
       less; their own items stay where the person put them.
    4. A linear head learns what has spread and places all other items by one matrix product.

    Parameters
    ----------
    n_clusters : groups to end with; None: as many as the answers show, and what they leave open.
    n_components : principal components that are looked at.
    shrinkage : 0 trusts the learnt orientation, 1 ignores it.
    n_neighbors : of the graph.
    n_reference : items on which the graph is built; None: 4,000, and more from 200 answers on.
    trusting : True takes every answer for right.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) along the orientation.
    reliability_ : how likely each answered item's group is what was meant, or None.

    >>> rng = np.random.default_rng(0)
    >>> up = np.arange(40) % 2  # what matters; the other column spreads three times as far
    >>> X = np.stack([3 * rng.normal(size=40), 4 * up + rng.normal(size=40)], axis=1)
    >>> told = Constraints.from_links(40, [(0, k, k % 2 == 0) for k in range(1, 12)])
    >>> Live(random_state=0).fit(X, constraints=told).n_clusters_
    2
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int = 100,
        shrinkage: float = 0.3,
        n_neighbors: int = 10,
        n_reference: int | None = None,
        trusting: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.trusting = trusting
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = validate_data(self, X, dtype=[np.float32, np.float64], ensure_min_samples=2)
        known = checked_constraints(constraints, len(X)) or Constraints(len(X))
        if self.n_clusters is not None and not 1 <= self.n_clusters <= len(X):
            raise InputError(
                f"{self.n_clusters} groups cannot be made of {len(X)} items (n_samples={len(X)}). "
                f"Ask for 1 to {len(X)} groups, or for None."
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        rows = self._reference_rows(len(X), known.touched, rng)
        with one_thread(len(rows)):
            self._axes = Axes.of(X, rows, self.n_components)
            Z = self._axes(X[rows])  # (m, p)
            answers = restricted(known, rows)
            seeds = self._seeds(Z, answers, int(rng.integers(2**31)))
            self._reference = self._learnt(Z, seeds, answers, rows)
            self._head = None if len(rows) == len(X) else LinearHead.of(self._reference)
        self._label_all(X, rows, np.searchsorted(rows, known.touched))
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float32, np.float64], reset=False)
        found = [self._strength(self._turned(X[part])).argmax(axis=1) for part in _parts(len(X))]
        return np.concatenate(found).astype(np.intp)

    def _reference_rows(self, n: int, touched: Ints, rng: np.random.Generator) -> Ints:
        """All items, or a random sample that holds every answered one; ascending."""
        most = self.n_reference or int(np.clip(PER_ANSWER * len(touched), FEWEST, MOST))
        if n <= most:
            return np.arange(n)
        drawn = rng.choice(n, size=most, replace=False)
        return np.union1d(touched, drawn[: max(0, most - len(touched))])

    def _seeds(self, Z: Floats, answers: Constraints, seed: int) -> Seeds:
        """The kinds told apart, completed by plain groups where the answers leave room."""
        seeds = Seeds.from_answers(answers)
        unseen = unseen_share(seeds, answers)
        short = self.n_clusters is not None and seeds.n_kinds < self.n_clusters
        if seeds.n_kinds >= 2 and not short and (self.n_clusters is not None or unseen == 0):
            return seeds
        if seeds.n_kinds < 2 and self.n_clusters == 1:
            return seeds
        start = KMeans(self.n_clusters, n_init=2, random_state=seed)
        groups = start.fit(Z, constraints=answers).labels_
        if seeds.n_kinds < 2:
            return Seeds.from_groups(groups)
        return seeds.completed(Z, groups, answers.touched, share=1.0 if short else unseen)

    def _learnt(self, Z: Floats, seeds: Seeds, answers: Constraints, rows: Ints) -> Reference:
        """Reference items along the orientation, with the strength of each group."""
        self.reliability_ = None
        if seeds.everywhere or seeds.n_kinds < 2:
            whole = Orientation.unchanged(Z)
            strength = np.eye(max(seeds.n_kinds, 1))[
                seeds.labels if seeds.everywhere else np.zeros(len(Z), dtype=np.intp)
            ]
            return Reference(whole, whole(Z), strength)
        weight = None
        for again in (False, True):  # the second time with the components placed by the first
            orientation = Orientation.learnt(Z, seeds, self.shrinkage, weight)
            space = orientation(Z)
            if not self.trusting:
                found = Reliability.of(Z, space, seeds, np.isin(seeds.rows, answers.touched))
                weight = found.weight
                self.reliability_ = found.at(rows[seeds.rows])
            strength = spread(space, seeds, self.n_neighbors, weight, width=WIDTH)
            seeds = placed(seeds, strength, answers)
            if weight is not None and not again:
                weight = np.pad(weight, (0, len(seeds.rows) - len(weight)), constant_values=1.0)
        strength = np.pad(strength, ((0, 0), (0, seeds.n_kinds - strength.shape[1])))
        own = np.isin(seeds.rows, answers.touched)
        strength[seeds.rows[own]] = np.eye(seeds.n_kinds)[seeds.labels[own]]
        return Reference(orientation, space, strength)

    def _label_all(self, X: Floats, rows: Ints, answered: Ints) -> None:
        """Groups of all items: where all are reference items theirs, else those of the head."""
        n, k = len(X), self._reference.strength.shape[1]
        width = min(WIDTH, self._reference.space.shape[1])
        space = np.empty((n, width), dtype=np.float32)
        strength = np.empty((n, k), dtype=np.float32 if n * k <= 10_000_000 else np.float16)
        for part in _parts(n):
            turned = self._turned(X[part])
            space[part] = turned[:, :width]
            if self._head is not None:
                strength[part] = self._head(turned)
        if self._head is None:
            strength[rows] = self._reference.strength
        else:
            strength[rows[answered]] = self._reference.strength[answered]
        labels = np.concatenate([strength[part].argmax(axis=1) for part in _parts(n)])
        present = np.flatnonzero(np.bincount(labels, minlength=k))
        if len(present) < k:
            strength = strength[:, present]
            labels = np.searchsorted(present, labels)
            self._reference = self._reference.only(present)
            self._head = None if self._head is None else self._head.only(present)
        total = strength.sum(axis=1, keepdims=True, dtype=np.float32)
        strength /= np.maximum(total, 1e-12).astype(strength.dtype)
        self.membership_, self.space_, self.labels_ = strength, space, labels.astype(np.intp)
        self.n_clusters_ = len(present)

    def _turned(self, X: Floats) -> NDArray[np.float32]:
        """Any items along the orientation; two linear maps are one product."""
        turn = (self._axes.axes @ self._reference.orientation.turn).astype(np.float32)
        shift = np.asarray(self._axes.mean @ turn, dtype=np.float32)
        return np.asarray(np.asarray(X, dtype=np.float32) @ turn - shift)

    def _strength(self, turned: Floats) -> Floats:
        if self._head is not None:
            return self._head(turned)
        return self._reference.vote(turned, self.n_neighbors)


def unseen_share(seeds: Seeds, answers: Constraints) -> float:
    """Share of items whose kind has probably not come up yet (Good and Turing).

    The share of answered items that are still alone in their kind. Questions look for what is new,
    so this is rather too large than too small; it falls to nothing as kinds are met again.
    """
    if not seeds.n_kinds:
        return 1.0
    sizes = np.bincount(seeds.labels, minlength=seeds.n_kinds)
    if len(seeds.rows) < 0.5 * len(answers.touched):  # pairs: most items are in no kind yet
        return 1.0
    alone = float((sizes == 1).sum() / len(seeds.rows))
    return alone if alone > 0.05 else 0.0


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, min(start + 65_536, n)) for start in range(0, n, 65_536))
