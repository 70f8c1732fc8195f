"""VectorIndex: the nearest of all vectors of a store, from compressed files on disk.

faiss divides the vectors into lists around centres (IVF) and keeps each number in 8 bits. The files
lie beside the vectors, or in the cache folder if those are in an object store, and are
memory-mapped: a search reads `N_PROBED` of up to `MAX_LISTS` lists and nothing else.

On disk: ``width + 8`` bytes per item (136 for 128 numbers: 13.6 GB for 100 million). In memory
while it is built: one part (`PART_BYTES`, up to twice as faiss grows its lists), the training
sample and what Lance reads ahead: 0.85 GB for 128 numbers, measured with 4 million rows. A part
holds 1.9 million of them, so more rows need no more. In memory when it is open: the centres of each
part (1 MB for 128 numbers).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import draft_name
from samekind.bulk.manifest import FOLDER
from samekind.bulk.reference import import_faiss, read_rows, stratified
from samekind.bulk.vector_store import VectorStore, as_matrix
from samekind.errors import SourceError
from samekind.protocols import Progress

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

VERSION = 1
"""Changes when earlier files can no longer be used."""
MAX_LISTS, TRAINED_PER_LIST = 2048, 40
"""Lists at most, and rows per list from which the centres are learnt."""
N_PROBED = 32
"""Lists that a search looks into."""
MAX_GROWTH = 4
"""An index is made anew when it should have this many times as many lists."""
PART_BYTES = 256_000_000
"""Size of one file. Appended rows make the last one longer, and then new ones."""
ID_BYTES = 8
BATCH = 16_384
"""Rows that are read and added at once."""
TRAINED = "trained.faiss"
PART = re.compile(r"part-(\d+)-(\d+)\.faiss")


def bytes_per_item(width: int) -> int:
    """Bytes that an item takes on disk.

    >>> bytes_per_item(128)
    136
    """
    return width + ID_BYTES


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """Nearest neighbours among all rows of a store.

    Parameters
    ----------
    parts : memory-mapped faiss indices, whose ids are rows of the store.
    n_rows : rows that they hold together.
    """

    parts: tuple[Any, ...]
    n_rows: int

    @classmethod
    def open(cls, store: VectorStore, progress: Progress | None = None) -> VectorIndex:
        """Open the index of a store; what it does not hold yet is added first.

        Two processes may do that at once: they write the same files, each in one step.

        Parameters
        ----------
        progress : called with the rows that are in the index and their number.
        """
        folder = index_folder(store)
        n = len(store)
        _extend(store, folder, n, progress)
        faiss = import_faiss()
        flags = faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
        parts = []
        for file in _longest(folder).values():
            part = faiss.read_index(str(file), flags)
            part.nprobe = min(N_PROBED, part.nlist)
            parts.append(part)
        return cls(tuple(parts), sum(part.ntotal for part in parts))

    def nearest(self, vectors: Floats, k: int) -> tuple[Rows, Floats]:
        """(m, k) the nearest rows of some vectors and their squared distances, nearest first.

        Where fewer are found, the last rows are -1. Distances are those of the compressed vectors.
        """
        vectors = np.ascontiguousarray(np.atleast_2d(vectors), dtype=np.float32)
        found = [part.search(vectors, k) for part in self.parts]
        if not found:
            empty = np.full((len(vectors), k), -1, dtype=np.int64)
            return empty, np.full(empty.shape, np.inf, dtype=np.float32)
        distances = np.concatenate([one[0] for one in found], axis=1)
        rows = np.concatenate([one[1] for one in found], axis=1)
        distances = np.where(rows < 0, np.inf, distances).astype(np.float32)
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(rows, order, 1), np.take_along_axis(distances, order, 1)


def index_folder(store: VectorStore) -> Path:
    """Folder of the files: beside the vectors, or in the cache if those are not on this machine."""
    if "://" not in store.path:
        return Path(store.path) / FOLDER / f"index-v{VERSION}"
    from samekind.encoders import default_cache

    key = hashlib.sha256(store.path.encode()).hexdigest()[:16]
    return default_cache() / "index" / f"{key}-v{VERSION}"


def _extend(store: VectorStore, folder: Path, n: int, progress: Progress | None) -> None:
    """Write the parts that are missing or too short."""
    if not n:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        empty = _empty_index(store, folder, n)
        missing = _missing(folder, n, max(1, PART_BYTES // bytes_per_item(store.width)))
        done = n - sum(end - start for start, end in missing)
        for start, end in missing:
            _write_part(store, folder / _name(start, end), empty, _counted(progress, done, n))
            done += end - start
    except OSError as error:
        raise SourceError(
            f"The index of the vectors {store.path!r} cannot be written ({error}). It needs "
            f"{bytes_per_item(store.width) * n:,} bytes in {str(folder)!r}."
        ) from error


def _missing(folder: Path, n: int, size: int) -> list[tuple[int, int]]:
    """Return first and last row of each part that has to be written."""
    there = {start: _rows(file)[1] for start, file in _longest(folder).items()}
    wanted = [(start, min(start + size, n)) for start in range(0, n, size)]
    return [(start, end) for start, end in wanted if there.get(start, 0) < end]


def _empty_index(store: VectorStore, folder: Path, n: int) -> Any:
    """Return an index without rows; one for far fewer rows is trained again, and all parts go."""
    faiss, file = import_faiss(), folder / TRAINED
    if file.exists():
        index = faiss.read_index(str(file))
        if list_count(n) <= MAX_GROWTH * index.nlist:
            return index
        for old in (file, *_files(folder)):
            old.unlink(missing_ok=True)
    index = _trained(store, n)
    _write(index, file)
    return index


def list_count(n: int) -> int:
    """Lists for n rows.

    >>> [list_count(n) for n in (1, 1000, 100_000, 10**8)]
    [1, 25, 632, 2048]
    """
    return int(np.clip(min(2 * np.sqrt(n), n // TRAINED_PER_LIST), 1, MAX_LISTS))


def _trained(store: VectorStore, n: int) -> Any:
    """Return an empty index whose lists and 8-bit ranges fit a sample of the vectors."""
    faiss, n_lists = import_faiss(), list_count(n)
    rows = stratified(n, n_lists * TRAINED_PER_LIST, np.random.default_rng(0))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatL2(store.width), store.width, n_lists, faiss.ScalarQuantizer.QT_8bit
    )
    index.cp.min_points_per_centroid = 1
    index.train(read_rows(store, rows))
    return index


def _write_part(store: VectorStore, final: Path, empty: Any, progress: Progress | None) -> None:
    """Write a part; a shorter one with the same first row goes."""
    start, end = _rows(final)
    empty.reset()
    for first, X in _vectors(store, start, end):
        empty.add_with_ids(X, np.arange(first, first + len(X), dtype=np.int64))
        if progress is not None:
            progress(first + len(X) - start, end - start)
    shorter = [file for file in _files(final.parent) if _rows(file)[0] == start]
    _write(empty, final)
    empty.reset()
    for file in shorter:
        if _rows(file)[1] < end:
            file.unlink(missing_ok=True)


def _vectors(store: VectorStore, start: int, end: int) -> Iterator[tuple[int, Floats]]:
    for first, batch in store.batches(rows=BATCH, start=start):
        if first >= end:
            return
        yield first, as_matrix(batch.column("vector"), store.width)[: end - first]


def _counted(progress: Progress | None, before: int, n: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, n)


def _longest(folder: Path) -> dict[int, Path]:
    """Return the part to use for each first row, in order."""
    return {_rows(file)[0]: file for file in sorted(_files(folder))}


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("part-*.faiss") if PART.fullmatch(file.name)]


def _rows(file: Path) -> tuple[int, int]:
    """Return the first row of a part, and the one after its last."""
    match = PART.fullmatch(file.name)
    assert match is not None, file.name
    return int(match[1]), int(match[2])


def _name(start: int, end: int) -> str:
    return f"part-{start:011d}-{end:011d}.faiss"


def _write(index: Any, final: Path) -> None:
    draft = draft_name(final)
    try:
        import_faiss().write_index(index, str(draft))
        os.replace(draft, final)
    finally:
        draft.unlink(missing_ok=True)
