"""Orientation: which differences matter to the person, and how far answers spread and count.

The orientation is a linear map, learnt from few answers. Groups spread from their seeds over a
graph of neighbours. How far an answer can be believed is judged by the other answers.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.linear_head import LinearHead
from samekind.clusterers.live.seeds import Seeds
from samekind.neighbours import exact_neighbours, neighbour_graph

Floats = NDArray[Any]
Ints = NDArray[np.intp]

SCALED_LENGTH = 3.0
"""Mean length of the items that the linear classifier sees."""
CLASSIFIER_C = 10.0
"""Inverse strength of the classifier's regularisation."""
KEEP = 0.99
"""Share of its strength that each step takes from the neighbours rather than from the seeds."""
STEPS = 60
BALANCE = 0.5
"""0 lets large groups win, 1 gives all groups the same mass."""
MAX_SINGLE_THREAD_ITEMS = 20_000
"""Up to this many items one thread is used: on busy cores, threads wait for each other for much
longer than such small products take (2 cores under load: 10 times slower with two threads)."""
MIN_ANSWERED = 30
"""Answered items below which none of them is doubted."""
FOLDS = 5
EXPECTED_ERROR, EXPECTED_ERROR_WEIGHT = 0.03, 30.0
"""Share of wrong answers before any evidence, and how many answers that belief is worth."""
MIN_RIGHT = 0.05
"""An answer less likely right than this does not spread."""
MANY_ERRORS = (0.04, 0.08)
"""Shares of wrong answers from which single answers are doubted, and doubted fully."""
MAX_DOUBTFUL = 0.1
"""An answer that the others find less likely than this is worth another look."""
REPEATED, MAX_REPEATED_SIZE, REPEATED_RIGHT = 0.5, 0.5, 0.02
"""Belief in another kind from which a kind is taken for that one once more, how many of the other's
placed items it may have, and how likely its answers are right then."""
WITNESSES = 15
"""Nearest answered items that vote about one."""
MAX_EXACT_WITNESSES = 4_096
"""Answered items up to which their distances are computed one by one."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Centred principal components of the items, scaled to mean length one."""

    mean: Floats
    axes: Floats

    @classmethod
    def of(
        cls, X: Floats, rows: NDArray[np.intp], n_components: int, scale: Floats | None = None
    ) -> Axes:
        """Find them on some rows; directions without spread are left out.

        `scale` (d,) says how much each column counts; None: all the same.
        """
        sample = X[rows].astype(np.float64)
        mean = sample.mean(axis=0)
        sample -= mean
        if scale is not None:
            sample *= scale
        spread, axes = _principal(sample)
        keep = (spread > 1e-7 * max(spread[0], 1e-300))[:n_components]
        axes = axes[: len(keep)][keep]
        if not len(axes):  # all items alike: keep one direction so that shapes stay valid
            axes = np.eye(1, X.shape[1])
        length = np.sqrt(((sample @ axes.T) ** 2).sum(axis=1).mean())
        axes = axes.T / max(length, 1e-12)
        return cls(mean, axes if scale is None else axes * scale[:, None])

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
    head = LinearHead.of(
        Z[seeds.rows] * SCALED_LENGTH, seeds.labels, weight, seeds.n_kinds, C=CLASSIFIER_C
    )
    return head(Z * SCALED_LENGTH)


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


def single_threaded(n_items: int) -> AbstractContextManager[Any]:
    """Within this context numerical libraries use one thread, unless there are many items."""
    from threadpoolctl import threadpool_limits

    limit = 1 if n_items <= MAX_SINGLE_THREAD_ITEMS else None
    limits: AbstractContextManager[Any] = threadpool_limits(limit)
    return limits


def spread(
    space: Floats,
    seeds: Seeds,
    n_neighbors: int,
    weight: Floats | None = None,
    *,
    width: int | None = None,
    prior: Floats | None = None,
    balance: float = BALANCE,
) -> Floats:
    """(m, k) how strongly each group reaches each row over the neighbour graph.

    Parameters
    ----------
    weight : (s,) strength of each seed; None: all the same.
    prior : (m, k) strength of each row that is no seed; None: nothing.
    balance : 0 lets large groups win, 1 gives all groups the same mass.
    width : coordinates by which neighbours are found, in single precision; None: all, in full.
    """
    import scipy.sparse as sp

    points = space if width is None else np.asarray(space[:, :width], dtype=np.float32)
    graph = neighbour_graph(points, n_neighbors)
    scale = sp.diags(1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    step = scale @ graph @ scale
    source = np.zeros((len(space), seeds.n_kinds if prior is None else prior.shape[1]))
    if prior is not None:
        source[:] = prior
    if seeds.n_kinds > source.shape[1]:  # answers that no group could take have opened others
        source = np.pad(source, ((0, 0), (0, seeds.n_kinds - source.shape[1])))
    source[seeds.rows] = 0.0
    source[seeds.rows, seeds.labels] = 1.0 if weight is None else weight
    strength = source.copy()
    for _ in range(STEPS):
        strength = KEEP * (step @ strength) + (1 - KEEP) * source
    strength = strength / np.maximum(strength.sum(axis=1, keepdims=True), 1e-12) + 1e-9
    strength /= strength.sum(axis=0, keepdims=True) ** balance
    return np.asarray(strength / strength.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Reference:
    """Items whose groups are known; all others ask the nearest of them."""

    orientation: Orientation
    space: Floats
    strength: Floats

    def vote(self, space: Floats, k: int) -> Floats:
        """(n, groups) strengths of the `k` nearest reference items, nearer ones counting more."""
        near, distances = exact_neighbours(self.space, k, space)
        weight = np.exp(-((distances / (distances[:, -1:] + 1e-12)) ** 2))
        # The same item decides alone. Distances come from squares: half their digits are lost.
        weight[distances <= 1e-7 * (1 + np.linalg.norm(space, axis=1, keepdims=True))] = 1e9
        strength = np.zeros((len(space), self.strength.shape[1]))
        for rank in range(near.shape[1]):  # one at a time: (n, k, groups) would not fit
            strength += self.strength[near[:, rank]] * weight[:, rank, None]
        return np.asarray(strength / strength.sum(axis=1, keepdims=True))

    def only(self, groups: Ints) -> Reference:
        """The same items with some of the groups."""
        return Reference(self.orientation, self.space, self.strength[:, groups])


@dataclass(frozen=True, eq=False)
class Reliability:
    """How likely it is, for each answered item, that its group is what the person meant.

    Parameters
    ----------
    rows : the answered items. told : their groups. right : (s,) probability.
    agreed : (s,) how strongly the other answers alone suggest the group that was told.
    likely : (s,) the group that the other answers suggest. others : (s,) how many of the nearest
        answered items are in that group. error : the estimated share of wrong answers.
    """

    rows: Ints
    told: Ints
    right: Floats
    agreed: Floats
    likely: Ints
    others: Ints
    error: float

    @classmethod
    def of(cls, Z: Floats, space: Floats, seeds: Seeds, answered: NDArray[np.bool_]) -> Reliability:
        """Judge answered items by how well the other ones predict them, in two ways at once.

        A linear classifier that has not seen the item, and a vote of the nearest answered items
        along the orientation, must both find the answer odd. The share of wrong answers is
        estimated along with it (expectation-maximisation), from a strong prior on few.
        """
        rows, told, k = seeds.rows, seeds.labels, seeds.n_kinds
        right = np.ones(len(rows))
        likely, others = told.copy(), np.zeros(len(rows), dtype=np.intp)
        if answered.sum() < MIN_ANSWERED or k < 2:
            return cls(rows, told, right, right, likely, others, EXPECTED_ERROR)
        votes = _votes(space[rows], told, k)
        belief = _cross_predicted(Z[rows], told, k) * votes
        belief /= belief.sum(axis=1, keepdims=True)
        p = belief[np.arange(len(rows)), told]
        # The first of its kind, and kinds of a few, cannot be judged by the others.
        judged = answered & (np.bincount(told, minlength=k)[told] >= 3)
        error = EXPECTED_ERROR
        for _ in range(10):
            wrong = error * (1 - p) / (k - 1)
            right = np.where(judged, (1 - error) * p / ((1 - error) * p + wrong + 1e-12), 1.0)
            error = float(
                (EXPECTED_ERROR_WEIGHT * EXPECTED_ERROR + (1 - right).sum())
                / (EXPECTED_ERROR_WEIGHT + answered.sum())
            )
        error = min(error, 0.5)
        right[_repeated(belief, told)[told]] = 1 - _doubt(error) * (1 - REPEATED_RIGHT)
        likely = np.where(judged, belief.argmax(axis=1), told)
        others = np.rint(votes[np.arange(len(rows)), likely] * WITNESSES).astype(np.intp)
        agreed = np.where(judged, p, 1.0)
        return cls(rows, told, right, agreed, likely, others, error)

    def at(self, rows: Ints) -> Reliability:
        """The same for items with other numbers."""
        return replace(self, rows=rows)

    @property
    def weight(self) -> Floats:
        """(s,) how much each answer spreads: hardly, if it is almost certainly a mistake.

        Questions are asked where groups meet, and right answers look odd there too. So only what
        all others contradict is held back, unless there are many mistakes: then every answer
        counts by how likely it is right.
        """
        hardly = self.right < MIN_RIGHT
        return np.where(hardly, self.right, 1 - _doubt(self.error) * (1 - self.right))

    def doubtful(self) -> Ints:
        """Places of answered items that are worth another look, the most surprising first.

        Those whose nearest answered items are mostly in one other group, which the remaining
        answers find far more likely as well. Only the person can tell whether it was a mistake.
        """
        contradicted = (self.likely != self.told) & (self.others > WITNESSES // 2)
        found = np.flatnonzero((self.agreed < MAX_DOUBTFUL) & contradicted)
        return found[np.argsort(self.agreed[found], kind="stable")]


def _doubt(error: float) -> float:
    """How far single answers are doubted, by the share of wrong ones."""
    low, high = MANY_ERRORS
    return float(np.clip((error - low) / (high - low), 0.0, 1.0))


def _repeated(belief: Floats, told: Ints) -> NDArray[np.bool_]:
    """(k,) small kinds whose items the others find to be of one larger kind.

    A wrong "none of these" opens a kind that is there already, and later answers may go to either.
    """
    k = belief.shape[1]
    size = np.bincount(told, minlength=k)
    mean = np.zeros((k, k))
    np.add.at(mean, told, belief)
    mean /= np.maximum(size, 1)[:, None]
    larger = size[:, None] <= MAX_REPEATED_SIZE * size  # [a, b]: b has twice the items of a
    return np.asarray(((mean >= REPEATED) & larger).any(axis=1) & (size > 0))


def _cross_predicted(Z: Floats, told: Ints, k: int) -> Floats:
    """(s, k) predictions of a linear classifier for each row that it has not been trained on."""
    fold = np.empty(len(Z), dtype=np.intp)
    order = np.lexsort((np.arange(len(Z)), told))
    fold[order] = np.arange(len(Z)) % FOLDS  # every kind is spread over all folds
    found = np.full((len(Z), k), 0.1 / k)
    for part in range(FOLDS):
        train, test = fold != part, fold == part
        present = np.unique(told[train])
        if len(present) < 2 or not test.any():
            found[test] += 0.9 / k
            continue
        head = LinearHead.of(Z[train] * SCALED_LENGTH, told[train], None, k, C=CLASSIFIER_C / 10)
        found[test] += 0.9 * head(Z[test] * SCALED_LENGTH)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _votes(space: Floats, told: Ints, k: int) -> Floats:
    """(s, k) shares of the kinds among the nearest other answered items, never quite zero."""
    near = _nearest_others(space, min(WITNESSES, len(space) - 1))
    kinds = told[near]  # (s, count)
    shares = np.stack([(kinds == kind).mean(axis=1) for kind in range(k)], axis=1)
    # Kinds with many answered items have more witnesses by chance alone.
    size = np.bincount(told, minlength=k) / len(told)
    shares = shares / np.maximum(size, 1 / len(told)) ** 0.5 + 0.01
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _nearest_others(space: Floats, count: int) -> Ints:
    """(s, count) the nearest other rows of each row in any order; of equally near ones the first.

    In pieces, because thousands may be put together by hand. Of very many rows the distances come
    from products, which is ten times as fast and not exact to the last digit.
    """
    from scipy.spatial.distance import cdist

    if len(space) > MAX_EXACT_WITNESSES:
        return exact_neighbours(space, count).rows
    near = np.empty((len(space), count), dtype=np.intp)
    for start in range(0, len(space), 1_024):
        rows = np.arange(start, min(start + 1_024, len(space)))
        distances = cdist(space[rows], space, "sqeuclidean")
        distances[np.arange(len(rows)), rows] = np.inf
        reach = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
        row, other = np.nonzero(distances <= reach)
        tied = distances[row, other] == reach[row, 0]
        # All that are nearer, and of those at the same distance the first ones until it is enough.
        nearer = np.bincount(row[~tied], minlength=len(rows))
        first = np.searchsorted(row[tied], np.arange(len(rows)))
        rank = np.arange(int(tied.sum())) - first[row[tied]]
        kept = ~tied
        kept[tied] = rank < (count - nearer)[row[tied]]
        near[rows] = other[kept].reshape(len(rows), count)
    return near
