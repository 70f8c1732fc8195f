"""Layout of the map: all items as points in the plane, similar ones close together.

The first two principal axes give a sketch at once. Then neighbours attract each other while all
other items repel, as in UMAP [1]_, with the forces of a step summed by sparse products. An earlier
layout can be the start, so that the map rearranges instead of jumping.

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

from samekind.neighbours import find_neighbours

Plane = NDArray[np.float32]
Floats = NDArray[Any]
Ints = NDArray[np.intp]

NEIGHBOURS = 15
"""Neighbours that attract each item."""
SEARCH_AXES = 32
"""Principal axes along which neighbours are found."""
FALLOFF = np.float32(1.6)
"""How fast attraction falls off with the square of the distance in the plane."""
REPELLING = 5
"""Random other items that repel each item in one step."""
COLD_STEPS, WARM_STEPS = 250, 100
"""Steps from a sketch, and from an earlier layout."""
WIDTH = 20.0
"""Width of the plane while forces act."""
INSIDE = 0.995
"""Share of the points along an axis that sets the scale; outliers are held at the edge."""


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
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]  # never mirrored by chance
    found = (flat - mean) @ axes.T
    return np.pad(found, ((0, 0), (0, width - found.shape[1])))


def sketch(space: Floats) -> Plane:
    """Lay items out along their two main axes, within the square from -1 to 1."""
    return in_square(main_axes(space))


def by_neighbours(
    space: Floats,
    *,
    start: Floats | None = None,
    seed: int = 0,
    go_on: Callable[[], bool] = lambda: True,
) -> Plane:
    """Lay items out so that similar ones lie together, within the square from -1 to 1.

    Parameters
    ----------
    start : (n, 2) an earlier layout of the same items; None begins with their two main axes.
    go_on : called before each step; once it returns False the layout is returned as it is.
    """
    first = main_axes(space) if start is None else np.asarray(start, dtype=np.float32)
    reduced = main_axes(space, min(SEARCH_AXES, int(np.prod(space.shape[1:]))))
    if len(space) <= 3 or not reduced.any():
        return in_square(first)
    rng = np.random.default_rng(seed)
    near, distances = find_neighbours(reduced, NEIGHBOURS)
    spread = float(np.abs(first).max()) or 1.0
    places = np.asarray(first / spread * WIDTH / 2, dtype=np.float32)
    # Equal points would stay on top of each other: no force has a direction there.
    places = places + rng.normal(scale=1e-3, size=places.shape).astype(np.float32)
    steps, pace = (COLD_STEPS, 1.0) if start is None else (WARM_STEPS, 0.5)
    return in_square(_settled(places, _attraction(near, distances), steps, pace, rng, go_on))


def aligned(layout: Floats, onto: Floats) -> Plane:
    """Rotate and mirror a layout to lie on an earlier one; distances stay the same."""
    here = np.asarray(layout, dtype=np.float64) - layout.mean(axis=0, dtype=np.float64)
    there = np.asarray(onto, dtype=np.float64) - onto.mean(axis=0, dtype=np.float64)
    return in_square(procrustes(here, there))


def procrustes(plane: Floats, onto: Floats) -> NDArray[np.float64]:
    """Rotate and mirror `plane` so that it comes closest to `onto` (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(plane.T @ onto)
    return np.asarray(plane @ (left @ right))


def in_square(plane: Floats) -> Plane:
    """Scale to the square from -1 to 1, by the same factor along both axes.

    A few distant outliers do not make all others small: they are held at the edge.
    """
    low, high = np.quantile(plane, (1 - INSIDE, INSIDE), axis=0)
    half = float((high - low).max()) / 2 * 1.05
    centred = (plane - (low + high) / 2) / half if half > 0 else plane * 0.0
    return np.clip(centred, -1, 1).astype(np.float32)


def _attraction(near: Ints, distances: Floats) -> Any:
    """(n, n) sparse and symmetric: how much two neighbours attract each other, from 0 to 1."""
    import scipy.sparse as sp

    n, k = near.shape
    beyond = distances - distances.min(axis=1, keepdims=True)
    weight = np.exp(-beyond / (beyond.mean(axis=1, keepdims=True) + 1e-12)).astype(np.float32)
    rows = np.repeat(np.arange(n), k)
    graph = sp.csr_matrix((weight.ravel(), (rows, near.ravel())), shape=(n, n))
    return (graph + graph.T - graph.multiply(graph.T)).tocsr()


def _settled(
    places: Plane,
    attraction: Any,
    steps: int,
    first_pace: float,
    rng: np.random.Generator,
    go_on: Callable[[], bool],
) -> Plane:
    """The places after so many steps, each shorter than the one before."""
    n, begin = len(places), attraction.indptr
    degree, second, weight = np.diff(begin), attraction.indices, attraction.data
    mass = np.maximum(np.add.reduceat(weight, begin[:-1]), 1e-6)
    x, y = (np.ascontiguousarray(axis) for axis in places.T)
    for step in range(steps):
        if not go_on():
            break
        pace = np.float32(first_pace * (1 - step / steps))
        dx, dy = np.repeat(x, degree) - x[second], np.repeat(y, degree) - y[second]  # (edges,)
        pull = (-2 * FALLOFF * weight) / (1 + FALLOFF * (dx * dx + dy * dy))
        force_x = np.add.reduceat(dx * pull, begin[:-1]) / mass
        force_y = np.add.reduceat(dy * pull, begin[:-1]) / mass
        for _ in range(REPELLING):
            other = rng.integers(n, size=n, dtype=np.int32)
            dx, dy = x - x[other], y - y[other]
            square = dx * dx + dy * dy
            push = 2 / ((0.001 + square) * (1 + FALLOFF * square))
            force_x += np.clip(dx * push, -4, 4)
            force_y += np.clip(dy * push, -4, 4)
        x, y = x + pace * np.clip(force_x, -4, 4), y + pace * np.clip(force_y, -4, 4)
    return np.stack([x, y], axis=1)
