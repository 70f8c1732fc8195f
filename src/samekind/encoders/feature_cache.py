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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from samekind.user_paths import as_bytes, expanded

FORMAT = 1
QUIET_SECONDS = 3600.0
"""A segment unchanged for this long has no writer any more and may be merged."""
MAX_SEGMENTS = 8
"""With more segments, quiet ones are merged."""
LINES = 8192
"""Lines of an index that are parsed at once, which is several times as fast as one by one."""


class Place(NamedTuple):
    """Where the features of an item are: a segment, and a row of it."""

    segment: int
    row: int


class _Entry(NamedTuple):
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
        self._written: list[tuple[Path, np.dtype[Any]]] = []
        self._broken = False
        self._scan()

    @classmethod
    def at(cls, cache: Path, collection: str, *, fingerprint: str, width: int) -> Self:
        """The cache of a collection, given by its location or name, below a cache folder."""
        key = hashlib.sha256(as_bytes(f"{collection}\0{fingerprint}")).hexdigest()[:16]
        words = re.sub(r"[^A-Za-z0-9]+", "-", Path(collection).name).strip("-")[:40] or "items"
        return cls(cache / "vectors" / f"{words}-{key}", fingerprint=fingerprint, width=width)

    def get(self, id: str, stamp: str) -> NDArray[Any] | None:
        """The intact features of an item, or None if they must be computed."""
        place = self.find(id, stamp)
        return None if place is None else self._rows[place.segment][place.row]

    def find(self, id: str, stamp: str) -> Place | None:
        """Where the intact features of an item are, or None if they must be computed."""
        entry = self._entries.get(id)
        if entry is None or entry.stamp != stamp:
            return None
        intact = zlib.crc32(self._rows[entry.segment][entry.row].data) == entry.checksum
        return Place(entry.segment, entry.row) if intact else None

    def segment(self, number: int) -> NDArray[Any]:
        """All rows of a segment, read from disk as needed; changes to them are not written."""
        if number < len(self._rows):
            return _mapped(self._paths[number], self._rows[number].dtype, self.width, "c")
        path, dtype = self._written[number - len(self._rows)]
        return _mapped(path, dtype, self.width, "c")

    def add(self, ids: Sequence[str], stamps: Sequence[str], rows: NDArray[Any]) -> Place | None:
        """Store a finished batch and return where its first row is.

        If the disk fails, warn once, return None, and store nothing from then on.
        """
        if self._broken:
            return None
        try:
            if self._writer is None:
                self._writer = _Segment(self.folder, self._header(rows.dtype))
                self._written.append((self._writer.path, rows.dtype))
            first = len(self._writer)
            self._writer.append(zip(ids, stamps, strict=True), rows)
            return Place(len(self._rows) + len(self._written) - 1, first)
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
        return None

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
        with path.open("rb") as index:
            header = next(_checked([index.readline()]), None)
            if header is None or header != self._header(np.dtype(header["dtype"])):
                return
            dtype = np.dtype(header["dtype"])
            rows = _mapped(path, dtype, self.width, "r")
            if not len(rows) or dtype.kind not in "fiu":
                return
            segment, n_rows = len(self._rows), len(rows)
            self._rows.append(rows)
            self._paths.append(path)
            while lines := list(islice(index, LINES)):
                for id, stamp, row, checksum in _checked(lines):
                    if 0 <= row < n_rows:
                        self._entries[id] = _Entry(stamp, segment, row, checksum)


class _Segment:
    """The two files that this run appends to."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{time.time_ns():019d}-{os.getpid()}.index"
        self._n_rows = 0
        self._rows: IO[bytes] = self.path.with_suffix(".rows").open("xb")
        self._index: IO[bytes] = self.path.open("xb")
        self._index.write(_line(header))

    def append(self, keys: Iterable[tuple[str, str]], rows: NDArray[Any]) -> None:
        # Rows first: an index line must never refer to a row that is not there yet.
        self._rows.write(np.ascontiguousarray(rows).tobytes())
        self._rows.flush()
        for (id, stamp), row in zip(keys, rows, strict=True):
            self._index.write(_line([id, stamp, self._n_rows, zlib.crc32(row.tobytes())]))
            self._n_rows += 1
        self._index.flush()

    def __len__(self) -> int:
        return self._n_rows

    def close(self) -> None:
        try:
            self._rows.close()
        finally:
            self._index.close()


def _line(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _checked(lines: Sequence[bytes]) -> Iterator[Any]:
    """The values of the index lines that are not damaged."""
    whole = (line for line in lines if len(line) > 9 and line[-1] == 10)
    texts = [line[9:-1] for line in whole if line[:8] == b"%08x" % zlib.crc32(line[9:-1])]
    return iter(json.loads(b"[%s]" % b",".join(texts)))


def _mapped(index: Path, dtype: np.dtype[Any], width: int, mode: Any) -> NDArray[Any]:
    """The rows that belong to an index."""
    data = index.with_suffix(".rows")
    shape = (data.stat().st_size // (dtype.itemsize * width), width)
    if not shape[0]:
        return np.empty(shape, dtype=dtype)
    mapped: Any = np.memmap(data, dtype=dtype, mode=mode, shape=shape)
    return np.asarray(mapped)  # a plain array on the same pages: quicker to take rows of


def default_cache() -> Path:
    """The cache folder: below ``$SAMEKIND_HOME`` if set, else the system's cache folder.

    It can be deleted at any time; its content is computed again when needed.
    """
    home = os.environ.get("SAMEKIND_HOME")
    if home:
        return expanded(home) / "cache"
    try:
        from platformdirs import user_cache_dir
    except ImportError:
        return Path.home() / ".cache" / "samekind"
    return Path(user_cache_dir("samekind", appauthor=False))
