"""The files of an open ledger: none of them may be removed, replaced or cut off meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from samekind.errors import StoreError

BESIDE = ("-wal", "-shm")
"""What SQLite keeps beside the file. Only the last connection that is closed removes them."""
Identity = tuple[int, int]


class OpenFiles:
    """The files of a ledger as they were when it was opened.

    SQLite goes on writing to files that have lost their names, without an error: what is confirmed
    then is gone when the process ends.

    Parameters
    ----------
    path : the ledger. A connection to it must be open.
    """

    def __init__(self, path: Path) -> None:
        status = path.stat()
        self._path, self._identity, self._size = path, _identity(status), status.st_size
        self._beside = self._find_beside()

    def forget_log(self) -> None:
        """Expect another log from now on, because all connections were closed."""
        self._beside = {}

    def check(self) -> None:
        """Raise :class:`StoreError` unless all files are there; to be called in a transaction."""
        try:
            status = self._path.stat()
        except OSError:
            status = None
        if status is None or _identity(status) != self._identity:
            raise StoreError(
                f"The ledger {self._path} was moved, removed or replaced while it was open, so "
                "the last change was not stored. Put the file back, or open the session again."
            )
        if status.st_size < self._size:  # it never becomes shorter by itself
            raise StoreError(
                f"The ledger {self._path} was cut off while it was open, from {self._size:,} to "
                f"{status.st_size:,} bytes, so the last change was not stored. Copy it and the "
                f"file {self._path.name}-wal now, then stop samekind. Put a backup in its place, "
                "or save what is left with: samekind repair COPY"
            )
        self._size = status.st_size
        found = self._find_beside()
        gone = [name for name, identity in self._beside.items() if found.get(name) != identity]
        if gone:
            raise StoreError(
                f"The file {self._path.name}{gone[0]} beside the ledger {self._path} was removed "
                "or replaced while it was open, so the last change was not stored. Stop samekind "
                "with Ctrl+C, which moves all earlier ones into the ledger, and start it again."
            )
        self._beside = found

    def _find_beside(self) -> dict[str, Identity]:
        found: dict[str, Identity] = {}
        for suffix in BESIDE:
            try:
                found[suffix] = _identity(os.stat(f"{self._path}{suffix}"))
            except OSError:
                continue
        return found


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino
