"""Readout: from any vectors straight to coordinates and groups, piece by piece.

Centring, principal components, orientation and head are linear maps one after the other, so
together they are one. Of a million items only what is kept is ever computed: the first coordinates
and one score per group, not the coordinates in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.linear_head import LinearHead

Floats = NDArray[Any]
Ints = NDArray[np.intp]

ROWS = 8192
"""Items that are worked on at a time: their numbers stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Readout:
    """A linear map of vectors (n, d) to `width` coordinates, and to a score for each group.

    Parameters
    ----------
    columns : (d, width + groups). shift : (width + groups,) what is taken off the products.
    """

    columns: NDArray[np.float32]
    shift: NDArray[np.float32]
    width: int

    @classmethod
    def of(cls, mean: Floats, turn: Floats, head: LinearHead | None, width: int) -> Readout:
        """Of coordinates ``(X - mean) @ turn`` the first `width`; scores if there is a head.

        The head reads all coordinates, also those that are not kept.
        """
        width = min(width, turn.shape[1])
        columns, shift = turn[:, :width], mean @ turn[:, :width]
        if head is not None:
            scores = turn @ head.weight
            columns = np.hstack([columns, scores])
            shift = np.concatenate([shift, mean @ scores - head.bias])
        return cls(columns.astype(np.float32), shift.astype(np.float32), width)

    @property
    def n_groups(self) -> int:
        """Groups that there are scores of; 0 without a head."""
        return int(self.columns.shape[1]) - self.width

    def everyone(self, X: Floats, strength: Floats) -> NDArray[np.float32]:
        """(n, width) coordinates of all rows; their shares are written to `strength` (n, k)."""
        space = np.empty((len(X), self.width), dtype=np.float32)
        for part in parts(len(X)):
            found = self._applied(X[part])
            space[part] = found[:, : self.width]
            if self.n_groups:
                strength[part] = _shares(found[:, self.width :])
        return space

    def groups(self, X: Floats) -> Ints:
        """(n,) the group with the highest score."""
        found = [self._applied(X[part])[:, self.width :].argmax(axis=1) for part in parts(len(X))]
        return np.concatenate(found).astype(np.intp)

    def _applied(self, X: Floats) -> NDArray[np.float32]:
        found = np.asarray(X, dtype=np.float32) @ self.columns
        found -= self.shift
        return found


def strongest(strength: Floats) -> Ints:
    """(n,) the first of the highest columns of each row."""
    labels = np.empty(len(strength), dtype=np.intp)
    for part in parts(len(strength)):
        labels[part] = strength[part].argmax(axis=1)
    return labels


def normalised(strength: Floats) -> Floats:
    """The same array, with rows that sum to one."""
    for part in parts(len(strength)):
        rows = strength[part]
        total = rows.sum(axis=1, keepdims=True, dtype=np.float32)
        rows /= np.maximum(total, 1e-12).astype(rows.dtype)
    return strength


def parts(n: int) -> Iterator[slice]:
    """Pieces of `n` rows, one after the other; one empty piece when there are none."""
    return (slice(start, min(start + ROWS, n)) for start in range(0, max(n, 1), ROWS))


def _shares(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, k) softmax of scores, which are overwritten."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
