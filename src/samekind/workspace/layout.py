"""Layout: all items as points in the plane, near each other where they are alike.

The two main axes give a first sketch at once. Then neighbours pull each other together while all
others push apart, as in UMAP [1]_, with all forces of one step summed by sparse products. What was
laid out before can be the start, so that a map is seen to re-arrange and does not jump.

References
----------
.. [1] L. McInnes, J. Healy, J. Melville. UMAP: Uniform manifold approximation and projection for
   dimension reduction. arXiv:1802.03426, 2018. The forces are those of section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]
Floats = NDArray[Any]
Ints = NDArray[np.intp]

NEIGHBOURS = 15
"""Neighbours of each item that pull."""
WIDEST = 32
"""Main axes by which neighbours are found."""
EXACT = 8_000
"""Up to so many items all pairs are compared; beyond, only items in nearby buckets."""
SEARCHED = 10
"""Buckets that are searched."""
SHARP = np.float32(1.6)
"""How fast nearness in the plane falls off with the square of the distance."""
PUSHES = 5
"""Others by which each item is pushed away in one step."""
COLD, WARM = 250, 100
"""Steps from a sketch, and from an earlier layout."""
SPAN = 20.0
"""Width of the plane while forces act."""
INSIDE = 0.995
"""Share of the points along an axis that decides about the scale; the rest is held at the edge."""


def main_axes(space: Floats, width: int = 2, *, sample: int = 10_000) -> Floats:
    """(n, width) coordinates along the axes of largest variance, found on a sample."""
    flat = np.asarray(space, dtype=np.float32).reshape(len(space), -1)
    some = flat[np.unique(np.linspace(0, len(flat) - 1, min(sample, len(flat))).astype(int))]
    mean = some.mean(axis=0, dtype=np.float64).astype(np.float32)
    centred = some - mean
    if centred.shape[1] > 2_000:  # pixels: the products of items are fewer than those of columns
        _, _, axes = np.linalg.svd(centred[:: max(1, len(centred) // 500)], full_matrices=False)
    else:
        axes = np.linalg.eigh(centred.T @ centred)[1].T[::-1]
    axes = axes[:width]
    strongest = np.abs(axes).argmax(axis=1)
    axes = (
        axes * np.sign(axes[np.arange(len(axes)), strongest])[:, None]
    )  # never mirrored by chance
    found = (flat - mean) @ axes.T
    return np.pad(found, ((0, 0), (0, width - found.shape[1])))


def sketch(space: Floats) -> Plane:
    """The items along the two main axes, within the square from -1 to 1."""
    return in_square(main_axes(space))


def by_neighbours(
    space: Floats,
    *,
    start: Floats | None = None,
    seed: int = 0,
    go_on: Callable[[], bool] = lambda: True,
) -> Plane:
    """The items so that those alike lie together, within the square from -1 to 1.

    Parameters
    ----------
    start : (n, 2) an earlier layout of the same items; None begins with their two main axes.
    go_on : asked before each step; after False the layout is handed out as it is by then.
    """
    first = main_axes(space) if start is None else np.asarray(start, dtype=np.float32)
    reduced = main_axes(space, min(WIDEST, int(np.prod(space.shape[1:]))))
    if len(space) <= 3 or not reduced.any():
        return in_square(first)
    rng = np.random.default_rng(seed)
    near, apart = neighbours(reduced, min(NEIGHBOURS, len(space) - 1), rng)
    spread = float(np.abs(first).max()) or 1.0
    places = np.asarray(first / spread * SPAN / 2, dtype=np.float32)
    # Equal points would stay on top of each other: no force has a direction there.
    places = places + rng.normal(scale=1e-3, size=places.shape).astype(np.float32)
    steps = COLD if start is None else WARM
    return in_square(_settled(places, _pulls(near, apart), steps, start is not None, rng, go_on))


def aligned(layout: Floats, onto: Floats) -> Plane:
    """The layout turned and mirrored, which no distance notices, to lie on an earlier one."""
    here = np.asarray(layout, dtype=np.float64) - layout.mean(axis=0, dtype=np.float64)
    there = np.asarray(onto, dtype=np.float64) - onto.mean(axis=0, dtype=np.float64)
    return in_square(procrustes(here, there))


def procrustes(plane: Floats, onto: Floats) -> NDArray[np.float64]:
    """Rotate and mirror `plane` so that it comes closest to `onto` (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(plane.T @ onto)
    return np.asarray(plane @ (left @ right))


def in_square(plane: Floats) -> Plane:
    """As large as the square from -1 to 1 allows, with the same scale along both axes.

    A few far outliers do not make all others small: they are held at the edge.
    """
    low, high = np.quantile(plane, (1 - INSIDE, INSIDE), axis=0)
    half = float((high - low).max()) / 2 * 1.05
    centred = (plane - (low + high) / 2) / half if half > 0 else plane * 0.0
    return np.clip(centred, -1, 1).astype(np.float32)


def neighbours(space: Floats, k: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(n, k) near other rows and their distances; beyond `EXACT` rows nearly always the nearest."""
    from sklearn.neighbors import NearestNeighbors

    points = np.ascontiguousarray(space, dtype=np.float32)
    if len(points) <= EXACT:
        apart, near = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(points).kneighbors()
        return near, apart
    return _in_buckets(points, k, rng)


def _in_buckets(points: Floats, k: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Neighbours among the items of nearby buckets, which a short k-means makes."""
    n = len(points)
    centres = points[rng.choice(n, size=int(np.sqrt(n)), replace=False)]
    sample = points[rng.choice(n, size=min(n, 20_000), replace=False)]
    for _ in range(4):
        home = _nearest(sample, centres)
        sums = np.stack(
            [np.bincount(home, weights=column, minlength=len(centres)) for column in sample.T],
            axis=1,
        )
        counts = np.bincount(home, minlength=len(centres))
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        centres = centres.astype(np.float32)
    home = _nearest(points, centres)
    order = np.argsort(home, kind="stable")
    ends = np.cumsum(np.bincount(home, minlength=len(centres)))
    members = np.split(order, ends[:-1])
    close = np.argsort(_squares(centres, centres), axis=1)
    near, apart = np.empty((n, k), dtype=np.intp), np.empty((n, k), dtype=np.float32)
    for bucket, own in enumerate(members):
        if not len(own):
            continue
        found = [members[b] for b in close[bucket, :SEARCHED]]
        more = SEARCHED
        while sum(map(len, found)) <= k:  # in small buckets look further
            found.append(members[close[bucket, more]])
            more += 1
        candidates = np.concatenate(found)
        for part in np.array_split(own, max(1, len(own) // 2_000)):
            near[part], apart[part] = _best(points, part, candidates, k)
    return near, apart


def _best(points: Floats, rows: Ints, candidates: Ints, k: int) -> tuple[Ints, Floats]:
    squares = _squares(points[rows], points[candidates])  # (b, c)
    squares[rows[:, None] == candidates] = np.inf
    best = np.argpartition(squares, k - 1, axis=1)[:, :k]
    return candidates[best], np.sqrt(np.take_along_axis(squares, best, axis=1))


def _nearest(points: Floats, centres: Floats) -> Ints:
    parts = np.array_split(points, max(1, len(points) // 8_192))
    return np.concatenate([_squares(part, centres).argmin(axis=1) for part in parts])


def _squares(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(axis=1)[:, None] - 2 * (a @ b.T) + (b**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def _pulls(near: Ints, apart: Floats) -> Any:
    """(n, n) sparse and symmetric: how much each two neighbours pull each other, from 0 to 1."""
    import scipy.sparse as sp

    n, k = near.shape
    beyond = apart - apart.min(axis=1, keepdims=True)
    weight = np.exp(-beyond / (beyond.mean(axis=1, keepdims=True) + 1e-12)).astype(np.float32)
    rows = np.repeat(np.arange(n), k)
    graph = sp.csr_matrix((weight.ravel(), (rows, near.ravel())), shape=(n, n))
    return (graph + graph.T - graph.multiply(graph.T)).tocsr()


def _settled(
    places: Plane,
    pulls: Any,
    steps: int,
    warm: bool,
    rng: np.random.Generator,
    go_on: Callable[[], bool],
) -> Plane:
    """The places after so many steps, each shorter than the one before."""
    n, begin = len(places), pulls.indptr
    degree, second, weight = np.diff(begin), pulls.indices, pulls.data
    mass = np.maximum(np.add.reduceat(weight, begin[:-1]), 1e-6)
    x, y = (np.ascontiguousarray(axis) for axis in places.T)
    for step in range(steps):
        if not go_on():
            break
        pace = np.float32((0.5 if warm else 1.0) * (1 - step / steps))
        dx, dy = np.repeat(x, degree) - x[second], np.repeat(y, degree) - y[second]  # (edges,)
        pull = (-2 * SHARP * weight) / (1 + SHARP * (dx * dx + dy * dy))
        force_x = np.add.reduceat(dx * pull, begin[:-1]) / mass
        force_y = np.add.reduceat(dy * pull, begin[:-1]) / mass
        for _ in range(PUSHES):
            other = rng.integers(n, size=n, dtype=np.int32)
            dx, dy = x - x[other], y - y[other]
            square = dx * dx + dy * dy
            push = 2 / ((0.001 + square) * (1 + SHARP * square))
            force_x += np.clip(dx * push, -4, 4)
            force_y += np.clip(dy * push, -4, 4)
        x, y = x + pace * np.clip(force_x, -4, 4), y + pace * np.clip(force_y, -4, 4)
    return np.stack([x, y], axis=1)
