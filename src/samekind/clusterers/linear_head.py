"""Linear head: logistic regression, and its result as two small arrays."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[np.intp]

IMPOSSIBLE = -1e4
"""Bias of a group that no example stands for."""


def logistic_regression(
    X: Floats, labels: Ints, weight: Floats | None = None, *, C: float, **settings: Any
) -> Any:
    """Fit scikit-learn's regularised logistic regression, without its warnings.

    Many groups with few examples each are usual here, and steps left over change no group.

    Parameters
    ----------
    weight : of each example; None: all the same. C : inverse strength of the regularisation.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, labels, sample_weight=weight)
    return model


@dataclass(frozen=True, eq=False)
class LinearHead:
    """Map coordinates (n, d) to shares of the groups (n, k): a softmax over linear scores."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    @classmethod
    def from_model(cls, model: Any, n_groups: int) -> LinearHead:
        """From a fitted logistic regression, whose classes are some of the groups."""
        weight = np.zeros((model.coef_.shape[1], n_groups), np.float32)
        bias = np.full(n_groups, IMPOSSIBLE, np.float32)
        present = model.classes_
        if len(present) == 2:
            weight[:, present[1]], bias[present] = model.coef_[0], (0.0, model.intercept_[0])
        else:
            weight[:, present], bias[present] = model.coef_.T, model.intercept_
        return cls(weight, bias)

    @classmethod
    def constant(cls, group: int, n_coordinates: int, n_groups: int) -> LinearHead:
        """A head that puts every item into the same group."""
        bias = np.full(n_groups, IMPOSSIBLE, np.float32)
        bias[group] = 0
        return cls(np.zeros((n_coordinates, n_groups), np.float32), bias)

    def __call__(self, space: Floats) -> Floats:
        """(n, k) shares; rows sum to one."""
        scores = space @ self.weight + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def only(self, groups: Ints) -> LinearHead:
        """The head for some of the groups."""
        return LinearHead(self.weight[:, groups], self.bias[groups])
