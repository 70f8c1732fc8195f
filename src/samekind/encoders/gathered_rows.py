"""GatheredRows: the raw features of a collection as one array, without a copy where possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.feature_cache import FeatureCache, Place
from samekind.encoders.row_file import RowFile

CHUNK = 4096
"""Rows copied at a time."""
UNKNOWN, LOOSE = -2, -1
"""In place of a segment: no features (yet), and features that no segment has."""


class GatheredRows:
    """Remembers where the features of each item are, and makes one array of them.

    If a run finds or writes all rows in one segment of the cache and in order, which is the usual
    case, the array is that part of the file. Otherwise rows are copied, into a temporary file if
    they are many.

    Parameters
    ----------
    n, width : items, and numbers per item.
    store : the cache; None: all rows are loose.
    """

    def __init__(self, n: int, width: int, store: FeatureCache | None) -> None:
        self.width, self._store = width, store
        self._segments: NDArray[np.int32] = np.full(n, UNKNOWN, dtype=np.int32)
        self._rows: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
        self._loose: RowFile | None = None
        self._first = UNKNOWN

    def put(self, position: int, place: Place) -> None:
        """Note where the features of an item are in the cache."""
        self._segments[position], self._rows[position] = place
        self._first = place.segment if self._first == UNKNOWN else self._first

    def put_batch(self, positions: Sequence[int], rows: NDArray[Any], first: Place | None) -> None:
        """Note new features, which follow each other from `first`; None: they are not stored."""
        if first is None:
            if self._loose is None:
                self._loose = RowFile(self.width, rows.dtype, folder=self._folder)
            first = Place(LOOSE, len(self._loose))
            self._loose.append(rows)
        self._first = first.segment if self._first == UNKNOWN else self._first
        self._segments[positions] = first.segment
        self._rows[positions] = first.row + np.arange(len(rows))

    def array(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """(m, width) the features, and (m,) the positions of the items that have some."""
        good = np.flatnonzero(self._segments != UNKNOWN)
        segments, rows = self._segments[good], self._rows[good]
        if not len(good):
            return np.empty((0, self.width), dtype=np.float32), good
        parts = {int(number): self._part(int(number)) for number in np.unique(segments)}
        start = int(rows[0])
        if len(parts) == 1 and np.array_equal(rows, np.arange(start, start + len(rows))):
            return parts[int(segments[0])][start : start + len(rows)], good
        found = parts[self._first].dtype  # the type of the rows that were found first
        copied = RowFile(self.width, found, folder=self._folder)
        for k in range(0, len(good), CHUNK):
            copied.append(_taken(parts, segments[k : k + CHUNK], rows[k : k + CHUNK], found))
        return copied.array(), good

    @property
    def _folder(self) -> Path | None:
        return None if self._store is None else self._store.folder

    def _part(self, number: int) -> NDArray[Any]:
        if number == LOOSE:
            assert self._loose is not None
            return self._loose.array()
        assert self._store is not None
        return self._store.segment(number)


def _taken(
    parts: dict[int, NDArray[Any]],
    segments: NDArray[np.int32],
    rows: NDArray[np.int64],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Rows of several segments, in their order."""
    out = np.empty((len(rows), next(iter(parts.values())).shape[1]), dtype=dtype)
    for number in np.unique(segments):
        mine = segments == number
        out[mine] = parts[int(number)][rows[mine]]
    return out
