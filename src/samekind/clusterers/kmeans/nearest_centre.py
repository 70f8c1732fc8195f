"""What the estimators with centres share: checked vectors and `predict` by the nearest centre."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.kmeans.centres import nearest
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class NearestCentre(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators that end with one centre per group."""

    cluster_centers_: Floats
    labels_: Ints
    random_state: Any

    def predict(self, X: Any) -> Ints:
        """Group of each row: that of the nearest centre."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        return nearest(X, self.cluster_centers_)[0]

    def _checked(self, X: Any) -> Floats:
        """The vectors as they are used, float32 and float64 kept as they come."""
        for name in ("n_init", "max_iter", "max_tries"):
            value = getattr(self, name, 1)
            if value < 1:
                raise InputError(f"{name} must be at least 1; {value!r} came.")
        return np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], order="C"))

    def _generator(self) -> np.random.Generator:
        state = self.random_state
        if isinstance(state, np.random.RandomState):
            return np.random.default_rng(state.randint(np.iinfo(np.int32).max))
        return np.random.default_rng(state)

    def _keep(self, labels: Ints, centres: Floats) -> None:
        """Set labels and centres, numbered so that every group has an item."""
        used = np.unique(labels)
        self.labels_ = np.searchsorted(used, labels).astype(np.intp)
        self.cluster_centers_ = centres[used]
