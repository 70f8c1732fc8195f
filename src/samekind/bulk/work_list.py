"""WorkList: the items that are still to be embedded, in chunks that any worker can read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from samekind.bulk.files import filesystem
from samekind.bulk.manifest import FOLDER
from samekind.bulk.readers import Entry

ROWS = 4096
"""Entries per row group: the largest chunk."""
GROUPS_PER_FILE = 64


@dataclass
class WorkList:
    """Entries in Parquet files inside a store.

    It is made anew by every call, from the listing of the source and the keys of the store.

    Parameters
    ----------
    store : the path or URL of the store.
    chunk : entries per chunk, a divisor of 4,096; the last chunk may be smaller.
    """

    store: str
    chunk: int = ROWS
    n_entries: int = 0
    _waiting: list[Entry] = field(default_factory=list, repr=False)
    _writer: Any = field(default=None, repr=False)

    @property
    def folder(self) -> str:
        """Where the files are."""
        return f"{self.store}/{FOLDER}/work"

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return -(-self.n_entries // self.chunk)

    def fill(self, entries: Iterable[Entry]) -> None:
        """Write all entries; what another call has left is replaced."""
        self.remove()
        files, folder = filesystem(self.folder)
        files.makedirs(folder, exist_ok=True)
        try:
            for entry in entries:
                self._waiting.append(entry)
                if len(self._waiting) == ROWS:
                    self._write()
            if self._waiting:
                self._write()
        finally:
            self._close()

    def entries(self, chunk: int) -> list[Entry]:
        """Return the entries of a chunk."""
        from pyarrow import parquet

        first = chunk * self.chunk
        files, path = filesystem(self._path(first // ROWS))
        with files.open(path, "rb") as stream:
            table = parquet.ParquetFile(stream).read_row_group(first // ROWS % GROUPS_PER_FILE)
        table = table.slice(first % ROWS, self.chunk)
        columns = (table.column(name).to_pylist() for name in Entry._fields)
        return [Entry(*row) for row in zip(*columns, strict=True)]

    def remove(self) -> None:
        """Delete the files."""
        files, folder = filesystem(self.folder)
        if files.exists(folder):
            files.rm(folder, recursive=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_waiting": [], "_writer": None}

    def _path(self, group: int) -> str:
        return f"{self.folder}/{group // GROUPS_PER_FILE:06d}.parquet"

    def _write(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        schema = pa.schema([(name, pa.string()) for name in Entry._fields])
        group = self.n_entries // ROWS
        if group % GROUPS_PER_FILE == 0:
            self._close()
            files, path = filesystem(self._path(group))
            stream = files.open(path, "wb")
            self._writer = parquet.ParquetWriter(stream, schema), stream
        columns = [pa.array(texts, pa.string()) for texts in zip(*self._waiting, strict=True)]
        self._writer[0].write_table(pa.table(columns, schema=schema), row_group_size=ROWS)
        self.n_entries += len(self._waiting)
        self._waiting.clear()

    def _close(self) -> None:
        if self._writer is not None:
            for part in self._writer:
                part.close()
            self._writer = None
