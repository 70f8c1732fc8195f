"""Arrays of ready vectors (.npy), read from a memory map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.files import is_url, walk
from samekind.bulk.readers import Entry, item_of
from samekind.errors import SourceError, VectorError
from samekind.items import Item, Skipped
from samekind.sources import RowItem


@dataclass
class ArrayReader:
    """The rows of an array, named ``row-0``, ``row-1``, ...; a row with NaN cannot be used."""

    source: str
    kind: str = "row"
    columns: tuple[str, ...] = ()
    ready: bool = True
    lazy: bool = False
    run: int = 64

    @classmethod
    def at(cls, place: str) -> Self:
        """Open an array; raises an error unless it is a table of real numbers."""
        if is_url(place):
            raise SourceError(
                f"Expected a local .npy file, got {place!r}. Copy it to disk, or write it as "
                "Parquet."
            )
        matrix = cls(place).matrix
        if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "fiub":
            raise VectorError(
                f"Expected a table of real numbers, one row per item, in {place!r}, got shape "
                f"{matrix.shape} of {matrix.dtype}. Save X.reshape(len(X), -1).astype('float32')."
            )
        return cls(place)

    @cached_property
    def matrix(self) -> NDArray[Any]:
        """(n, d) all rows, on disk."""
        try:
            found = np.load(self.source, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise SourceError(
                f"{self.source!r} cannot be read ({error}). Save it again with NumPy."
            ) from error
        if not isinstance(found, np.ndarray):
            raise SourceError(f"{self.source!r} is an archive, not one array. Rename it to .npz.")
        return found

    def listing(self) -> Iterator[Entry]:
        (file,) = walk(self.source)
        for row in range(len(self.matrix)):
            yield Entry(f"row-{row}", f"{self.source}#{row}", file.stamp)

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        rows = np.array([int(entry.place.rpartition("#")[2]) for entry in entries], dtype=np.intp)
        if len(rows) and rows.max() >= len(self.matrix):
            raise SourceError(f"{self.source!r} has fewer rows than when it was listed.")
        values = np.asarray(self.matrix[rows])
        finite = np.isfinite(values).all(axis=1)
        return [
            RowItem(entry.id, row) if fine else Skipped(entry.id, "has NaN or infinite numbers")
            for entry, row, fine in zip(entries, values, finite, strict=True)
        ]

    def item(self, id: str, place: str) -> Item:
        return item_of(self, Entry(id, place, ""))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "matrix"}
