"""All groupings of a few items, as label sequences in order of first appearance."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError

MOST = 10
"""Items whose groupings are listed at most: 115,975 of them."""


@cache
def all_partitions(n: int) -> NDArray[np.intp]:
    """(P, n) every grouping of n items once.

    >>> all_partitions(3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    if not 1 <= n <= MOST:
        raise InputError(
            f"The groupings of {n} items cannot be listed. Give 1 to {MOST} items, or sample."
        )
    rows = np.zeros((1, 1), dtype=np.intp)
    for _ in range(n - 1):
        choices = rows.max(axis=1) + 2
        parent = np.repeat(np.arange(len(rows)), choices)
        begin = np.repeat(np.cumsum(choices) - choices, choices)
        rows = np.column_stack([rows[parent], np.arange(len(parent)) - begin])
    rows.setflags(write=False)
    return rows
