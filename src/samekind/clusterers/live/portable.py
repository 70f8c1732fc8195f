"""PortableHead: what a learner has learnt, as a few plain arrays that place other items alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.condensing import calibrated, condensed, vote
from samekind.neighbours import Neighbours, nearest_points

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CHUNK = 4096
SAME = 0.02
"""An item this near to a reference item, in typical distances of neighbours, is that very item."""
ROUNDING = 0.005
"""Points are kept in 16 bits where that moves them by less than this, in typical distances."""


class Placing(NamedTuple):
    """Where a head places items.

    Parameters
    ----------
    labels : (n,) the learner's label of the strongest group.
    strengths : (n, k) how strongly each group claims each item; rows sum to one.
    distances : (n,) to the nearest reference item, or to the nearest prototype.
    """

    labels: Ints
    strengths: Floats
    distances: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PortableHead:
    """Reference items along the person's orientation; other items ask the nearest of them.

    Parameters
    ----------
    mean, turn : (d,) and (d, p), or (d,) for a change of scale only: vectors to the space of the
        orientation.
    points, strengths : (m, p) the reference items there, and (m, k) how much of each group they
        are.
    labels : (k,) the learner's label of each group.
    limits : (k,) the distance beyond which an item fits no group, by its nearest group.
    same : a reference item that is nearer than this decides alone.
    n_neighbors : how many are asked; 0: the points are prototypes, and all are.
    weight, bias : (p, k) and (k,) of a linear head that decides in place of the neighbours, empty
        without one. The points then lie in the first coordinates, and only an item that is one of
        them is decided by it.
    """

    mean: Floats
    turn: Floats
    points: Floats
    strengths: Floats
    labels: Ints
    limits: NDArray[np.float64]
    same: float
    n_neighbors: int
    weight: Floats = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    bias: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    @classmethod
    def from_linear(
        cls,
        mean: Floats,
        turn: Floats,
        head: tuple[Floats, Floats],
        points: Floats,
        strengths: Floats,
        settled: Ints,
    ) -> PortableHead:
        """From a learner with a linear head, its weight and bias.

        The points (m, q) are items in the first q coordinates; those that the answers have
        `settled` are kept, with every fourth of the others to tell what fits no group.
        """
        rows = np.union1d(settled, np.arange(0, len(points), 4))
        k = strengths.shape[1]
        limits, typical = calibrated(points, strengths.argmax(axis=1), rows, k)
        return cls(
            np.asarray(mean, dtype=np.float32),
            np.asarray(turn, dtype=np.float32),
            _short(points[rows], ROUNDING * typical),
            _short_strengths(strengths[rows]),
            np.arange(k),
            limits,
            SAME * typical,
            1,
            *(np.asarray(part, dtype=np.float32) for part in head),
        )

    @classmethod
    def from_reference(
        cls,
        mean: Floats,
        turn: Floats,
        points: Floats,
        strengths: Floats,
        n_neighbors: int,
        *,
        labels: Ints | None = None,
        most: int = 1000,
    ) -> PortableHead:
        """From a learner whose items ask their neighbours; keeps as few of these as do the same.

        Reference items that the answers have settled (all strength in one group) are kept first.
        `most` is exceeded where fewer items would place others differently.
        """
        rows = condensed(points, strengths, n_neighbors, most)
        limits, typical = calibrated(points, strengths.argmax(axis=1), rows, strengths.shape[1])
        return cls(
            np.asarray(mean, dtype=np.float32),
            np.asarray(turn, dtype=np.float32),
            _short(points[rows], ROUNDING * typical),
            _short_strengths(strengths[rows]),
            np.arange(strengths.shape[1]) if labels is None else labels,
            limits,
            SAME * typical,
            n_neighbors,
        )

    @classmethod
    def from_groups(cls, X: Floats, groups: Ints) -> PortableHead:
        """For learners that offer no head: one prototype per group, the mean of its vectors."""
        labels, group = np.unique(groups, return_inverse=True)
        mean, scale = _middle(X)
        points = np.stack(
            [_turned(X[group == k], mean, scale).mean(axis=0) for k in range(len(labels))]
        )
        near = np.concatenate(
            [
                nearest_points(_turned(X[part], mean, scale), points, 1).distances
                for part in _parts(len(X))
            ]
        )[:, 0]
        limits = np.array([np.quantile(near[group == k], 0.99) for k in range(len(labels))])
        limits = np.maximum(limits, np.quantile(near, 0.9))  # few items say little of the spread
        strengths = np.eye(len(labels), dtype=np.float16)
        return cls(
            mean.astype(np.float32),
            scale.astype(np.float32),
            points.astype(np.float32),
            strengths,
            labels.astype(np.intp),
            limits,
            0.0,
            0,
        )

    def predict(self, X: Any) -> Placing:
        """Place vectors; a few thousand at a time, so that there may be any number of them."""
        X = np.asarray(X)
        points, strengths = self.points.astype(np.float64), self.strengths.astype(np.float64)
        of_group = np.empty((len(X), len(self.labels)))
        distances = np.empty(len(X))
        for part in _parts(len(X)):
            turned = _turned(X[part], self.mean, self.turn)
            near = nearest_points(
                turned[:, : points.shape[1]], points, self.n_neighbors or len(points)
            )
            if self.weight.size:
                of_group[part] = self._by_line(turned, near, strengths)
            elif self.n_neighbors:
                of_group[part] = vote(near, strengths, self.same)
            else:
                of_group[part] = _by_prototypes(near, strengths)
            distances[part] = near.distances[:, 0]
        return Placing(self.labels[of_group.argmax(axis=1)], of_group, distances)

    def _by_line(self, turned: Floats, near: Neighbours, strengths: Floats) -> Floats:
        """(n, k) shares by the linear head; an item that is one of the points has its shares."""
        scores = turned @ self.weight + self.bias
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        itself = near.distances[:, 0] <= self.same
        shares[itself] = strengths[near.rows[itself, 0]]
        return np.asarray(shares)

    def strangeness(self, placing: Placing) -> NDArray[np.float64]:
        """(n,) distance over what its group allows: above 1 an item fits no group."""
        allowed = self.limits[placing.strengths.argmax(axis=1)]
        return np.asarray(placing.distances / np.maximum(allowed, 1e-12))

    def state(self) -> dict[str, Any]:
        """All parts by name, arrays and plain numbers, for :meth:`from_state`."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PortableHead:
        """The head again; ValueError or KeyError when these are not parts of one."""
        later = ("weight", "bias")  # not in the files of earlier versions
        names = (name for name in cls.__dataclass_fields__ if name in state or name not in later)
        head = cls(**{name: state[name] for name in names})
        (d,), (m, p), k = head.mean.shape, head.points.shape, len(head.labels)
        straight = bool(head.weight.size)
        turned = (*head.turn.shape, p)[1] if straight else p  # coordinates that the head reads
        fits = (
            head.turn.shape in ((d, turned), (d,))
            and p <= turned
            and (not straight or (head.turn.ndim == 2 and head.weight.shape == (turned, k)))
            and head.bias.shape == ((k,) if straight else (0,))
            and head.strengths.shape == (m, k)
            and head.limits.shape == head.labels.shape == (k,)
            and (head.turn.ndim == 2 or d == p)
            and m >= 1
            and k >= 1
        )
        arrays = (
            head.mean, head.turn, head.points, head.strengths, head.limits, head.weight, head.bias,
        )  # fmt: skip
        if not fits or not all(np.isfinite(array).all() for array in arrays):
            raise ValueError("the parts of the head do not fit each other")
        if not (isinstance(head.n_neighbors, int) and head.n_neighbors >= 0 and head.same >= 0):
            raise ValueError("the numbers of the head are not possible")
        return head


@runtime_checkable
class Portable(Protocol):
    """A clusterer that can hand out what it has learnt."""

    def portable(self) -> PortableHead: ...


def portable_head(model: Any, X: Floats) -> tuple[PortableHead, str]:
    """The head of a fitted clusterer, and a note where it is only an approximation of it."""
    if isinstance(model, Portable):
        return model.portable(), ""
    head = PortableHead.from_groups(X, model.labels_)
    agree = float(np.mean(head.predict(X).labels == model.labels_))
    return head, (
        f"{type(model).__name__} cannot be taken along as it is: items go to the group whose "
        f"mean is nearest. Of the pile's own items {agree:.1%} come into their group this way."
    )


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]


def _turned(X: Floats, mean: Floats, turn: Floats) -> Floats:
    centred = np.asarray(X, dtype=np.float64).reshape(len(X), -1) - mean
    return np.asarray(centred @ turn if turn.ndim == 2 else centred * turn)


def _middle(X: Floats) -> tuple[Floats, Floats]:
    """Mean of all vectors, and the scale that gives them the mean length one, for each number."""
    flat = X.reshape(len(X), -1)
    mean = flat.mean(axis=0, dtype=np.float64)
    square = sum(float(((flat[part] - mean) ** 2).sum()) for part in _parts(len(X)))
    return mean, np.full(flat.shape[1], 1.0 / max(np.sqrt(square / len(X)), 1e-12))


def _short(points: Floats, allowed: float) -> Floats:
    """The points in 16 bits where that hardly moves them, else in 32."""
    with np.errstate(over="ignore"):
        short = points.astype(np.float16)
    moved = np.linalg.norm(short.astype(np.float64) - points, axis=1)
    return short if (moved <= allowed).all() else points.astype(np.float32)


def _short_strengths(strengths: Floats) -> Floats:
    """The strengths in 16 bits unless two groups would come to be equally strong, else in 32."""
    short = strengths.astype(np.float16)
    same = (short.argmax(axis=1) == strengths.argmax(axis=1)).all()
    return short if same else strengths.astype(np.float32)


def _by_prototypes(near: Neighbours, strengths: Floats) -> Floats:
    """(n, k) memberships of fuzzy c-means: each group by its inverse squared distance."""
    weight = 1.0 / np.maximum(near.distances, 1e-12) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    of_group = np.zeros((len(weight), strengths.shape[1]))
    for rank in range(weight.shape[1]):
        of_group += strengths[near.rows[:, rank]] * weight[:, rank, None]
    return of_group
