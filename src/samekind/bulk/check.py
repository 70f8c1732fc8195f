"""Random checks over all labels: which rows are asked about, and which show what a group is.

A sample of all rows is drawn without looking at their labels, so the share of right ones in it is
an unbiased estimate for the whole pile. Reference items cannot give that: they were chosen to
cover the pile, and answers are about them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.labels import Labels
from samekind.errors import InputError

Rows = NDArray[np.int64]

MAX_CHECKED = 10_000
"""Rows that may be asked about."""
N_EXEMPLARS = 5
"""Items that show what a group is."""


def drawn_rows(n: int, size: int, seed: int = 0) -> Rows:
    """Draw rows of `n` to ask about, in this order; a larger `size` adds rows at the end.

    >>> drawn_rows(1_000_000_000, 3).tolist() == drawn_rows(1_000_000_000, 5)[:3].tolist()
    True
    """
    most = min(MAX_CHECKED, n)
    if not 1 <= size <= most:
        raise InputError(f"Expected 1 to {most:,} items to check, got {size:,}.")
    rng = np.random.default_rng((seed, n))
    return np.asarray(rng.choice(n, most, replace=False)[:size], dtype=np.int64)


def exemplar_rows(labels: Labels, without: Rows) -> Mapping[int, Rows]:
    """For each group the rows that are most surely in it, apart from those `without`.

    Items that the answers settled have the confidence 1 and the distance 0, so they come first. Of
    a hundred million labels a few numbers per group are in memory.
    """
    without = np.sort(without)
    best = np.empty((4, 0))  # group, less confident, distance, row
    for batch in labels.scan(("row", "group", "confidence", "distance")):
        columns = (batch.column(name).to_numpy() for name in batch.schema.names)
        row, group, confidence, distance = columns
        free = ~_among(row, without)
        found = np.stack([group, 1.0 - confidence, distance, row.astype(np.float64)])[:, free]
        best = _first_of_each(np.concatenate([best, found], axis=1))
    return {int(g): best[3, best[0] == g].astype(np.int64) for g in np.unique(best[0])}


def _among(rows: Rows, some: Rows) -> NDArray[np.bool_]:
    """Whether each row is among some, which are ascending."""
    if not len(some):
        return np.zeros(len(rows), dtype=bool)
    at = np.minimum(np.searchsorted(some, rows), len(some) - 1)
    return np.asarray(some[at] == rows)


def _first_of_each(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """(4, m) the columns that come first in each group: most confident, nearest, first row."""
    table = table[:, np.lexsort((table[3], table[2], table[1], table[0]))]
    _, start, sizes = np.unique(table[0], return_index=True, return_counts=True)
    rank = np.arange(table.shape[1]) - np.repeat(start, sizes)
    return table[:, rank < N_EXEMPLARS]
