"""Orientation: which differences matter to the person, as a linear map learnt from few answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.linear_head import logistic_regression
from samekind.clusterers.live.seeds import Seeds

Floats = NDArray[Any]

SCALED_LENGTH = 3.0
"""Mean length of the items that the linear classifier sees."""
CLASSIFIER_C = 10.0
"""Inverse strength of the classifier's regularisation."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Centred principal components of the items, scaled to mean length one."""

    mean: Floats
    axes: Floats

    @classmethod
    def of(cls, X: Floats, rows: NDArray[np.intp], n_components: int) -> Axes:
        """Find them on some rows; directions without spread are left out."""
        sample = X[rows].astype(np.float64)
        mean = sample.mean(axis=0)
        sample -= mean
        spread, axes = _principal(sample)
        keep = (spread > 1e-7 * max(spread[0], 1e-300))[:n_components]
        axes = axes[: len(keep)][keep]
        if not len(axes):  # all items alike: keep one direction so that shapes stay valid
            axes = np.eye(1, X.shape[1])
        length = np.sqrt(((sample @ axes.T) ** 2).sum(axis=1).mean())
        return cls(mean, axes.T / max(length, 1e-12))

    def __call__(self, X: Floats) -> Floats:
        return np.asarray((X - self.mean) @ self.axes)


@dataclass(frozen=True, eq=False)
class Orientation:
    """A linear map of principal components in which items of one kind are close."""

    projection: Floats

    @classmethod
    def unchanged(cls, Z: Floats) -> Orientation:
        """The map that changes nothing, for when there are no answers."""
        return cls(np.eye(Z.shape[1]))

    @classmethod
    def learnt(
        cls, Z: Floats, seeds: Seeds, shrinkage: float, weight: Floats | None = None
    ) -> Orientation:
        """Whiten the spread within groups, as a linear classifier predicts them from the seeds.

        `weight` (s,) says how much each seed is believed; None: all the same.
        """
        guess = predicted(Z, seeds, weight)  # (m, k)
        means = (guess.T @ Z) / (guess.sum(axis=0)[:, None] + 1e-9)
        rest = guess @ means
        np.subtract(Z, rest, out=rest)  # in place: with many answers each copy is several megabytes
        within = rest.T @ rest / len(Z)
        del rest
        even = np.trace(within) / len(within) * np.eye(len(within))
        values, vectors = np.linalg.eigh((1 - shrinkage) * within + shrinkage * even)
        white = vectors / np.sqrt(np.maximum(values, 1e-12))
        # Principal axes of the whitened items, so that the first coordinates say most.
        centred = Z - Z.mean(axis=0)
        _, axes = _eigenvectors(white.T @ (centred.T @ centred) @ white)
        return cls(white @ axes.T)

    def __call__(self, Z: Floats) -> Floats:
        return np.asarray(Z @ self.projection)


def predicted(Z: Floats, seeds: Seeds, weight: Floats | None = None) -> Floats:
    """(m, k) what a regularised linear classifier, trained on the seeds, predicts for all rows."""
    if seeds.n_kinds < 2:
        return np.ones((len(Z), 1))
    model = logistic_regression(
        Z[seeds.rows] * SCALED_LENGTH, seeds.labels, weight, C=CLASSIFIER_C, max_iter=300
    )
    return np.asarray(model.predict_proba(Z * SCALED_LENGTH))


def _principal(sample: Floats) -> tuple[Floats, Floats]:
    """Spread, largest first, and axes (as rows) of centred items."""
    if len(sample) < sample.shape[1]:  # few long vectors: their covariance would be the larger
        _, spread, axes = np.linalg.svd(sample, full_matrices=False)
        return spread, _signed(axes)
    values, axes = _eigenvectors(sample.T @ sample)
    return np.sqrt(np.maximum(values, 0.0)), axes


def _eigenvectors(square: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, largest first, and eigenvectors as rows."""
    values, vectors = np.linalg.eigh(square)
    return values[::-1], _signed(vectors.T[::-1])


def _signed(axes: Floats) -> Floats:
    """Axes whose largest number is positive: the sign is otherwise arbitrary."""
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    return np.asarray(axes * np.sign(largest)[:, None])
