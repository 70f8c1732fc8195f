"""Parquet files, one or many: pictures in a column ``image``, texts in ``text``, or table rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from samekind.bulk.files import File, is_url, open_file
from samekind.bulk.formats.folders import item_of_content
from samekind.bulk.formats.table_columns import Features, find_columns
from samekind.bulk.readers import Entry, Reader, item_of
from samekind.errors import MissingExtra, SourceError
from samekind.items import Item, Skipped
from samekind.sources import RowItem, show

IMAGE, TEXT, ID = "image", "text", "id"


def open_parquet_shards(
    source: str, shards: Sequence[File], exclude: Sequence[str], columns: Sequence[str]
) -> Reader:
    """Open Parquet files; those of a table are searched for its columns unless these are given."""
    schema = open_shard(shards[0].place).schema_arrow
    for kind in (IMAGE, TEXT):  # the columns are named after the kinds of item
        if kind in schema.names:
            return ParquetReader(source, kind, tuple(shards))
    if not columns:
        columns = find_columns(
            source, [partial(open_shard, shard.place) for shard in shards], exclude
        )
    hidden = tuple(exclude)
    return ParquetReader(source, "row", tuple(shards), tuple(columns), exclude=hidden)


@dataclass
class ParquetReader:
    """The rows of Parquet files. The id is that of a unique column ``id``, else ``row-NUMBER``.

    With many files it follows the name of the file. A changed file is read again as a whole.
    """

    source: str
    kind: str
    shards: tuple[File, ...]
    columns: tuple[str, ...] = ()
    ready: bool = False
    lazy: bool = False
    run: int = 64
    exclude: tuple[str, ...] = ()
    _open: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def listing(self) -> Iterator[Entry]:
        for shard in self.shards:
            prefix = f"{shard.id}/" if len(self.shards) > 1 else ""
            file = open_shard(shard.place)
            ids = _ids(file)
            for row in range(file.metadata.num_rows):
                id = ids[row] if ids else f"row-{row}"
                yield Entry(f"{prefix}{id}", f"{shard.place}#{row}", shard.stamp)

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        found: dict[Entry, Item | Skipped] = {}
        for place, rows in _by_file(entries).items():
            file, starts = self._file(place)
            groups = np.searchsorted(starts, [row for row, _ in rows], side="right") - 1
            for group in np.unique(groups):
                chosen = [pair for pair, g in zip(rows, groups, strict=True) if g == group]
                within = [row - int(starts[group]) for row, _ in chosen]
                table = file.read_row_group(int(group), columns=self._names(file)).take(within)
                loaded = self._rows(table, [entry for _, entry in chosen])
                found |= dict(zip((entry for _, entry in chosen), loaded, strict=True))
        return [found[entry] for entry in entries]

    def item(self, id: str, place: str) -> Item:
        return item_of(self, Entry(id, place, ""))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": {}}

    def _file(self, place: str) -> tuple[Any, list[int]]:
        """Return an open file and the number of the first row of each row group."""
        if place not in self._open:
            self._open.clear()
            file = open_shard(place)
            groups = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
            self._open[place] = file, [0, *accumulate(sizes[:-1])]
        found: tuple[Any, list[int]] = self._open[place]
        return found

    def _names(self, file: Any) -> list[str]:
        if self.kind != "row":
            return [self.kind]
        names = file.schema_arrow.names
        return [n for n in names if n not in self.exclude and n.lower() != ID]

    def _rows(self, table: Any, entries: Sequence[Entry]) -> list[Item | Skipped]:
        if self.kind == "row":
            features = Features(self.columns)
            values, cells = features.matrix(table), features.shown(table)
            return [
                RowItem(entry.id, row, tuple((n, show(c[i])) for n, c in cells.items()))
                for i, (entry, row) in enumerate(zip(entries, values, strict=True))
            ]
        contents = [_content(cell) for cell in table.column(0).to_pylist()]
        return [item_of_content(self.kind, *pair) for pair in zip(entries, contents, strict=True)]


def open_shard(place: str) -> Any:
    """Open a Parquet file, on disk or behind a URL; only its description is read now."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as missing:
        raise MissingExtra("Reading Parquet files", "parquet") from missing
    try:
        return ParquetFile(open_file(place)) if is_url(place) else ParquetFile(place)
    except (pyarrow.ArrowException, OSError) as error:
        raise SourceError(
            f"{place!r} cannot be read as Parquet ({str(error).splitlines()[0]}). "
            "Write the file again."
        ) from error


def _content(cell: Any) -> bytes:
    """Return the bytes of a picture or text: as they are, or in a record's field ``bytes``."""
    if isinstance(cell, dict):
        cell = cell.get("bytes")
    return cell.encode() if isinstance(cell, str) else cell or b""


def _ids(file: Any) -> list[str]:
    """Return the values of the column ``id`` if they are unique."""
    name = next((n for n in file.schema_arrow.names if n.lower() == ID), None)
    if name is None:
        return []
    cells = file.read(columns=[name]).column(0).to_pylist()
    ids = ["" if c is None else show(c) if isinstance(c, float) else str(c) for c in cells]
    return ids if all(ids) and len(set(ids)) == len(ids) else []


def _by_file(entries: Sequence[Entry]) -> dict[str, list[tuple[int, Entry]]]:
    """Group entries by their file, with the number of the row."""
    found: dict[str, list[tuple[int, Entry]]] = {}
    for entry in entries:
        place, _, row = entry.place.rpartition("#")
        found.setdefault(place, []).append((int(row), entry))
    return found
