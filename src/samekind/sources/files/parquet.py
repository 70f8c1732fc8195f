"""Parquet files: pictures in a column ``image``, or a plain table. Needs pyarrow."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import MissingExtra, SourceError
from samekind.items import Collection, Item, Skipped
from samekind.sources.files.archives import check_unpacked_size
from samekind.sources.files.columns import (
    SPLIT,
    Columns,
    as_text,
    check_names,
    collect_rows,
    is_split,
    take_ids,
)
from samekind.sources.files.images import Picture, fault_of_bytes
from samekind.sources.files.picture_formats import open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

BYTES_PER_CELL = 8
"""Memory that a cell takes at least: a file may state a billion rows in some kilobytes."""
IMAGE = "image"


class CellImage(Picture):
    """One encoded picture in a column; it has no access to other columns."""

    def __init__(self, id: str, column: Any, row: int) -> None:
        self.id, self._column, self._row = id, column, row

    @property
    def stamp(self) -> str:
        return hashlib.blake2b(_bytes(self._column, self._row) or b"", digest_size=8).hexdigest()

    def open(self) -> Image:
        return open_picture(io.BytesIO(_bytes(self._column, self._row) or b""))


def open_parquet(path: Path, exclude: Sequence[str] = ()) -> Collection:
    """The pictures in the column ``image``, or the rows of a plain table."""
    if IMAGE in column_names(path):
        return open_labelled_pictures(path, labels=())[0]
    columns, notes = _columns(path)
    return collect_rows(path, columns, notes, exclude)


def open_labelled_parquet(
    path: Path, labels: Sequence[str]
) -> tuple[Collection, dict[str, NDArray[Any]]]:
    """The items, and beside them the label columns.

    In a file of pictures all other columns are labels; in a plain table those in `labels` are.
    """
    names = column_names(path)
    check_names(path, names, labels)
    if IMAGE in names:
        return open_labelled_pictures(path, [name for name in names if name != IMAGE])
    table = _read(path, list(labels))
    return open_parquet(path, labels), {name: _labels(table.column(name)) for name in labels}


def marks_split(path: Path) -> bool:
    """Whether the file has a column ``split`` that says train or test."""
    if SPLIT not in column_names(path):
        return False
    return is_split(_labels(_read(path, [SPLIT]).column(SPLIT)).tolist())


def open_labelled_pictures(
    path: Path, labels: Sequence[str]
) -> tuple[Collection, dict[str, NDArray[Any]]]:
    """The pictures that can be read, and the label columns of these rows."""
    names = [IMAGE, *(name for name in column_names(path) if name.lower() == "id")]
    table = _read(path, [*names, *(name for name in labels if name not in names)])
    notes: list[Skipped] = []
    ids: Columns = {name: as_text(table.column(name).to_pylist()) for name in names[1:]}
    keys = take_ids(ids, notes)
    column = table.column(IMAGE)
    items: list[Item] = []
    kept: list[int] = []
    for row in range(len(column)):
        id = keys[row] if keys else f"row-{row}"
        reason = fault_of_bytes(_bytes(column, row))
        if reason:
            notes.append(Skipped(id, reason))
        else:
            items.append(CellImage(id, column, row))
            kept.append(row)
    if not items:
        found = f" The first: {notes[0].id} {notes[0].reason}." if notes else ""
        raise SourceError(f"Expected pictures in {str(path)!r}, but none can be read.{found}")
    arrays = {name: _labels(table.column(name))[kept] for name in labels if name not in names}
    return Collection(path.stem, items, tuple(notes), str(path)), arrays


def column_names(path: Path) -> list[str]:
    """The names of the columns; nothing else is read."""
    with _reader(path) as parquet:
        return list(parquet.read_schema(path).names)


def _read(path: Path, columns: list[str]) -> Any:
    with _reader(path) as parquet:
        file = parquet.ParquetFile(path, memory_map=True)
        size = BYTES_PER_CELL * len(columns) * file.metadata.num_rows
        check_unpacked_size(path, size, "Split it into several files.")
        table = file.read(columns=columns)
        table.validate(full=True)  # damaged texts are not UTF-8, damaged lists end anywhere
    if not table.num_rows and columns:
        raise SourceError(f"Expected at least 1 row in {str(path)!r}, got none. Add items.")
    return table


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    """The library, whose complaints about a file become one sentence."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("Reading Parquet files", "parquet") from error
    try:
        yield pyarrow.parquet
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{str(path)!r} cannot be read as Parquet ({str(error).splitlines()[0]}). "
            "Write the file again."
        ) from error


def _bytes(column: Any, row: int) -> bytes | None:
    """The encoded picture of a row: bytes, or a record with a field ``bytes``."""
    cell = column[row].as_py()
    if isinstance(cell, dict):
        cell = cell.get("bytes")
    return cell if isinstance(cell, bytes) else None


def _columns(path: Path) -> tuple[Columns, list[Skipped]]:
    """The number and text columns of a plain table; other columns are skipped."""
    import pyarrow.types as types

    columns: Columns = {}
    notes: list[Skipped] = []
    table = _read(path, column_names(path))
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            numbers = (np.nan if cell is None else float(cell) for cell in column.to_pylist())
            columns[name] = np.fromiter(numbers, dtype=np.float64, count=len(column))
        elif types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
            columns[name] = as_text(column.to_pylist())
        else:
            notes.append(Skipped(f"column {name}", f"holds {column.type}, not numbers or texts"))
    return columns, notes


def _labels(column: Any) -> NDArray[Any]:
    """Labels as an array; as texts, empty where missing, unless none is missing."""
    cells = column.to_pylist()
    if any(cell is None for cell in cells):
        return np.asarray(as_text(cells))
    return np.asarray(cells)
