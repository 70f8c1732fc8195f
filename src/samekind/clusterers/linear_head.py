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


def softmax_regression(
    X: Floats,
    labels: Ints,
    weight: Floats | None = None,
    *,
    C: float,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> tuple[Floats, Floats, Ints]:
    """Fit what :func:`logistic_regression` fits, ten times as fast for some hundred examples.

    Returns weights (present, d), constants (present,) and the labels that are present (ascending).
    """
    from scipy.optimize import minimize

    present, at = np.unique(labels, return_inverse=True)
    n, d = X.shape
    k = len(present)
    # Two groups are one column and its opposite, and the penalty is that of one column.
    penalty = 1 / C if k > 2 else 2 / C
    strength = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    wide = np.column_stack([X, np.ones(n)])
    wanted = np.eye(k)[at]
    total = max(float(strength.sum()), 1e-12)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coef = flat.reshape(k, d + 1)
        scores = wide @ coef.T
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        own = scores[np.arange(n), at] - np.log(sums[:, 0])
        free = coef.copy()
        free[:, -1] = 0.0
        value = penalty / 2 * (free**2).sum() - (strength * own).sum()
        slope = ((shares - wanted) * strength[:, None]).T @ wide + penalty * free
        return float(value) / total, slope.ravel() / total

    found = minimize(
        loss, np.zeros(k * (d + 1)), jac=True, method="L-BFGS-B",
        options={"maxiter": max_iter, "gtol": tol, "ftol": 1e-12},
    )  # fmt: skip
    coef = np.asarray(found.x).reshape(k, d + 1)
    return coef[:, :-1], coef[:, -1], present


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
    def of(
        cls, X: Floats, labels: Ints, weight: Floats | None, n_groups: int, *, C: float, **more: Any
    ) -> LinearHead:
        """Fit one to examples of some of the groups."""
        coef, constant, present = softmax_regression(X, labels, weight, C=C, **more)
        weights = np.zeros((X.shape[1], n_groups), np.float32)
        bias = np.full(n_groups, IMPOSSIBLE, np.float32)
        weights[:, present], bias[present] = coef.T, constant
        return cls(weights, bias)

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
