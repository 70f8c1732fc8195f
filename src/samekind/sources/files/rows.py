"""Rows of a matrix as items, created on demand: a million rows without a million objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError, VectorError
from samekind.items import Collection, Item, Preview
from samekind.sources.files.drawing import bars, grid

CHUNK = 65_536
"""Rows processed at a time when a whole matrix is checked or hashed."""
Matrix = NDArray[Any]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class RowItem(Item):
    """One row of numbers, shown by its cells, or as a small picture if there are no columns."""

    kind: ClassVar[str] = "row"
    id: str
    values: Matrix
    cells: tuple[tuple[str, str], ...] = ()
    picture: bool = False

    @property
    def stamp(self) -> str:
        return hashlib.blake2b(np.ascontiguousarray(self.values).data, digest_size=8).hexdigest()

    def load(self) -> NDArray[np.floating[Any]]:
        """The row as floats, NaN where missing."""
        if np.issubdtype(self.values.dtype, np.floating):
            return np.asarray(self.values)
        return self.values.astype(np.float32)

    def preview(self) -> Preview:
        """Its cells as lines ``column: value``, or a drawing of the vector."""
        if self.cells:
            lines = "\n".join(f"{column}: {value}" for column, value in self.cells)
            return Preview("text/plain", lines.encode())
        return grid(self.values) if self.picture else bars(self.values)


class Rows(Sequence[Item]):
    """Some or all rows of a matrix as a sequence of items, created on demand.

    Parameters
    ----------
    base : (N, d) all rows, never copied.
    picked : (n,) the chosen rows in order; None: all.
    keys : (N,) an id for each row of `base`; None: ``row-0``, ``row-1``, ...
    cells : the values to show for each row of `base`, by column.
    picture : whether a row is a square picture.
    """

    def __init__(
        self,
        base: Matrix,
        picked: Places | None = None,
        keys: Sequence[str] | None = None,
        cells: Mapping[str, Sequence[str] | Matrix] | None = None,
        *,
        picture: bool = False,
    ) -> None:
        self.base, self.picked, self.keys = base, picked, keys
        self.cells, self.picture = cells or {}, picture
        self._order: Places | None = None
        self._places: dict[str, int] = {}
        self._fingerprint = ""

    def __len__(self) -> int:
        return len(self.base) if self.picked is None else len(self.picked)

    @overload
    def __getitem__(self, position: int) -> Item: ...
    @overload
    def __getitem__(self, position: slice) -> Rows: ...
    def __getitem__(self, position: int | slice) -> Item | Rows:
        if isinstance(position, slice):
            return self.take(np.arange(len(self), dtype=np.intp)[position])
        row = self.row(position)
        cells = tuple((column, show(values[row])) for column, values in self.cells.items())
        return RowItem(self._id(row), self.base[row], cells, self.picture)

    def row(self, position: int) -> int:
        """The index in `base` of the row at a position."""
        n = len(self)
        if not -n <= position < n:
            raise IndexError(f"There is no item {position} among {n}.")
        position = int(position) % n
        return position if self.picked is None else int(self.picked[position])

    def id(self, position: int) -> str:
        """The id of the row at a position."""
        return self._id(self.row(position))

    def position(self, id: str) -> int:
        """The position of a row; raises KeyError if it does not exist."""
        if self.keys is not None:
            if not self._places:
                self._places = {self.id(i): i for i in range(len(self))}
            return self._places[id]
        prefix, _, digits = id.partition("-")
        if prefix != "row" or not digits.isdecimal() or f"row-{int(digits)}" != id:
            raise KeyError(id)
        row = int(digits)
        if self.picked is None:
            if row >= len(self):
                raise KeyError(id)
            return row
        if self._order is None:
            self._order = np.argsort(self.picked, kind="stable")
        place = int(np.searchsorted(self.picked, row, sorter=self._order))
        if place == len(self) or self.picked[self._order[place]] != row:
            raise KeyError(id)
        return int(self._order[place])

    def take(self, positions: Sequence[int] | Places) -> Rows:
        """Some of these rows; only their indices are copied."""
        chosen = np.asarray(positions, dtype=np.intp)
        if self.picked is not None:
            chosen = self.picked[chosen]
        elif len(chosen) and not -len(self) <= chosen.min() <= chosen.max() < len(self):
            raise IndexError(f"Expected positions from 0 to {len(self) - 1}.")
        else:
            chosen = np.where(chosen < 0, chosen + len(self), chosen)
        return Rows(self.base, chosen, self.keys, self.cells, picture=self.picture)

    @property
    def matrix(self) -> Matrix:
        """(n, d) the rows: `base` itself or a slice of it if possible, else a copy."""
        if self.picked is None:
            return self.base
        if len(self.picked) and np.array_equal(
            self.picked, np.arange(self.picked[0], self.picked[0] + len(self.picked))
        ):
            return self.base[self.picked[0] : self.picked[0] + len(self.picked)]
        return self.base[self.picked]

    @property
    def fingerprint(self) -> str:
        """A hash of ids and contents; reads everything once (0.5 s per GB in memory)."""
        if not self._fingerprint:
            digest = hashlib.blake2b(
                f"{len(self)} {self.base.shape[1:]} {self.base.dtype}".encode()
            )
            for start in range(0, len(self), CHUNK):
                part = np.arange(start, min(start + CHUNK, len(self)), dtype=np.int64)
                rows = part if self.picked is None else self.picked[part].astype(np.int64)
                if self.keys is None:
                    digest.update(rows.data)
                else:
                    digest.update("\0".join(self.keys[i] for i in rows).encode())
                whole = slice(start, start + CHUNK)
                block = self.base[whole] if self.picked is None else self.base[rows]
                digest.update(np.ascontiguousarray(block).data)
            self._fingerprint = digest.hexdigest()[:16]
        return self._fingerprint

    def _id(self, row: int) -> str:
        return f"row-{row}" if self.keys is None else self.keys[row]


@dataclass(frozen=True)
class RowCollection(Collection):
    """A collection whose items are the rows of a matrix, created on demand.

    Parameters
    ----------
    items : the rows.
    columns : names of the matrix's columns; empty if they have none.
    ready : whether the rows are vectors to compare unchanged (an array file). Otherwise they are
        measurements: columns on different scales, with NaN for missing values.

    >>> rows = RowCollection("demo", Rows(np.eye(3)), ready=True)
    >>> rows.id(2), rows.take([2, 0]).matrix.tolist()
    ('row-2', [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """

    items: Rows
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    ready: bool = field(default=False, kw_only=True)

    @property
    def matrix(self) -> Matrix:
        """(n, d) all rows; copied only if they are scattered over a larger matrix."""
        return self.items.matrix

    @property
    def kind(self) -> str:
        return RowItem.kind

    def id(self, position: int) -> str:
        return self.items.id(position)

    def ids(self) -> Iterator[str]:
        return (self.items.id(i) for i in range(len(self.items)))

    def position(self, id: str) -> int:
        return self.items.position(id)

    @property
    def fingerprint(self) -> str:
        return self.items.fingerprint

    def take(self, positions: Sequence[int]) -> RowCollection:
        return RowCollection(
            self.name,
            self.items.take(positions),
            self.skipped,
            self.location,
            columns=self.columns,
            ready=self.ready,
        )


def show(cell: float | str) -> str:
    """A cell as text for a person; whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell
    if np.isnan(cell):
        return ""
    return str(int(cell)) if float(cell).is_integer() else f"{float(cell):.6g}"


def ready_vectors(matrix: Matrix, where: str) -> Matrix:
    """Check that an array can be used as vectors; returns it uncopied.

    Raises
    ------
    VectorError
        If it is not a table of finite real numbers.
    """
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise VectorError(
            f"Expected a table with one row per item in {where}, got shape {matrix.shape}. "
            "Save X.reshape(len(X), -1)."
        )
    if matrix.dtype.kind not in "fiub":
        raise VectorError(
            f"Expected real numbers in {where}, got {matrix.dtype}. Save X.astype('float32')."
        )
    if not len(matrix):
        raise SourceError(f"Expected at least 1 row in {where}, got none. Add items.")
    if matrix.dtype.kind == "f":
        _check_finite(matrix, where)
    return matrix


def _check_finite(matrix: Matrix, where: str) -> None:
    n_bad, first = 0, -1
    for start in range(0, len(matrix), CHUNK):
        bad = np.flatnonzero(~np.isfinite(matrix[start : start + CHUNK]).all(axis=1))
        if len(bad) and first < 0:
            first = start + int(bad[0])
        n_bad += len(bad)
    if n_bad:
        raise VectorError(
            f"Expected finite numbers in {where}, got NaN or infinity in {n_bad} of {len(matrix)} "
            f"rows, the first is row {first}. Remove these rows or fill in the numbers."
        )
