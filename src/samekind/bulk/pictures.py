"""Pictures of shards for training: decoded once into a file that all processes map into memory.

The file grows by chunks of the listing. A journal beside it has a line for each chunk that is
complete, so a killed run goes on where it was, and a source with new shards is decoded from there
on. A chunk of decoded pictures is all that is ever held in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import draft_name, one_at_a_time
from samekind.bulk.encoders import read_features
from samekind.bulk.readers import Entry, Reader, open_reader
from samekind.bulk.vector_store import VectorStore
from samekind.encoders import default_cache
from samekind.encoders.learned.piles import LOOKED_AT, Pictures
from samekind.encoders.learned.weights import resolved
from samekind.encoders.pixels import Images
from samekind.errors import InputError, SourceError
from samekind.items import Skipped
from samekind.protocols import Progress
from samekind.sources import is_vector_store

CHUNK = 1024
"""Pictures that are decoded and written at a time."""
FORMAT = 1


@dataclass(frozen=True, eq=False)
class ShardPile:
    """The pictures of a source that is read in bulk: what a training needs to know of them.

    Make one with :meth:`at`.

    Parameters
    ----------
    reader : lists and loads the pictures. n : how many it lists.
    fingerprint : changes with every picture, as that of a collection of the same items.
    some : a few pictures, spread over the source.
    """

    reader: Reader
    n: int
    fingerprint: str
    some: tuple[Entry, ...]
    skipped: tuple[Skipped, ...] = ()

    @classmethod
    def at(cls, source: str, progress: Progress | None = None) -> ShardPile:
        """List a source; of a store of vectors (``.lance``) that from which they were made."""
        if is_vector_store(source):
            source = VectorStore.open(source).manifest.source
        reader = open_reader(source)
        digest, some, step, n = hashlib.sha256(), [], 1, 0
        for n, entry in enumerate(reader.listing(), start=1):
            digest.update(f"{entry.id}\0{entry.stamp}\0".encode())
            if (n - 1) % step == 0:
                some.append(entry)
                if len(some) == 2 * LOOKED_AT:
                    some, step = some[::2], 2 * step
            if progress is not None and n % (8 * CHUNK) == 0:
                progress(n, 0)
        return cls(reader, n, digest.hexdigest()[:16], tuple(some))

    @property
    def name(self) -> str:
        """The last part of the place."""
        return Path(self.reader.source.rstrip("/")).name or self.reader.source

    @property
    def kind(self) -> str:
        """The kind of the items."""
        return self.reader.kind

    @property
    def place(self) -> str:
        """Where the pictures are."""
        return resolved(self.reader.source)

    def __len__(self) -> int:
        return self.n

    def sides(self) -> Iterator[int]:
        for item in self.reader.items(self.some):
            with suppress(SourceError, OSError):  # told when all pictures are read
                if not isinstance(item, Skipped):
                    yield min(item.load().size)

    def pictures(self, size: int, progress: Progress | None = None) -> Pictures:
        return decoded(self.reader, size, progress=progress, total=self.n)


def decoded(
    reader: Reader,
    size: int,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    total: int = 0,
) -> Pictures:
    """Decode all pictures of a source, or open what was decoded before.

    Several processes may call this at once: one decodes, the others wait and use the same file.

    Parameters
    ----------
    size : pixels a side.
    folder : where they are kept; None: in the cache.
    progress : called with (pictures done, total).
    """
    if reader.kind != "image":
        raise InputError(
            f"Expected pictures in {reader.source!r}, got {reader.kind} items. Give a folder, "
            ".parquet files or .tar files of pictures."
        )
    images = Images(size=size)
    if folder is None:
        key = hashlib.sha256(f"{reader.source}\0{images.fingerprint}".encode()).hexdigest()[:16]
        words = re.sub(r"[^A-Za-z0-9]+", "-", Path(reader.source).name).strip("-")[:40] or "shards"
        folder = default_cache() / "pictures" / f"{words}-{key}"
    try:
        with one_at_a_time(folder / "lock"):
            return _Decoding(reader, images, folder).run(progress, total)
    except OSError as problem:
        if isinstance(problem, SourceError):
            raise
        raise InputError(
            f"Pictures cannot be written to {folder} ({problem.strerror or problem}). Free some "
            "space, or set SAMEKIND_HOME to another folder."
        ) from problem


class _Chunk(NamedTuple):
    """A complete chunk: its items, the pictures up to its end, and items that cannot be read."""

    digest: str
    end: int
    skipped: list[list[str]]

    def line(self) -> bytes:
        """The line of the journal."""
        text = json.dumps([FORMAT, *self]).encode()
        return b"%08x %s\n" % (zlib.crc32(text), text)

    @classmethod
    def of_line(cls, line: bytes) -> _Chunk | None:
        """Read a line again; None if it is damaged or of another version."""
        checksum, _, text = line.rstrip(b"\n").partition(b" ")
        if checksum != b"%08x" % zlib.crc32(text):
            return None
        format, *values = json.loads(text)
        return cls(*values) if format == FORMAT else None


class _Decoding:
    """One pass over a source: skip chunks that are complete, decode and append the others."""

    def __init__(self, reader: Reader, images: Images, folder: Path) -> None:
        self.reader, self.images = reader, images
        self.pixels, self.journal = folder / "pixels.u8", folder / "journal.jsonl"
        self.row = images.width or 0
        folder.mkdir(parents=True, exist_ok=True)
        self.end, self.journal_end = 0, 0
        self.skipped: list[Skipped] = []

    def run(self, progress: Progress | None, total: int) -> Pictures:
        known, seen = self._known(), 0
        listing = self.reader.listing()
        while entries := list(islice(listing, CHUNK)):
            digest = _digest_of(entries)
            chunk = next(known, None)
            if chunk is not None and chunk.digest != digest:
                chunk, known = None, iter(())  # the source has changed from here on
                self._leave_file_to_others()
            if chunk is None:
                chunk = self._decode(entries, digest)
            self.end, self.journal_end = chunk.end, self.journal_end + len(chunk.line())
            self.skipped += [Skipped(*pair) for pair in chunk.skipped]
            seen += len(entries)
            if progress is not None:
                progress(seen, max(total, seen))
        return Pictures(self._mapped(self.end), tuple(self.skipped))

    def _known(self) -> Iterator[_Chunk]:
        """Iterate over the chunks that are complete and whose pictures are there."""
        with suppress(OSError, ValueError, TypeError):
            there = self.pixels.stat().st_size // self.row
            lines = self.journal.read_bytes().splitlines(keepends=True)
            for chunk in map(_Chunk.of_line, lines):
                if chunk is None or chunk.end > there:
                    return
                yield chunk

    def _leave_file_to_others(self) -> None:
        """Go on in a copy of what still counts: another training may use the file as it is."""
        draft = draft_name(self.pixels)
        try:
            with open(self.pixels, "rb") as old, open(draft, "xb") as new:
                left = self.end * self.row
                while data := old.read(min(left, 1 << 24)):
                    left -= new.write(data)
            os.replace(draft, self.pixels)
        finally:
            draft.unlink(missing_ok=True)

    def _decode(self, entries: Sequence[Entry], digest: str) -> _Chunk:
        read = read_features(self.reader, self.images, entries)
        rows = np.ascontiguousarray(read.features, dtype=np.uint8)
        _append(self.pixels, self.end * self.row, rows.data)
        broken = [[skipped.id, skipped.reason] for skipped in read.broken]
        chunk = _Chunk(digest, self.end + len(read.entries), broken)
        _append(self.journal, self.journal_end, chunk.line())
        return chunk

    def _mapped(self, n: int) -> NDArray[np.uint8]:
        size = self.images.size
        shape = (n, 3, size, size)
        if not n:
            return np.empty(shape, dtype=np.uint8)
        # Copies of changed pages are private, so that the file stays as it is.
        mapped: Any = np.memmap(self.pixels, dtype=np.uint8, mode="c", shape=shape)
        return np.asarray(mapped)


def _append(path: Path, end: int, data: bytes | memoryview) -> None:
    """Write after the first `end` bytes of a file and cut off the rest; safe when this returns."""
    with open(path, "r+b" if path.exists() else "xb") as file:
        file.truncate(end)
        file.seek(end)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _digest_of(entries: Sequence[Entry]) -> str:
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.id}\0{entry.stamp}\0".encode())
    return digest.hexdigest()[:16]
