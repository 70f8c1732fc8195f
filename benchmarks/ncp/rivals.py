"""Methods that one would use instead of the clustering process, and how each becomes one grouping.

What each knows: Gibbs is told the true model with all its constants. The Dirichlet-process
mixtures are told the true concentration and have as many components as there can be groups;
``spherical`` also has the true shape of the groups. HDBSCAN and k-means know nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Method = Callable[[Floats], Labels]
ALPHA, MOST_GROUPS = 0.7, 20


def variational(points: Floats, covariance: str, seed: int, alpha: float = ALPHA) -> Labels:
    """scikit-learn's Dirichlet-process mixture; the best of three starts."""
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=min(MOST_GROUPS, len(points)), covariance_type=covariance, n_init=3,
        weight_concentration_prior_type="dirichlet_process", weight_concentration_prior=alpha,
        max_iter=500, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start that has not converged is still compared
        return np.asarray(model.fit_predict(points))


def hdbscan(points: Floats) -> Labels:
    """Density clustering as it comes (groups of at least 5); noise joins the nearest group."""
    from sklearn.cluster import HDBSCAN
    from sklearn.neighbors import KNeighborsClassifier

    labels = np.asarray(HDBSCAN(copy=True).fit_predict(points))
    noise = labels < 0
    if noise.all():
        return np.zeros_like(labels)
    if noise.any():
        nearest = KNeighborsClassifier(1).fit(points[~noise], labels[~noise])
        labels[noise] = nearest.predict(points[noise])
    return labels


def by_silhouette(points: Floats, seed: int) -> Labels:
    """k-means with 2 to 20 groups, the number with the best silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best: tuple[float, Labels] = (-2.0, np.zeros(len(points), dtype=np.intp))
    for k in range(2, min(MOST_GROUPS, len(points) - 1) + 1):
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
        best = max(best, (float(silhouette_score(points, labels)), labels), key=lambda b: b[0])
    return best[1]


def central(draws: Labels) -> Labels:
    """Of draws (S, N) of a posterior, the one that is wrong about the fewest pairs on average.

    The same estimate as ``NCP(estimate="central")``, over the draws alone.
    """
    together = sum((row[:, None] == row).astype(np.float32) for row in draws) / len(draws)
    lean = 1 - 2 * np.asarray(together)  # cost of putting two items together
    costs = [float(lean[row[:, None] == row].sum()) for row in draws]
    return np.asarray(draws[int(np.argmin(costs))])
