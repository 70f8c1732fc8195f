"""Colouring a graph: an exact search with a cap on its steps, and the fewest clashes otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[np.intp]


def colour(near: Sequence[Ints], k: int, *, max_steps: int | None = None) -> Ints | None:
    """A colouring in which no two neighbours are alike (DSATUR with backtracking).

    Returns None when there is none, or when `max_steps` (default: 10,000 and 20 per node) were
    not enough to find one.

    >>> triangle = [np.array([1, 2]), np.array([0, 2]), np.array([0, 1])]
    >>> colour(triangle, 3).tolist(), colour(triangle, 2)
    ([0, 1, 2], None)
    """
    n = len(near)
    steps = 10_000 + 20 * n if max_steps is None else max_steps
    colours = np.full(n, -1, dtype=np.intp)
    around = np.zeros((n, k), dtype=np.intp)  # neighbours of each colour
    degree = np.array([len(nodes) for nodes in near])
    trail: list[tuple[int, list[int]]] = []  # node, colours still to try
    while len(trail) < n:
        node = _most_constrained(colours, around, degree)
        used = int(colours.max(initial=-1)) + 1
        # Unused colours are interchangeable: trying one of them is enough.
        options = np.flatnonzero(around[node, : min(k, used + 1)] == 0).tolist()[::-1]
        trail.append((node, options))
        while not options:
            trail.pop()
            if not trail:
                return None
            node, options = trail[-1]
            around[near[node], colours[node]] -= 1
            colours[node] = -1
        steps -= 1
        if steps < 0:
            return None
        colours[node] = options.pop()
        around[near[node], colours[node]] += 1
    return colours


def _most_constrained(colours: Ints, around: Ints, degree: Ints) -> int:
    saturation = (around > 0).sum(axis=1) * (int(degree.max()) + 1) + degree
    return int(np.where(colours < 0, saturation, -1).argmax())


def fewest_clashes(
    near: Sequence[Ints],
    weight: Sequence[Floats],
    start: Ints,
    k: int,
    *,
    max_steps: int | None = None,
) -> Ints:
    """Few clashing neighbours where a clean colouring was not found: tabu search from `start`.

    In every step the recolouring of a clashing node that helps most is done, even if it hurts, and
    undoing it is forbidden for a while; the best colouring seen is returned.
    """
    n = len(near)
    steps = min(20_000, 500 + 20 * n) if max_steps is None else max_steps
    rng = np.random.default_rng(0)
    colours = start.copy()
    around = np.zeros((n, k))
    for node in range(n):
        np.add.at(around[:, colours[node]], near[node], weight[node])
    forbidden = np.zeros((n, k), dtype=np.intp)
    clashes = around[np.arange(n), colours].sum() / 2
    best, fewest = colours.copy(), clashes
    for step in range(1, steps + 1):
        clashing = np.flatnonzero(around[np.arange(n), colours] > 0)
        if not len(clashing):
            break
        change = around[clashing] - around[clashing, colours[clashing]][:, None]
        blocked = (forbidden[clashing] >= step) & (clashes + change >= fewest)
        change[blocked] = np.inf
        change[np.arange(len(clashing)), colours[clashing]] = np.inf
        least = change.min()
        if not np.isfinite(least):
            continue
        rows, columns = np.nonzero(change == least)
        pick = int(rng.integers(len(rows)))
        node, new, old = (
            int(clashing[rows[pick]]),
            int(columns[pick]),
            int(colours[clashing[rows[pick]]]),
        )
        forbidden[node, old] = step + 5 + len(clashing) // 2 + int(rng.integers(5))
        around[near[node], old] -= weight[node]
        around[near[node], new] += weight[node]
        colours[node] = new
        clashes += least
        if clashes < fewest - 1e-12:
            best, fewest = colours.copy(), clashes
    return best
