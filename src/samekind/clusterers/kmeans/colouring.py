"""Colouring a graph: an exact search with a cap on its steps, and the fewest clashes otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[np.intp]


def colour(near: Sequence[Ints], k: int, *, max_steps: int | None = None) -> Ints | None:
    """A colouring in which no two neighbours are alike, or None.

    Nodes with fewer than k neighbours can always be coloured last, so they are peeled off first;
    what is left is searched. None means that there is no colouring, or that `max_steps` (default:
    10,000 and 5 per node) were not enough to find one.

    >>> triangle = [np.array([1, 2]), np.array([0, 2]), np.array([0, 1])]
    >>> colour(triangle, 3).tolist(), colour(triangle, 2)
    ([2, 1, 0], None)
    """
    peeled = _peeled(near, k)
    core = np.setdiff1d(np.arange(len(near)), peeled)
    inside = [np.searchsorted(core, np.intersect1d(near[node], core)) for node in core]
    found = _searched(inside, k, 10_000 + 5 * len(core) if max_steps is None else max_steps)
    if found is None:
        return None
    colours = np.full(len(near), -1, dtype=np.intp)
    colours[core] = found
    for node in reversed(peeled):
        around = set(colours[near[node]].tolist())
        colours[node] = next(c for c in range(k) if c not in around)
    return colours


def _peeled(near: Sequence[Ints], k: int) -> list[int]:
    """Nodes in an order in which each has fewer than k neighbours among those not yet taken."""
    degree = np.array([len(nodes) for nodes in near], dtype=np.intp)
    peeled = np.flatnonzero(degree < k).tolist()
    for node in peeled:  # grows while it is read
        degree[near[node]] -= 1
        peeled += near[node][degree[near[node]] == k - 1].tolist()
    return peeled


def _searched(near: Sequence[Ints], k: int, steps: int) -> Ints | None:
    """DSATUR with backtracking: the node with the most colours around it is coloured next."""
    n = len(near)
    colours = np.full(n, -1, dtype=np.intp)
    around = np.zeros((n, k), dtype=np.intp)  # neighbours of each colour
    degree = np.array([len(nodes) for nodes in near], dtype=np.intp)
    # Saturation first, then degree; nodes that have a colour are put below all others.
    most = int(degree.max(initial=0)) + 1
    urgency = degree.copy()
    trail: list[tuple[int, list[int]]] = []  # node, colours still to try
    while len(trail) < n:
        node = int(urgency.argmax())
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
            urgency[near[node]] -= most * (around[near[node], colours[node]] == 0)
            urgency[node] += most * (k + 1)
            colours[node] = -1
        steps -= 1
        if steps < 0:
            return None
        colours[node] = options.pop()
        urgency[near[node]] += most * (around[near[node], colours[node]] == 0)
        urgency[node] -= most * (k + 1)
        around[near[node], colours[node]] += 1
    return colours


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
