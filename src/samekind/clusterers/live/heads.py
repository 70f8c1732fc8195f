"""Linear heads of the live learner, and the map that applies them to any number of items.

Answers spread well where items of one kind lie close together. Some wishes cut across that: whether
eyes are open, with twenty faces in the pile, or how many things there are. Neighbours then share a
face, not a kind, and a linear classifier on the answers alone is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.linear_head import LinearHead, logistic_regression
from samekind.clusterers.live.seeds import Seeds
from samekind.neighbours import exact_neighbours

Floats = NDArray[Any]
Ints = NDArray[np.intp]

DISTILLED_C = 0.03
"""Inverse regularisation of the head that learns what has spread, in whitened coordinates."""
STRAIGHT_C, STRAIGHT_C_BOUNDS = 1000.0, (2.0, 40.0)
"""Inverse regularisation of the classifier on the answers, times their number, and its bounds, for
items of length one: late answers are about items between groups, and each says less of the border.
"""
CHUNK_ITEMS = 8192
"""Items that are worked on at a time: their numbers stay in the processor's cache."""


def distilled_head(space: Floats, strength: Floats) -> LinearHead:
    """Learn the groups (m, k) of reference items (m, d) as a linear head.

    An item counts by how far its first group is ahead of its second, and all items together as if
    each counted one. With many groups every share is small: without that correction the
    regularisation would drown them.
    """
    groups = strength.argmax(axis=1)
    k, d = strength.shape[1], space.shape[1]
    if (groups == groups[0]).all():
        return LinearHead.constant(int(groups[0]), d, k)
    # As if whitened, also where there is no orientation yet: the penalty depends on the scale.
    length = float((space**2).sum(axis=1).mean())
    scale = np.float32(np.sqrt(d / max(length, 1e-12)))
    model = logistic_regression(
        space.astype(np.float32) * scale, groups, _lead(strength),
        C=DISTILLED_C, max_iter=80, tol=1e-3,
    )  # fmt: skip
    model.coef_ *= scale
    return LinearHead.from_model(model, k)


def head_for_others(space: Floats, strength: Floats, n_neighbors: int) -> LinearHead | None:
    """A head for items outside, if it repeats the groups (m, k) better than the nearest items do.

    Where the wish cuts across what lies close together, the nearest items are of any kind.
    """
    groups = strength.argmax(axis=1)
    near = exact_neighbours(space, n_neighbors + 1, space)[0][:, 1:]
    voted = sum(strength[near[:, rank]] for rank in range(near.shape[1]))
    head = distilled_head(space, strength)
    by_head = (head(space).argmax(axis=1) == groups).mean()
    return head if by_head > (np.argmax(voted, axis=1) == groups).mean() else None


def _lead(strength: Floats) -> Floats:
    """(m,) how far the first group of each row is ahead of its second, one on average."""
    second, first = np.partition(strength, -2, axis=1)[:, -2:].T
    ahead = first - second
    mean = ahead.mean()
    return np.asarray(ahead / mean if mean > 0 else np.ones(len(strength)))


def straight_head(space: Floats, seeds: Seeds, weight: Floats | None) -> LinearHead:
    """Learn the seeds alone as a linear head along the orientation."""
    # Whitened items are the longer the more coordinates they have: the penalty must follow.
    C = np.clip(STRAIGHT_C / len(seeds.rows), *STRAIGHT_C_BOUNDS) / space.shape[1]
    return LinearHead.of(space[seeds.rows], seeds.labels, weight, seeds.n_kinds, C=float(C))


@dataclass(frozen=True, eq=False)
class Readout:
    """Map vectors (n, d) straight to `width` coordinates and a score for each group.

    Centring, principal components, orientation and head are linear maps one after the other, so
    together they are one. Of a million items only what is kept is ever computed.

    Parameters
    ----------
    columns : (d, width + groups). shift : (width + groups,) subtracted from the products.
    """

    columns: NDArray[np.float32]
    shift: NDArray[np.float32]
    width: int

    @classmethod
    def of(cls, mean: Floats, projection: Floats, head: LinearHead | None, width: int) -> Readout:
        """The first `width` coordinates of ``(X - mean) @ projection``, and scores of a head.

        The head reads all coordinates, also those that are not kept.
        """
        width = min(width, projection.shape[1])
        columns, shift = projection[:, :width], mean @ projection[:, :width]
        if head is not None:
            scores = projection @ head.weight
            columns = np.hstack([columns, scores])
            shift = np.concatenate([shift, mean @ scores - head.bias])
        return cls(columns.astype(np.float32), shift.astype(np.float32), width)

    @property
    def n_groups(self) -> int:
        """Groups with scores; 0 without a head."""
        return int(self.columns.shape[1]) - self.width

    def apply(self, X: Floats, strength: Floats) -> NDArray[np.float32]:
        """(n, width) coordinates of all rows; their shares are written to `strength` (n, k)."""
        space = np.empty((len(X), self.width), dtype=np.float32)
        for part in chunks(len(X)):
            found = self._applied(X[part])
            space[part] = found[:, : self.width]
            if self.n_groups:
                strength[part] = _softmax(found[:, self.width :])
        return space

    def groups(self, X: Floats) -> Ints:
        """(n,) the group with the highest score."""
        found = [self._applied(X[part])[:, self.width :].argmax(axis=1) for part in chunks(len(X))]
        return np.concatenate(found).astype(np.intp)

    def _applied(self, X: Floats) -> NDArray[np.float32]:
        found = np.asarray(X, dtype=np.float32) @ self.columns
        found -= self.shift
        return found


def strongest(strength: Floats) -> Ints:
    """(n,) the first of the highest columns of each row."""
    labels = np.empty(len(strength), dtype=np.intp)
    for part in chunks(len(strength)):
        labels[part] = strength[part].argmax(axis=1)
    return labels


def normalise(strength: Floats) -> Floats:
    """Make rows sum to one, in place."""
    for part in chunks(len(strength)):
        rows = strength[part]
        total = rows.sum(axis=1, keepdims=True, dtype=np.float32)
        rows /= np.maximum(total, 1e-12).astype(rows.dtype)
    return strength


def chunks(n: int) -> Iterator[slice]:
    """Slices of `n` rows, one after the other; one empty slice when there are none."""
    return (slice(start, min(start + CHUNK_ITEMS, n)) for start in range(0, max(n, 1), CHUNK_ITEMS))


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, k) shares in place of the scores."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
