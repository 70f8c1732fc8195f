"""Which reference items are needed to place others, and how far from them an item still fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.neighbours import Neighbours, nearest_points

Floats = NDArray[Any]
Ints = NDArray[np.intp]

ENOUGH = 0.995
"""Share of items that fewer reference items must place as all of them do."""
HOPEFUL = 0.97
"""With less agreement than this all items will be needed, and fewer are not tried."""
QUANTILE = 0.99
"""Share of the pile's own items that count as fitting."""


def vote(near: Neighbours, strengths: Floats, same: float) -> Floats:
    """(n, groups) strengths of the nearest, nearer ones counting more; the same item alone."""
    weight = np.exp(-((near.distances / (near.distances[:, -1:] + 1e-12)) ** 2))
    weight[near.distances <= same] = 1e9
    found = np.zeros((len(weight), strengths.shape[1]))
    for rank in range(weight.shape[1]):
        found += strengths[near.rows[:, rank]] * weight[:, rank, None]
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def condensed(points: Floats, strengths: Floats, n_neighbors: int, most: int) -> Ints:
    """Rows of reference items that place items as all of them would; ascending.

    A sample that begins with the settled items is completed by those that it places wrongly, and
    enlarged until it agrees with all of them, both on the left-out items and on items seen anew.
    """
    m, own = len(points), strengths.argmax(axis=1)
    every = np.arange(m)
    if m <= most:
        return every
    wanted = vote(nearest_points(points, points, n_neighbors, own=every), strengths, 0.0).argmax(
        axis=1
    )
    settled = strengths.max(axis=1) >= 1.0
    chance = np.random.default_rng(0).permutation(m)
    order = np.concatenate([chance[settled[chance]], chance[~settled[chance]]])
    size = most
    while size < m:
        rows = np.sort(order[: size * 3 // 4])
        wrong = np.setdiff1d(
            np.flatnonzero(_loo(points, strengths, rows, n_neighbors) != own), rows
        )
        rows = np.union1d(rows, wrong[: size - len(rows)])
        found = _loo(points, strengths, rows, n_neighbors)
        left = np.setdiff1d(every, rows)
        agree = min(float(np.mean(found == wanted)), float(np.mean(found[left] == own[left])))
        if agree >= ENOUGH:
            return rows
        size = size * 3 // 2 if agree >= HOPEFUL else m
    return every


def calibrated(points: Floats, groups: Ints, rows: Ints, n_groups: int) -> tuple[Floats, float]:
    """How far from the kept `rows` an item of each group may lie, and the typical distance.

    Each of the pile's items is compared with the nearest other kept item of its group. The limit is
    the distance that all but one in a hundred keep, in units of the group's median.
    """
    apart = np.full(len(points), np.nan)
    place = np.full(len(points), -1)
    for group in range(n_groups):
        kept, members = rows[groups[rows] == group], np.flatnonzero(groups == group)
        if len(kept) < 2:
            continue
        place[:] = -1
        place[kept] = np.arange(len(kept))
        near = nearest_points(points[members], points[kept], 1, own=place[members])
        apart[members] = near.distances[:, 0]
    known = np.isfinite(apart)
    if not known.any():  # every group is one item
        return np.full(n_groups, np.linalg.norm(points.std(axis=0)) + 1e-12), 0.0
    typical = float(np.median(apart[known]))
    middles = np.full(n_groups, typical)
    for group in range(n_groups):
        mine = apart[known & (groups == group)]
        if len(mine) >= 5:
            middles[group] = max(float(np.median(mine)), 0.25 * typical)
    share = apart[known] / np.maximum(middles[groups[known]], 1e-12)
    return middles * max(float(np.quantile(share, QUANTILE)), 1.0), typical


def _loo(points: Floats, strengths: Floats, rows: Ints, n_neighbors: int) -> Ints:
    """(m,) the group of each item by the kept items without itself."""
    place = np.full(len(points), -1)
    place[rows] = np.arange(len(rows))
    near = nearest_points(points, points[rows], n_neighbors, own=place)
    return np.asarray(vote(near, strengths[rows], 0.0).argmax(axis=1), dtype=np.intp)
