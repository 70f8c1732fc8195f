"""MPCK-means: priced answers, and a metric for each group that is learnt with them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import checked_constraints, resolved_count
from samekind.clusterers.kmeans.centres import Blocks, chunks, seed_centres
from samekind.clusterers.kmeans.mpckmeans_metric import Metrics, Penalised, Run
from samekind.clusterers.kmeans.nearest_centre import NearestCentre
from samekind.constraints import Constraints, as_links
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class MPCKMeans(NearestCentre):
    """MPCK-means of Bilenko, Basu and Mooney (2004): k-means that learns what counts.

    Every group has weights for the columns (a diagonal metric), learnt from the spread of its items
    and from the answers that it breaks. A broken "same" costs the distance between the two items, a
    broken "different" the distance by which they are nearer than the two items farthest apart, both
    in the metrics of their groups. Items with links choose in random order, each the cheapest group
    given those before it. Answers that contradict earlier ones are set aside; the others are
    weighed and may be broken. The first centres are the kinds told apart.

    Groups of few items would make every distance in a column without spread infinite. So each
    spread is drawn towards that over all groups, as by `shrinkage` items more.

    Parameters
    ----------
    n_clusters : how many groups; None chooses, but never fewer than were proven to be different.
    w : price of a broken link, in units of the learnt distances. Zero ignores the answers after the
        start.
    shrinkage : items for which the common spread counts in every group. None: one for each column.
        Very many give all groups one metric.
    n_init : restarts, of which the one with the lowest objective is kept. Metrics that are learnt
        have many local optima: four starts often miss the lowest.
    max_iter : most turns. tol : a fall of the objective by less than this share is none.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_, cluster_centers_, n_iter_ : as in scikit-learn.
    metrics_ : (k, d) weights of the columns in each group.
    objective_ : distances, log volumes and prices at the end.
    n_violations_ : links that are not honoured.

    References
    ----------
    Bilenko, Basu, Mooney: Integrating constraints and metric learning in semi-supervised
    clustering. ICML 2004.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        w: float = 1.0,
        shrinkage: float | None = None,
        n_init: int = 16,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.w = w
        self.shrinkage = shrinkage
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = self._checked(X)
        for name in ("w", "shrinkage"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} cannot be negative; {value!r} came.")
        blocks = Blocks.from_constraints(X, checked_constraints(constraints, len(X)))
        links = as_links([]) if constraints is None else constraints.links()
        rng = self._generator()
        k = resolved_count(self.n_clusters, X, blocks, rng)
        shrinkage = float(X.shape[1]) if self.shrinkage is None else float(self.shrinkage)
        priced = Penalised(X.astype(np.float64), links, float(self.w), shrinkage)
        runs = []
        for _ in range(self.n_init):
            start = seed_centres(X, blocks, k, rng, blocks.distinct(rng))
            runs.append(priced.fit(start, rng, self.max_iter, self.tol))
        self._keep_run(min(runs, key=lambda run: run.objective))
        together = self.labels_[links.a] == self.labels_[links.b]
        self.n_violations_ = int((together != links.same).sum())
        return self

    def predict(self, X: Any) -> Ints:
        """Group of each row: that of the nearest centre, each in its own metric."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        metrics = Metrics(self.cluster_centers_, self.metrics_)
        found = [metrics.cost(X[rows].astype(np.float64)).argmin(axis=1) for rows in chunks(X)]
        return np.concatenate(found).astype(np.intp)

    def _keep_run(self, best: Run) -> None:
        self._keep(best.labels, best.metrics.centres)
        self.metrics_ = best.metrics.weights[np.unique(best.labels)]
        self.objective_, self.n_iter_ = best.objective, best.n_iter
