"""Portable heads: what a learner has learnt, as a few plain arrays that place other items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from samekind.neighbours import Neighbours, nearest_points

Floats = NDArray[Any]
Ints = NDArray[np.intp]

CHUNK_ITEMS = 1024
"""Items that are placed at a time: their distances to a thousand points fit the cache."""
SAME = 0.02
"""An item this near to a reference item, in typical distances of neighbours, is the same item."""
MAX_ROUNDING = 0.005
"""Points are stored in 16 bits where that moves them by less than this, in typical distances."""
MIN_AGREEMENT = 0.995
"""Share of items that fewer reference items must place as all of them do."""
HOPELESS_AGREEMENT = 0.97
"""With less agreement than this all items will be needed, and fewer are not tried."""
FITTING_QUANTILE = 0.99
"""Share of the pile's own items that count as fitting."""


class Placing(NamedTuple):
    """Where a head places items, and how surely.

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
    """Reference items along the person's orientation; the nearest of them place other items.

    Parameters
    ----------
    mean, turn : (d,) and (d, p), or (d,) for a change of scale only: the projection of vectors
        onto the orientation.
    points, strengths : (m, p) the reference items there, and (m, k) their shares of the groups.
    labels : (k,) the learner's label of each group.
    limits : (k,) the distance beyond which an item fits no group, by its nearest group.
    same : a reference item that is nearer than this decides alone.
    n_neighbors : how many of them vote; 0: the points are prototypes, and all vote.
    weight, bias : (p, k) and (k,) of a linear head that decides in place of the neighbours, empty
        without one. The points then hold the first coordinates only, and decide only about items
        that are one of them.
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
        """From a learner with a linear head (its weight and bias).

        The points (m, q) are items in the first q coordinates. Those that the answers have
        `settled` are kept, with every fourth of the others to tell what fits no group.
        """
        rows = np.union1d(settled, np.arange(0, len(points), 4))
        linear = (np.asarray(part, dtype=np.float32) for part in head)
        return cls._kept(mean, turn, points, strengths, rows, 1, *linear)

    @classmethod
    def from_reference(
        cls,
        mean: Floats,
        turn: Floats,
        points: Floats,
        strengths: Floats,
        n_neighbors: int,
        *,
        most: int = 1000,
    ) -> PortableHead:
        """From a learner whose reference items vote; keeps as few of them as place items alike.

        Reference items that the answers have settled (all strength in one group) are kept first.
        More than `most` are kept where fewer would place items differently.
        """
        rows = condensed(points, strengths, n_neighbors, most)
        return cls._kept(mean, turn, points, strengths, rows, n_neighbors)

    @classmethod
    def _kept(
        cls,
        mean: Floats,
        turn: Floats,
        points: Floats,
        strengths: Floats,
        rows: Ints,
        n_neighbors: int,
        *linear: Floats,
    ) -> PortableHead:
        """With some rows of the points, and limits by which all points fit them."""
        k = strengths.shape[1]
        limits, typical = calibrated(points, strengths.argmax(axis=1), rows, k)
        return cls(
            np.asarray(mean, dtype=np.float32),
            np.asarray(turn, dtype=np.float32),
            _short(points[rows], MAX_ROUNDING * typical),
            _short_strengths(strengths[rows]),
            np.arange(k),
            limits,
            SAME * typical,
            n_neighbors,
            *linear,
        )

    @classmethod
    def from_groups(cls, X: Floats, groups: Ints) -> PortableHead:
        """For learners without a head: one prototype per group, the mean of its vectors."""
        labels, group = np.unique(groups, return_inverse=True)
        mean, scale = _middle(X)
        points = np.stack(
            [_projected(X[group == k], mean, scale).mean(axis=0) for k in range(len(labels))]
        )
        near = np.concatenate(
            [
                nearest_points(_projected(X[part], mean, scale), points, 1).distances
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
        """Place any number of vectors, a thousand at a time."""
        X = np.asarray(X)
        points, strengths = self.points.astype(np.float64), self.strengths.astype(np.float64)
        of_group = np.empty((len(X), len(self.labels)))
        distances = np.empty(len(X))
        for part in _parts(len(X)):
            projected = _projected(X[part], self.mean, self.turn)
            near = nearest_points(
                projected[:, : points.shape[1]], points, self.n_neighbors or len(points)
            )
            if self.weight.size:
                of_group[part] = self._by_line(projected, near, strengths)
            elif self.n_neighbors:
                of_group[part] = vote(near, strengths, self.same)
            else:
                of_group[part] = _by_prototypes(near, strengths)
            distances[part] = near.distances[:, 0]
        return Placing(self.labels[of_group.argmax(axis=1)], of_group, distances)

    def _by_line(self, projected: Floats, near: Neighbours, strengths: Floats) -> Floats:
        """(n, k) shares by the linear head; an item that is one of the points has its shares."""
        scores = projected @ self.weight + self.bias
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        itself = near.distances[:, 0] <= self.same
        shares[itself] = strengths[near.rows[itself, 0]]
        return np.asarray(shares)

    def strangeness(self, placing: Placing) -> NDArray[np.float64]:
        """(n,) distance divided by the limit of the group: above 1 an item fits no group."""
        allowed = self.limits[placing.strengths.argmax(axis=1)]
        return np.asarray(placing.distances / np.maximum(allowed, 1e-12))

    def state(self) -> dict[str, Any]:
        """All fields by name, arrays and plain numbers, for :meth:`from_state`."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PortableHead:
        """Back from :meth:`state`; ValueError or KeyError if the fields are not those of a head."""
        later = ("weight", "bias")  # not in files of earlier versions
        names = (name for name in cls.__dataclass_fields__ if name in state or name not in later)
        head = cls(**{name: state[name] for name in names})
        (d,), (m, p), k = head.mean.shape, head.points.shape, len(head.labels)
        straight = bool(head.weight.size)
        width = (*head.turn.shape, p)[1] if straight else p  # coordinates that the head reads
        fits = (
            head.turn.shape in ((d, width), (d,))
            and p <= width
            and (not straight or (head.turn.ndim == 2 and head.weight.shape == (width, k)))
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
            raise ValueError("the arrays of the head do not fit each other")
        if not (isinstance(head.n_neighbors, int) and head.n_neighbors >= 0 and head.same >= 0):
            raise ValueError("n_neighbors and same of the head must not be negative")
        return head


@runtime_checkable
class Portable(Protocol):
    """A clusterer that can export what it has learnt."""

    def portable(self) -> PortableHead: ...


def portable_head(model: Any, X: Floats) -> tuple[PortableHead, str]:
    """The head of a fitted clusterer, and a note if it only approximates the clusterer."""
    if isinstance(model, Portable):
        return model.portable(), ""
    head = PortableHead.from_groups(X, model.labels_)
    agree = float(np.mean(head.predict(X).labels == model.labels_))
    return head, (
        f"{type(model).__name__} has no portable form, so new items go to the group whose mean is "
        f"nearest. This places {agree:.1%} of the original items in their group."
    )


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + CHUNK_ITEMS, n)) for start in range(0, n, CHUNK_ITEMS)]


def _projected(X: Floats, mean: Floats, turn: Floats) -> Floats:
    centred = np.asarray(X, dtype=np.float64).reshape(len(X), -1) - mean
    return np.asarray(centred @ turn if turn.ndim == 2 else centred * turn)


def _middle(X: Floats) -> tuple[Floats, Floats]:
    """Mean of all vectors, and the scale (d,) that gives them the mean length one."""
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
    return _tally(near.rows, weight / weight.sum(axis=1, keepdims=True), strengths)


def _tally(rows: Ints, weight: Floats, strengths: Floats) -> Floats:
    """(n, k) weighted sums of the strengths of rows (n, neighbours)."""
    found = np.zeros((len(rows), strengths.shape[1]))
    for rank in range(rows.shape[1]):  # one at a time: (n, neighbours, k) would not fit
        found += strengths[rows[:, rank]] * weight[:, rank, None]
    return found


def vote(near: Neighbours, strengths: Floats, same: float) -> Floats:
    """(n, groups) strengths of the nearest, nearer ones counting more; the same item alone."""
    weight = np.exp(-((near.distances / (near.distances[:, -1:] + 1e-12)) ** 2))
    weight[near.distances <= same] = 1e9
    found = _tally(near.rows, weight, strengths)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def condensed(points: Floats, strengths: Floats, n_neighbors: int, most: int) -> Ints:
    """Rows of reference items that place items as all of them would; ascending.

    A sample that begins with the settled items is completed by those that it places wrongly, and
    enlarged until it agrees with all reference items, both on left-out ones and on new ones.
    """
    m, own = len(points), strengths.argmax(axis=1)
    every = np.arange(m)
    if m <= most:
        return every
    wanted = _leave_one_out(points, strengths, every, n_neighbors)
    settled = strengths.max(axis=1) >= 1.0
    chance = np.random.default_rng(0).permutation(m)
    order = np.concatenate([chance[settled[chance]], chance[~settled[chance]]])
    size = most
    while size < m:
        rows = np.sort(order[: size * 3 // 4])
        wrong = np.flatnonzero(_leave_one_out(points, strengths, rows, n_neighbors) != own)
        rows = np.union1d(rows, np.setdiff1d(wrong, rows)[: size - len(rows)])
        found = _leave_one_out(points, strengths, rows, n_neighbors)
        left = np.setdiff1d(every, rows)
        agree = min(float(np.mean(found == wanted)), float(np.mean(found[left] == own[left])))
        if agree >= MIN_AGREEMENT:
            return rows
        size = size * 3 // 2 if agree >= HOPELESS_AGREEMENT else m
    return every


def calibrated(points: Floats, groups: Ints, rows: Ints, n_groups: int) -> tuple[Floats, float]:
    """How far from the kept `rows` an item of each group may lie, and the typical distance.

    Each item is compared with the nearest other kept item of its group. The limit is the distance
    that only one in a hundred exceeds, in units of the group's median.
    """
    distances = np.full(len(points), np.nan)
    place = np.full(len(points), -1)
    for group in range(n_groups):
        kept, members = rows[groups[rows] == group], np.flatnonzero(groups == group)
        if len(kept) < 2:
            continue
        place[:] = -1
        place[kept] = np.arange(len(kept))
        near = nearest_points(points[members], points[kept], 1, own=place[members])
        distances[members] = near.distances[:, 0]
    known = np.isfinite(distances)
    if not known.any():  # every group is one item
        return np.full(n_groups, np.linalg.norm(points.std(axis=0)) + 1e-12), 0.0
    typical = float(np.median(distances[known]))
    middles = np.full(n_groups, typical)
    for group in range(n_groups):
        mine = distances[known & (groups == group)]
        if len(mine) >= 5:
            middles[group] = max(float(np.median(mine)), 0.25 * typical)
    share = distances[known] / np.maximum(middles[groups[known]], 1e-12)
    return middles * max(float(np.quantile(share, FITTING_QUANTILE)), 1.0), typical


def _leave_one_out(points: Floats, strengths: Floats, rows: Ints, n_neighbors: int) -> Ints:
    """(m,) the group in which the kept items, without itself, place each item."""
    place = np.full(len(points), -1)
    place[rows] = np.arange(len(rows))
    near = nearest_points(points, points[rows], n_neighbors, own=place)
    return np.asarray(vote(near, strengths[rows], 0.0).argmax(axis=1), dtype=np.intp)
