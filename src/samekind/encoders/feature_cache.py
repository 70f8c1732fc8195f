"""FeatureCache: raw features on disk, item by item, so that no item is read twice.

A folder has segments. Each run appends to a segment of its own, so two processes never write to the
same file, and a killed run leaves all its finished batches behind::

    1731660000000000000-4711.rows    the features, one row after another
    1731660000000000000-4711.index   a header line, then one line per row: item id, stamp, checksum

Every index line and every row has a checksum. Whatever does not match (a half-written line, a
truncated or damaged file) is computed again. There is no pickle, and nothing is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
QUIET_SECONDS = 3600.0
"""A segment unchanged for this long has no writer any more and may be merged."""
MAX_SEGMENTS = 8
"""With more segments, quiet ones are merged."""


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: str
    segment: int
    row: int
    checksum: int


class FeatureCache:
    """The cached features of one collection by one encoder.

    Parameters
    ----------
    folder : of the segments; created when the first row is written.
    fingerprint : of the encoder; segments of another one are ignored.
    width : numbers per row.
    """

    def __init__(self, folder: Path, *, fingerprint: str, width: int) -> None:
        self.folder = folder
        self.fingerprint = fingerprint
        self.width = width
        self._rows: list[NDArray[Any]] = []
        self._paths: list[Path] = []
        self._entries: dict[str, _Entry] = {}
        self._writer: _Segment | None = None
        self._broken = False
        self._scan()

    @classmethod
    def at(cls, cache: Path, collection: str, *, fingerprint: str, width: int) -> Self:
        """The cache of a collection, given by its location or name, below a cache folder."""
        key = hashlib.sha256(f"{collection}\0{fingerprint}".encode()).hexdigest()[:16]
        words = re.sub(r"[^A-Za-z0-9]+", "-", Path(collection).name).strip("-")[:40] or "items"
        return cls(cache / "vectors" / f"{words}-{key}", fingerprint=fingerprint, width=width)

    def get(self, id: str, stamp: str) -> NDArray[Any] | None:
        """The intact features of an item, or None if they must be computed."""
        entry = self._entries.get(id)
        if entry is None or entry.stamp != stamp:
            return None
        row = self._rows[entry.segment][entry.row]
        return row if zlib.crc32(row.tobytes()) == entry.checksum else None

    def add(self, ids: Sequence[str], stamps: Sequence[str], rows: NDArray[Any]) -> None:
        """Store a finished batch. If the disk fails, warn once and store nothing from then on."""
        if self._broken:
            return
        try:
            if self._writer is None:
                self._writer = _Segment(self.folder, self._header(rows.dtype))
            self._writer.append(zip(ids, stamps, strict=True), rows)
        except OSError as problem:
            self._broken = True
            with suppress(OSError):
                self.close()
            warnings.warn(
                f"Vectors cannot be stored in {self.folder} ({problem.strerror or problem}). "
                "They will have to be computed again next time. "
                "Free some space, or set SAMEKIND_HOME to another folder.",
                RuntimeWarning,
                stacklevel=2,
            )

    def close(self) -> None:
        """Finish this run's segment."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def tidy(self) -> None:
        """Merge quiet segments if there are many, or if most of their rows are outdated."""
        total = sum(len(rows) for rows in self._rows)
        if self._broken or (
            len(self._paths) <= MAX_SEGMENTS and total <= 2 * max(len(self._entries), 1)
        ):
            return
        with suppress(OSError):
            now = time.time()
            quiet = {
                number
                for number, path in enumerate(self._paths)
                if now - path.stat().st_mtime > QUIET_SECONDS
            }
            ids = [id for id, entry in self._entries.items() if entry.segment in quiet]
            for start in range(0, len(ids), 1024):
                self._copy(ids[start : start + 1024])
            self.close()
            if self._broken:  # do not delete what was not copied
                return
            for number in quiet:
                self._paths[number].unlink(missing_ok=True)
                self._paths[number].with_suffix(".rows").unlink(missing_ok=True)

    def _copy(self, ids: Sequence[str]) -> None:
        kept = [
            (id, self._entries[id].stamp, row)
            for id in ids
            if (row := self.get(id, self._entries[id].stamp)) is not None
        ]
        if kept:
            keys, stamps, rows = zip(*kept, strict=True)
            self.add(keys, stamps, np.stack(rows))

    def _header(self, dtype: np.dtype[Any]) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "encoder": self.fingerprint,
            "width": self.width,
            "dtype": dtype.str,
        }

    def _scan(self) -> None:
        """Read the index of every segment; later segments win."""
        for path in sorted(self.folder.glob("*.index")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                self._scan_segment(path)

    def _scan_segment(self, path: Path) -> None:
        lines = path.read_bytes().split(b"\n")
        header = _checked(lines[0])
        if header is None or header != self._header(np.dtype(header["dtype"])):
            return
        dtype = np.dtype(header["dtype"])
        data = path.with_suffix(".rows")
        n_rows = data.stat().st_size // (dtype.itemsize * self.width)
        if dtype.kind not in "fiu" or n_rows == 0:
            return
        segment = len(self._rows)
        self._rows.append(np.memmap(data, dtype=dtype, mode="r", shape=(n_rows, self.width)))
        self._paths.append(path)
        for line in lines[1:]:
            entry = _checked(line)
            if entry is not None and 0 <= entry[2] < n_rows:
                id, stamp, row, checksum = entry
                self._entries[id] = _Entry(stamp, segment, row, checksum)


class _Segment:
    """The two files that this run appends to."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{time.time_ns():019d}-{os.getpid()}"
        self._n_rows = 0
        self._rows: IO[bytes] = path.with_suffix(".rows").open("xb")
        self._index: IO[bytes] = path.with_suffix(".index").open("xb")
        self._index.write(_line(header))

    def append(self, keys: Iterable[tuple[str, str]], rows: NDArray[Any]) -> None:
        # Rows first: an index line must never refer to a row that is not there yet.
        self._rows.write(np.ascontiguousarray(rows).tobytes())
        self._rows.flush()
        for (id, stamp), row in zip(keys, rows, strict=True):
            self._index.write(_line([id, stamp, self._n_rows, zlib.crc32(row.tobytes())]))
            self._n_rows += 1
        self._index.flush()

    def close(self) -> None:
        try:
            self._rows.close()
        finally:
            self._index.close()


def _line(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _checked(line: bytes) -> Any:
    """The value of an index line, or None if the line is damaged."""
    checksum, _, text = line.partition(b" ")
    if len(checksum) != 8 or not text or checksum != b"%08x" % zlib.crc32(text):
        return None
    return json.loads(text)


def default_cache() -> Path:
    """The cache folder: below ``$SAMEKIND_HOME`` if set, else the system's cache folder.

    It can be deleted at any time; its content is computed again when needed.
    """
    home = os.environ.get("SAMEKIND_HOME")
    if home:
        return Path(home).expanduser() / "cache"
    try:
        from platformdirs import user_cache_dir
    except ImportError:
        return Path.home() / ".cache" / "samekind"
    return Path(user_cache_dir("samekind", appauthor=False))
