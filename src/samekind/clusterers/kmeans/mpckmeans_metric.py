"""The two steps of MPCK-means: cheapest groups given the metrics, best metrics given the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.kmeans.centres import chunks, sums_by
from samekind.constraints import Links

Floats = NDArray[Any]
Ints = NDArray[np.intp]

LEAST = 0.01
"""Spread that every column has at least, as a share of that of all columns together."""

PATIENCE = 4
"""Turns without a lower objective after which a run ends."""


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
class Run:
    """What one start ended with."""

    labels: Ints
    metrics: Metrics
    objective: float
    n_iter: int


class Penalised:
    """The vectors, the links between them, and what it costs to break one.

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

    def fit(self, start: Floats, rng: np.random.Generator, max_iter: int, tol: float) -> Run:
        """Choose groups and learn metrics in turn; the best turn is kept.

        A sweep begins with nobody placed, so it may raise the objective; it ends when several
        turns in a row have not lowered it.
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
                best, idle = Run(labels, metrics, objective, n_iter), 0
            if idle == PATIENCE:
                break
        assert best is not None
        return best

    def assigned(self, metrics: Metrics, far: Floats, rng: np.random.Generator) -> Ints:
        """Free items at their cheapest centre; items with links in random order, one by one.

        Links count from the moment that both items are placed. Beginning each sweep where the last
        one ended leaves items stuck with their partners: the objective stays far higher.
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
        variance += LEAST * variance.sum(axis=1, keepdims=True) + 1e-300
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
