"""RowFile: rows that are written one batch after another, in a temporary file when there are many.

All that is computed for every item (raw features, vectors) goes through here, so that memory does
not grow with the number of items.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MAX_BYTES = 1 << 26
"""More bytes than these are written to a temporary file."""
PIECE = 1 << 22
"""Once there is a file, so many bytes are written at a time."""


class RowFile:
    """Rows of one width and type, written in order and then read as one array.

    The temporary file has no name (or is removed with its last user), so nothing is left behind
    even by a killed process. If it cannot be written, rows stay in memory.

    Parameters
    ----------
    width, dtype : of the rows.
    folder : for the temporary file; None: that of the system.
    max_bytes : bytes that are held in memory; None: `MAX_BYTES`.

    >>> rows = RowFile(2, np.dtype(np.uint8), max_bytes=3)
    >>> rows.append(np.array([[1, 2], [3, 4]]))
    >>> rows.append(np.array([[5, 6]]))
    >>> rows.array().tolist()
    [[1, 2], [3, 4], [5, 6]]
    """

    def __init__(
        self,
        width: int,
        dtype: np.dtype[Any],
        *,
        folder: Path | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self.width, self.dtype, self._folder = width, dtype, folder
        self._most = MAX_BYTES if max_bytes is None else max_bytes
        self._held: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._n_held = self._n_written = 0
        self._refused = False

    def __len__(self) -> int:
        return self._n_held + self._n_written

    def append(self, rows: NDArray[Any]) -> None:
        """Write (m, width) rows."""
        part = np.array(rows, dtype=self.dtype, order="C")
        self._held.append(part)
        self._n_held += len(part)
        most = self._most if self._file is None else min(self._most, PIECE)
        if self._n_held * self.width * self.dtype.itemsize > most:
            self._write()

    def array(self) -> NDArray[Any]:
        """All rows. Changes to the array are never written to the file."""
        if self._file is not None:
            self._write()
        if self._file is None or not self._n_written:
            empty = np.empty((0, self.width), dtype=self.dtype)
            return np.concatenate([empty, *self._held]) if self._held else empty
        shape = (self._n_written, self.width)
        mapped: Any = np.memmap(self._file, dtype=self.dtype, mode="c", shape=shape)
        there = np.asarray(mapped)  # a plain array on the same pages
        return np.concatenate([there, *self._held]) if self._held else there

    def _write(self) -> None:
        """Move the rows in memory to the file; they stay where they are if the disk refuses."""
        if self._refused:
            return
        try:
            if self._file is None:
                self._file = _temporary(self._folder)
            for part in self._held:
                self._file.write(part.data)
            self._file.flush()
        except OSError:
            self._refused = True
            return
        self._n_written += self._n_held
        self._held, self._n_held = [], 0


def _temporary(folder: Path | None) -> IO[bytes]:
    if folder is not None:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return tempfile.TemporaryFile(dir=folder)
    return tempfile.TemporaryFile()
