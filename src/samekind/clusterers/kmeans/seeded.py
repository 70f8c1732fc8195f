"""Seeded k-means: the kinds that the person told apart are the first centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.group_count import (
    Known,
    Pairs,
    checked_constraints,
    resolved_count,
    told_count,
)
from samekind.clusterers.kmeans.base import Assign, CentreEstimator, lloyd
from samekind.clusterers.kmeans.centres import Blocks, scaled_tolerance, seed_centres
from samekind.constraints import Constraints, as_links
from samekind.questions import Link

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class SeededKMeans(CentreEstimator):
    """Seeded k-means of Basu et al. (2002): centres begin at the kinds told apart.

    From there on it is plain k-means: the answers are used for nothing else, and an answered item
    may end up in another group. Centres beyond the kinds come from k-means++.

    Parameters
    ----------
    n_clusters : how many groups; None takes the kinds when nearly all answered items are in one of
        them, and guesses otherwise. When there are more kinds, the largest are the seeds.
    n_init : restarts where centres are drawn; one when every centre has a seed.
    max_iter, tol, random_state : as in :class:`~samekind.clusterers.kmeans.constrained.KMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, inertia_, n_iter_ : as in scikit-learn.

    References
    ----------
    Basu, Banerjee, Mooney: Semi-supervised clustering by seeding. ICML 2002.

    >>> X = np.array([[0.0], [1.0], [1.5], [7.0], [9.0]])
    >>> told = Constraints.from_links(5, [(0, 3, True), (3, 4, False)])
    >>> SeededKMeans(2).fit(X, constraints=told).labels_.tolist()
    [0, 0, 0, 1, 1]
    >>> ConstrainedSeededKMeans(2).fit(X, constraints=told).labels_.tolist()
    [0, 0, 0, 0, 1]
    """

    _held: ClassVar[bool] = False

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
        X = self._checked(X)
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        known = constraints or Constraints(len(X))
        rng = self._generator()
        wanted = told_count(known) if self.n_clusters is None else self.n_clusters
        k = resolved_count(wanted, X, Blocks.from_constraints(X, known), rng)
        kinds = sorted(known.kinds, key=len, reverse=True)[:k]
        kinds = kinds if len(kinds) > 1 else []  # one kind alone tells nothing apart
        seeds = _blocks(X, kinds)
        first = np.array([seeds.of[kind[0]] for kind in kinds], dtype=np.intp)
        # Block b is assigned to the centre that began with it, whatever the order of blocks.
        assigned = np.argsort(first) if self._held else np.empty(0, dtype=np.intp)
        blocks = seeds if self._held else Blocks.from_constraints(X, None)
        tolerance = scaled_tolerance(X, self.tol)
        solutions = []
        for _ in range(1 if len(kinds) == k else self.n_init):
            start = seed_centres(X, seeds, k, rng, first)
            stay = _stay(assigned.astype(np.intp))
            solutions.append(lloyd(X, blocks, start, stay, self.max_iter, tolerance))
        self._keep_best(solutions)
        return self


class ConstrainedSeededKMeans(SeededKMeans):
    """Constrained seeded k-means of Basu et al. (2002): the kinds told apart stay as they are.

    As :class:`SeededKMeans`, but items of the kinds never leave the group that their kind began.
    Answered items in none of the kinds (pairs leave many of them) are free.
    """

    _held = True


def _stay(assigned: Ints) -> Assign:
    """Leave every block at its centre."""
    return lambda cost, before: assigned


def _blocks(X: Floats, kinds: Sequence[Ints]) -> Blocks:
    """The kinds as blocks, all other items free."""
    together = [Link(int(kind[0]), int(i), True) for kind in kinds for i in kind[1:]]
    # A link that says "different" makes a block of a kind with one item.
    apart = [Link(int(kinds[0][0]), int(kind[0]), False) for kind in kinds[1:]]
    return Blocks.from_links(X, as_links(together + apart))
