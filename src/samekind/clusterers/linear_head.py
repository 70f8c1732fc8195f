"""A linear head that learns what has spread over a sample, and says it of all items."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.graph import Reference

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CONFIDENCE = 0.01
"""Inverse strength of the regularisation, in whitened coordinates."""


@dataclass(frozen=True, eq=False)
class LinearHead:
    """From coordinates (n, d) to shares (n, k), by a softmax over linear scores."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    @classmethod
    def of(cls, reference: Reference) -> LinearHead:
        """Learnt from the groups of the reference items, clear ones counting more."""
        from sklearn.linear_model import LogisticRegression

        strength = reference.strength
        groups, sure = strength.argmax(axis=1), strength.max(axis=1)
        k, d = strength.shape[1], reference.space.shape[1]
        weight, bias = np.zeros((d, k), np.float32), np.full(k, -1e4, np.float32)
        present = np.unique(groups)
        if len(present) == 1:
            bias[present] = 0
            return cls(weight, bias)
        model = LogisticRegression(C=CONFIDENCE, max_iter=80, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few steps are enough here
            model.fit(reference.space.astype(np.float32), groups, sample_weight=sure**2)
        if len(present) == 2:
            weight[:, present[1]], bias[present] = model.coef_[0], (0.0, model.intercept_[0])
        else:
            weight[:, present], bias[present] = model.coef_.T, model.intercept_
        return cls(weight, bias)

    def __call__(self, space: Floats) -> Floats:
        """Shares; rows sum to 1."""
        scores = space @ self.weight + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def only(self, groups: Ints) -> LinearHead:
        """The head without the groups that nobody is in."""
        return LinearHead(self.weight[:, groups], self.bias[groups])
