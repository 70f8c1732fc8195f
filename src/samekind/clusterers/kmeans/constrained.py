"""k-means that honours answers: "same" always, "different" whenever the groups allow it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from samekind.clusterers.group_count import Known, Pairs, checked_constraints, resolved_count
from samekind.clusterers.kmeans.assignment import Assigner
from samekind.clusterers.kmeans.base import CentreEstimator, Floats, Solution, lloyd
from samekind.clusterers.kmeans.centres import Blocks, scaled_tolerance, seed_centres


class KMeans(CentreEstimator):
    """k-means that honours answers.

    Items known to be the same kind form a block that moves as one. Blocks known to be different
    get different centres: exactly where they are all mutually different, otherwise by regret with
    an exact repair, so that a "different" is broken only where no assignment without it was found.
    Items without answers take the nearest centre. Restarts begin from the blocks that were proven
    to be different; the other centres come from k-means++.

    When the answers cannot all be honoured with `n_clusters` groups, nothing is raised: the result
    breaks as few links as the search could, ``n_violations_`` counts them, and a
    ``ConvergenceWarning`` says so.

    Parameters
    ----------
    n_clusters : how many groups; None chooses, and adds groups until every "different" is honoured.
    n_init : restarts, of which the best is kept; more are slower and seldom much better.
    max_iter : largest number of sweeps per restart.
    tol : stop when the centres move less than this share of the mean variance.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_, cluster_centers_, inertia_, n_iter_ : as in scikit-learn. Groups that no item is left
        for are dropped, so there may be fewer than `n_clusters`.
    n_violations_ : links that say "different" and are not honoured.

    >>> import numpy as np
    >>> from samekind.constraints import Constraints
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0], [9.0]])
    >>> links = Constraints.from_links(5, [(0, 3, True), (1, 2, False)])
    >>> KMeans(n_clusters=2, random_state=0).fit(X, constraints=links).n_violations_
    0
    """

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
        blocks = Blocks.from_constraints(X, constraints)
        rng = self._generator()
        k = resolved_count(self.n_clusters, X, blocks, rng)
        best = self._keep_best(self._solutions(X, blocks, k, rng))
        while best.violations and self.n_clusters is None and k < blocks.n_movable:
            k += 1  # a guess yields to what the person said
            best = self._keep_best(self._solutions(X, blocks, k, rng))
        self.n_violations_ = best.violations
        if self.n_violations_:
            warnings.warn(
                f"{self.n_violations_} links that say 'different' are not honoured by {k} groups; "
                f"the answers prove at least {len(blocks.distinct())}. Raise n_clusters, or review "
                "the answers.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _solutions(
        self, X: Floats, blocks: Blocks, k: int, rng: np.random.Generator
    ) -> Iterator[Solution]:
        """What several starts find with k groups."""
        assigner, tolerance = Assigner(blocks.apart, k), scaled_tolerance(X, self.tol)
        for _ in range(self.n_init):
            start = seed_centres(X, blocks, k, rng, blocks.distinct(rng))
            yield lloyd(X, blocks, start, assigner.assign, self.max_iter, tolerance)
