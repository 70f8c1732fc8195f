"""Logistic: logistic regression on the answered items, whose kinds are the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import Known, Pairs, checked_constraints, resolved_count
from samekind.clusterers.kmeans.centres import Blocks, nearest
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.linear_head import logistic_regression
from samekind.clusterers.live.seeds import restricted
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_KMEANS_ITEMS = 10_000
"""Items on which the groups are found before two kinds are known."""


class Logistic(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression on the answered items, whose kinds are the classes.

    The baseline that most people would try first, together with the strategy `margin`. Only the
    kinds that the person told apart are learnt; before there are two, k-means finds the groups.
    Answered items in none of the kinds go to the likeliest group that the answers allow.

    Parameters
    ----------
    n_clusters : largest number of groups. None: the kinds seen, and items that no kind may take
        are groups of their own, so that every answer is honoured. With a number, the largest kinds
        are learnt, and answers that need more groups are ignored: wrong ones may have made them.
    strength : inverse of the penalty, for vectors of mean length one. Of 1, 10 and 100, 10 was best
        on held-out pictures of CIFAR10-2 personalised.
    random_state : decides the groups before two kinds are known.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k) chances of the groups, one at answered
        items; only where at least two kinds are known.

    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> told = Constraints.from_links(4, [(0, 3, False)])
    >>> Logistic().fit(X, constraints=told).labels_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self, n_clusters: int | None = None, *, strength: float = 10.0, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.strength = strength
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Learn from the kinds that the answers tell apart. `y` is ignored."""
        X = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], order="C"))
        if not self.strength > 0:
            raise InputError(f"Expected a strength above 0, got {self.strength!r}. Try 10.")
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        known = constraints or Constraints(len(X))
        if self.n_clusters is not None:
            blocks = Blocks.from_constraints(X, None)
            resolved_count(self.n_clusters, X, blocks, np.random.default_rng(0))
        self.__dict__.pop("membership_", None)
        kinds = sorted(known.kinds, key=len, reverse=True)[: self.n_clusters]
        if len(kinds) < 2:
            self._fit_groups(X, known)
        else:
            self._fit_kinds(X, known, kinds)
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        if self._model is None:
            return nearest(X, self._centres)[0]
        chances = self._model.predict_proba(X / self._length)[:, self._columns]
        return np.asarray(chances.argmax(axis=1), dtype=np.intp)

    def _fit_kinds(self, X: Floats, known: Constraints, kinds: Sequence[Ints]) -> None:
        self._length = float(np.linalg.norm(X, axis=1).mean()) or 1.0
        placed = np.concatenate(kinds)
        kind_of = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        self._model: Any = logistic_regression(
            X[placed] / self._length, kind_of, C=self.strength, max_iter=500
        )
        chances = self._model.predict_proba(X / self._length).astype(np.float32)
        chances[placed] = np.eye(len(kinds), dtype=np.float32)[kind_of]
        found = settled(chances, known)
        if self.n_clusters is None or found.membership.shape[1] <= self.n_clusters:
            self.labels_, self.membership_ = found.labels, found.membership
            self._columns = found.columns
            return
        # More groups than wanted: items that opened one go where they are likeliest.
        labels = np.asarray(chances.argmax(axis=1), dtype=np.intp)
        self._columns = np.unique(labels)
        self.labels_ = np.searchsorted(self._columns, labels).astype(np.intp)
        left = chances[:, self._columns] + 1e-12
        self.membership_ = left / left.sum(axis=1, keepdims=True)

    def _fit_groups(self, X: Floats, known: Constraints) -> None:
        """Find groups by k-means, on a sample of a large set, while no two kinds are known."""
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(np.iinfo(np.int32).max)
        rows = np.arange(len(X))
        if len(X) > MAX_KMEANS_ITEMS:
            drawn = np.random.default_rng(seed).choice(len(X), MAX_KMEANS_ITEMS, replace=False)
            rows = np.union1d(drawn, known.touched)
        model = KMeans(self.n_clusters, n_init=3, random_state=seed)
        model.fit(X[rows], constraints=restricted(known, rows))
        self._model, self._centres = None, model.cluster_centers_
        self.labels_ = nearest(X, self._centres)[0]
        self.labels_[rows] = model.labels_
