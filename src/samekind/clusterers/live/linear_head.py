"""A linear head that learns what has spread over a sample, and says it of all items."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.graph import Reference

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CONFIDENCE = 0.03
"""Inverse strength of the regularisation, in whitened coordinates."""


@dataclass(frozen=True, eq=False)
class LinearHead:
    """From coordinates (n, d) to shares (n, k), by a softmax over linear scores."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    @classmethod
    def of(cls, reference: Reference) -> LinearHead:
        """Learnt from the groups of the reference items, clear ones counting more.

        An item counts by how far its first group is ahead of its second, and all items together as
        much as if each counted one. With many groups every share is small: were they not brought
        back to a mean of one, the regularisation would drown them.
        """
        from sklearn.linear_model import LogisticRegression

        strength = reference.strength
        groups = strength.argmax(axis=1)
        k, d = strength.shape[1], reference.space.shape[1]
        weight, bias = np.zeros((d, k), np.float32), np.full(k, -1e4, np.float32)
        present = np.unique(groups)
        if len(present) == 1:
            bias[present] = 0
            return cls(weight, bias)
        # As if whitened, also where there is no orientation yet: the penalty depends on it.
        length = float((reference.space**2).sum(axis=1).mean())
        scale = np.float32(np.sqrt(d / max(length, 1e-12)))
        model = LogisticRegression(C=CONFIDENCE, max_iter=80, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few steps are enough here
            model.fit(
                reference.space.astype(np.float32) * scale,
                groups,
                sample_weight=_clearness(strength),
            )
        model.coef_ *= scale
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


def _clearness(strength: Floats) -> Floats:
    """(m,) how far the first group of each row is ahead of its second, one on average."""
    second, first = np.partition(strength, -2, axis=1)[:, -2:].T
    ahead = first - second
    mean = ahead.mean()
    return np.asarray(ahead / mean if mean > 0 else np.ones(len(strength)))
