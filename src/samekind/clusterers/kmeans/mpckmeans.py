"""MPCK-means: priced answers, and a metric for each group that is learnt with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.group_count import Known, Pairs, checked_constraints, resolved_count
from samekind.clusterers.kmeans.base import CentreEstimator
from samekind.clusterers.kmeans.centres import Blocks, chunks, seed_centres, sums_by
from samekind.constraints import Links, as_links
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MIN_SPREAD = 0.01
"""Smallest spread of a column, as a share of that of all columns together."""
MAX_IDLE_ROUNDS = 4
"""Rounds without a lower objective after which a run ends."""


class MPCKMeans(CentreEstimator):
    """MPCK-means of Bilenko, Basu and Mooney (2004): k-means that learns a metric per group.

    Every group has weights for the columns (a diagonal metric), learnt from the spread of its items
    and from the answers that it breaks. A broken "same" costs the distance between the two items, a
    broken "different" the distance by which they are nearer than the two items farthest apart, both
    in the metrics of their groups. Items with links choose in random order, each the cheapest group
    given those before it. Answers that contradict earlier ones are ignored; the others are
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
    max_iter : largest number of rounds. tol : a smaller relative fall of the objective is none.
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
        super().__init__(
            n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state
        )
        self.w = w
        self.shrinkage = shrinkage

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
        for name in ("w", "shrinkage"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"Expected {name} to be at least 0, got {value!r}.")
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        blocks = Blocks.from_constraints(X, constraints)
        links = as_links([]) if constraints is None else constraints.links()
        rng = self._generator()
        k = resolved_count(self.n_clusters, X, blocks, rng)
        shrinkage = float(X.shape[1]) if self.shrinkage is None else float(self.shrinkage)
        steps = MetricSteps(X.astype(np.float64), links, float(self.w), shrinkage)
        solutions = []
        for _ in range(self.n_init):
            start = seed_centres(X, blocks, k, rng, blocks.distinct(rng))
            solutions.append(steps.fit(start, rng, self.max_iter, self.tol))
        best = min(solutions, key=lambda found: found.objective)
        self._keep(best.labels, best.metrics.centres)
        self.metrics_ = best.metrics.weights[np.unique(best.labels)]
        self.objective_, self.n_iter_ = best.objective, best.n_iter
        together = self.labels_[links.a] == self.labels_[links.b]
        self.n_violations_ = int((together != links.same).sum())
        return self

    def predict(self, X: Any) -> Ints:
        """Group of each row: that of the nearest centre, each in its own metric."""
        X = self._checked_again(X)
        metrics = Metrics(self.cluster_centers_, self.metrics_)
        found = [metrics.cost(X[rows].astype(np.float64)).argmin(axis=1) for rows in chunks(X)]
        return np.concatenate(found).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Metrics:
    """Centres (k, d), and the weights (k, d) of the columns around each."""

    centres: Floats
    weights: Floats

    def cost(self, X: Floats) -> Floats:
        """(n, k) squared distance to each centre in its metric, less the metric's log volume."""
        origin = self.centres.mean(axis=0)  # keeps digits when the data lie far from zero
        rows, to = X - origin, self.centres - origin
        weighted = self.weights * to
        squares = rows**2 @ self.weights.T - 2 * rows @ weighted.T + (weighted * to).sum(axis=1)
        return np.asarray(np.maximum(squares, 0.0) - self.volume)

    @property
    def volume(self) -> Floats:
        """(k,) log determinant of each metric; columns that count nowhere are left out."""
        logs = np.log(np.where(self.weights > 0, self.weights, 1.0))
        return np.asarray(logs.sum(axis=1))


@dataclass(frozen=True, eq=False)
class MetricSolution:
    """Result of one restart."""

    labels: Ints
    metrics: Metrics
    objective: float
    n_iter: int


class MetricSteps:
    """The two steps: cheapest groups given the metrics, best metrics given the groups.

    Parameters
    ----------
    X : (n, d) float64. w : price of a broken link.
    shrinkage : items for which the common spread counts in every group.
    """

    def __init__(self, X: Floats, links: Links, w: float, shrinkage: float) -> None:
        self.X, self.links, self.w, self.shrinkage = X, links, w, shrinkage
        self.spread = X.var(axis=0)
        self.counts = self.spread > 1e-12 * max(float(self.spread.max(initial=0.0)), 1e-300)
        self.squares = (X[links.a] - X[links.b]) ** 2  # (links, d)
        self.linked = np.unique(np.concatenate([links.a, links.b]))
        ends = np.concatenate([links.a, links.b])
        others = np.concatenate([links.b, links.a])
        order = np.argsort(ends, kind="stable")
        self._others = others[order]
        self._link = np.concatenate([np.arange(len(links.a))] * 2)[order]
        self._first = np.searchsorted(ends[order], self.linked)
        self._last = np.searchsorted(ends[order], self.linked, side="right")

    def fit(
        self, start: Floats, rng: np.random.Generator, max_iter: int, tol: float
    ) -> MetricSolution:
        """Choose groups and learn metrics in turn; the best round is kept.

        A round begins with no item assigned, so it may raise the objective; it ends when several
        rounds in a row have not lowered it.
        """
        k = len(start)
        plain = np.where(self.counts, 1 / max(float(self.spread.mean()), 1e-300), 0.0)
        metrics = Metrics(start, np.repeat(plain[None], k, axis=0))
        far, best, idle = self.farthest(metrics), None, 0
        for n_iter in range(1, max_iter + 1):
            labels = self.assigned(metrics, far, rng)
            metrics = self.learnt(labels, metrics, far)
            far = self.farthest(metrics)
            objective = self.objective(labels, metrics, far)
            idle += 1
            if best is None or objective < best.objective - tol * abs(best.objective):
                best, idle = MetricSolution(labels, metrics, objective, n_iter), 0
            if idle == MAX_IDLE_ROUNDS:
                break
        assert best is not None
        return best

    def assigned(self, metrics: Metrics, far: Floats, rng: np.random.Generator) -> Ints:
        """Free items at their cheapest centre; items with links in random order, one by one.

        Links count as soon as both items are assigned. Beginning each round where the last one
        ended leaves items stuck with their partners: the objective stays far higher.
        """
        found = self._nearest(metrics)
        found[self.linked] = -1
        if not len(self.linked):
            return found
        total = metrics.cost(self.X[self.linked])
        apart = self.squares @ metrics.weights.T  # (links, k)
        most = (far * metrics.weights).sum(axis=1)  # (k,)
        same = self.links.same
        for at in rng.permutation(len(self.linked)).tolist():
            piece = slice(self._first[at], self._last[at])
            link, theirs = self._link[piece], found[self._others[piece]]
            link, theirs = link[theirs >= 0], theirs[theirs >= 0]
            here, tied = apart[link], same[link]
            elsewhere = theirs[:, None] != np.arange(len(most))  # (degree, k)
            own = np.take_along_axis(here, theirs[:, None], axis=1)
            split = np.where(elsewhere, 0.5 * (here + own), 0.0)[tied].sum(axis=0)
            joined = np.where(elsewhere, 0.0, np.maximum(most - here, 0.0))[~tied].sum(axis=0)
            found[self.linked[at]] = int((total[at] + self.w * (split + joined)).argmin())
        return found

    def learnt(self, labels: Ints, metrics: Metrics, far: Floats) -> Metrics:
        """Means, and metrics from spreads and broken links, drawn towards the common spread."""
        k = len(metrics.centres)
        count = np.bincount(labels, minlength=k).astype(np.float64)
        filled = count > 0
        centres = metrics.centres.astype(np.float64).copy()
        centres[filled] = sums_by(labels, self.X, k)[filled] / count[filled, None]
        spread = np.zeros(centres.shape)
        for rows in chunks(self.X):
            away = (self.X[rows] - centres[labels[rows]]) ** 2
            spread += sums_by(labels[rows], away, k)
        common = spread.sum(axis=0) / len(self.X)
        a, b, same = labels[self.links.a], labels[self.links.b], self.links.same
        split, joined = same & (a != b), ~same & (a == b)
        for side in (a, b):
            spread += self.w * sums_by(side[split], 0.5 * self.squares[split], k)
        lacking = np.maximum(far[a[joined]] - self.squares[joined], 0.0)
        spread += self.w * sums_by(a[joined], lacking, k)
        variance = spread + self.shrinkage * common
        variance /= np.maximum(count + self.shrinkage, 1e-12)[:, None]
        variance += MIN_SPREAD * variance.sum(axis=1, keepdims=True) + 1e-300
        return Metrics(centres, np.where(self.counts, 1 / variance, 0.0))

    def objective(self, labels: Ints, metrics: Metrics, far: Floats) -> float:
        """Distances, log volumes, and the prices of the links that are broken."""
        total = 0.0
        for rows in chunks(self.X):
            cost = metrics.cost(self.X[rows])
            total += float(np.take_along_axis(cost, labels[rows, None], axis=1).sum())
        a, b, same = labels[self.links.a], labels[self.links.b], self.links.same
        apart = self.squares @ metrics.weights.T
        each = np.arange(len(a))
        split, joined = same & (a != b), ~same & (a == b)
        most = (far * metrics.weights).sum(axis=1)
        prices = 0.5 * (apart[each, a] + apart[each, b])[split].sum()
        prices += np.maximum(most[a] - apart[each, a], 0.0)[joined].sum()
        return total + self.w * float(prices)

    def _nearest(self, metrics: Metrics) -> Ints:
        found = [metrics.cost(self.X[rows]).argmin(axis=1) for rows in chunks(self.X)]
        return np.concatenate(found).astype(np.intp)

    def farthest(self, metrics: Metrics) -> Floats:
        """(k, d) squared differences of two items that are far apart in each metric.

        The farthest from the mean, then the farthest from that one, and so on: comparing all with
        all would cost the square of the number of items.
        """
        k = len(metrics.weights)
        found = np.zeros(metrics.weights.shape)
        if not (~self.links.same).any():
            return found
        at = np.repeat(self.X.mean(axis=0)[None], k, axis=0)
        for _ in range(3):
            apart = np.concatenate(
                [Metrics(at, metrics.weights).cost(self.X[rows]) for rows in chunks(self.X)]
            )
            farthest = self.X[apart.argmax(axis=0)]
            found, at = (farthest - at) ** 2, farthest
        return np.asarray(found)
