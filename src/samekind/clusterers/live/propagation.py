"""Propagation: answers spread to all items that look alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import (
    Known,
    Pairs,
    check_count,
    check_size,
    checked_constraints,
)
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.heads import strongest
from samekind.clusterers.live.orientation import (
    Axes,
    Orientation,
    Reference,
    single_threaded,
    spread,
)
from samekind.clusterers.live.portable import PortableHead
from samekind.clusterers.live.seeds import Seeds, reference_rows, restricted
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_SINGLE_PRECISION_ITEMS = 200_000
"""Beyond this many items fewer coordinates and half-precision memberships are kept, so that memory
stays near that of the vectors."""


class Propagation(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups from few answers: learn which differences matter, then let each answer spread.

    1. The kinds that the answers tell apart are the groups; each brings the items placed in it.
    2. A regularised linear classifier on principal components guesses the rest.
    3. Directions in which items of one guessed group differ are shrunk (within-group whitening):
       this is the person's orientation.
    4. In that space the answers spread over a neighbour graph, and every item takes the group that
       reaches it most strongly.

    With fewer than two known kinds there is nothing to learn from, and pairs leave most answered
    items in no kind: then the result is that of
    :class:`~samekind.clusterers.kmeans.constrained.KMeans`. Every answer is honoured: items that no
    known kind can take open a group of their own.

    Parameters
    ----------
    n_clusters : groups to end with; None: as many as the answers have shown, or a guess where they
        leave it open. Never fewer than the answers prove. Groups that no answer has reached yet
        are taken from k-means.
    n_components : principal components that are used.
    shrinkage : 0 trusts the learnt orientation, 1 ignores it.
    n_neighbors : of the graph; fewer follow thinner structures, more are steadier.
    n_reference : items on which the graph is built (all, up to this many); the others take their
        group from the nearest of these. Memory and time grow with its square.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k) how strongly each group reaches it.
    space_ : (n, d) the items along the learnt orientation.

    >>> rng = np.random.default_rng(0)
    >>> up = np.arange(40) % 2  # what matters; the other column spreads three times as far
    >>> X = np.stack([3 * rng.normal(size=40), 4 * up + rng.normal(size=40)], axis=1)
    >>> told = Constraints.from_links(40, [(0, k, k % 2 == 0) for k in range(1, 12)])
    >>> Propagation(random_state=0).fit(X, constraints=told).n_clusters_
    2
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int = 100,
        shrinkage: float = 0.3,
        n_neighbors: int = 10,
        n_reference: int = 4000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
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
        """Group the rows of X. `y` is ignored."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        known = constraints or Constraints(len(X))
        check_count(self.n_clusters, len(X))
        check_size(X)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        rows = reference_rows(len(X), known.touched, self.n_reference, rng)
        with single_threaded(len(rows)):
            self._axes = Axes.of(X, rows, self.n_components)
            Z = self._axes(X[rows])  # (m, p)
            answers = restricted(known, rows)
            start = KMeans(self.n_clusters, n_init=2, random_state=int(rng.integers(2**31)))
            seeds = Seeds.from_answers(answers)
            pairs = len(seeds.rows) < 0.5 * len(answers.touched)  # most items are in no kind
            if self.n_clusters != 1 and (seeds.n_kinds < 2 or pairs):
                seeds = Seeds.from_groups(start.fit(Z, constraints=answers).labels_)
            elif self.n_clusters is not None and seeds.n_kinds < self.n_clusters:
                found = start.fit(Z, constraints=answers).labels_
                seeds = seeds.completed(Z, found, answers.touched)
            self._reference = self._learnt(Z, seeds, answers)
        self._label_all(X, rows)
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items: those of the items most like them."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return np.asarray(self._members(X)[1].argmax(axis=1), dtype=np.intp)

    def portable(self) -> PortableHead:
        """The part that places other items, as a few plain arrays that fit into a small file."""
        check_is_fitted(self)
        reference = self._reference
        projection = self._axes.axes @ reference.orientation.projection
        return PortableHead.from_reference(
            self._axes.mean, projection, reference.space, reference.strength, self.n_neighbors
        )

    def _learnt(self, Z: Floats, seeds: Seeds, answers: Constraints) -> Reference:
        """Reference items in the person's orientation, with the strength of each group."""
        if seeds.everywhere:
            whole = Orientation.unchanged(Z)
            return Reference(whole, whole(Z), np.eye(seeds.n_kinds)[seeds.labels])
        for _ in range(2):  # the second time also with the components that the first has placed
            orientation = Orientation.learnt(Z, seeds, self.shrinkage)
            space = orientation(Z)
            strength = spread(space, seeds, self.n_neighbors)
            seeds = seeds.placed(strength, answers)
        strength = np.pad(strength, ((0, 0), (0, seeds.n_kinds - strength.shape[1])))
        strength[seeds.rows] = np.eye(seeds.n_kinds)[seeds.labels]
        return Reference(orientation, space, strength)

    def _label_all(self, X: Floats, rows: Ints) -> None:
        """Groups of all items: the reference items have theirs, the others ask their neighbours."""
        space, strength = self._members(X, rows)
        labels = strongest(strength)
        present = np.flatnonzero(np.bincount(labels, minlength=strength.shape[1]))
        self._reference = self._reference.only(present)
        if len(present) < strength.shape[1]:
            strength = strength[:, present]
        for part in _parts(len(X)):  # in place and in pieces: there may be a million rows
            piece = strength[part].astype(np.float32) + 1e-12
            strength[part] = piece / piece.sum(axis=1, keepdims=True)
        self.membership_, self.space_ = strength, space
        self.labels_ = np.searchsorted(present, labels)
        self.n_clusters_ = len(present)

    def _members(self, X: Floats, rows: Ints | None = None) -> tuple[NDArray[np.float32], Floats]:
        """Coordinates (n, few) and group strengths (n, k) of any items; `rows` have theirs."""
        reference, many = self._reference, len(X) > MAX_SINGLE_PRECISION_ITEMS
        width = min(16 if many else 32, reference.space.shape[1])
        shape = (len(X), reference.strength.shape[1])
        strength = np.empty(shape, dtype=np.float16 if many else np.float32)
        space = np.empty((len(X), width), dtype=np.float32)
        with single_threaded(len(X)):
            for part in _parts(len(X)):
                projected = reference.orientation(self._axes(X[part]))
                space[part] = projected[:, :width]
                if rows is None or len(rows) < len(X):
                    strength[part] = reference.vote(projected, self.n_neighbors)
        if rows is not None:
            strength[rows] = reference.strength
        return space, strength


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, min(start + 4096, n)) for start in range(0, n, 4096))
