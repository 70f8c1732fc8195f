"""find_more: further items like some, from all items of a store, for the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from samekind.bulk.index import VectorIndex
from samekind.bulk.reference import (
    Rows,
    add_rows,
    extend_reference,
    reference_of,
)
from samekind.bulk.vector_store import VectorStore
from samekind.errors import InputError
from samekind.protocols import Progress

MAX_LIKE = 100
"""Items that one search starts from."""
MAX_COUNT = 10_000
"""Items that one search adds."""


@dataclass(frozen=True, eq=False)
class Found:
    """Items that were added to the questions: their rows, ids, and squared distances."""

    rows: Rows
    ids: tuple[str, ...]
    distances: tuple[float, ...]


def find_more(
    path: str | Path,
    like: Sequence[str],
    count: int = 50,
    *,
    progress: Progress | None = None,
) -> Found:
    """Add the items nearest to some items to the reference items of a store, for good.

    They come from all rows, so this pulls in kinds that are too rare to be asked about. Sessions
    that are opened from now on have them. The first call builds the index.

    Parameters
    ----------
    like : ids of items, reference items or not. count : items to add; those there already do not
        count.
    progress : called with the rows that are in the index and their number, while it is built.
    """
    _check(like, count)
    store = VectorStore.open(path)
    there = reference_of(store).rows
    rows = rows_of(store, like, there)
    index = VectorIndex.open(store, progress)
    found, distances = _nearest_new(index, store, rows, there, count)
    if not len(found):
        return Found(found, (), ())
    add_rows(store, found.tolist(), like=list(like))
    return Found(found, tuple(store.texts(found)), tuple(round(float(d), 6) for d in distances))


def find_new(
    path: str | Path,
    *,
    progress: Progress | None = None,
) -> Found:
    """Add reference items that cover the rows appended since the last choice."""
    store = VectorStore.open(path)
    rows = extend_reference(store, progress=progress)
    return Found(rows, tuple(store.texts(rows)) if len(rows) else (), ())


def rows_of(store: VectorStore, ids: Sequence[str], likely: Rows) -> Rows:
    """Return the rows of some ids: among the likely ones, else by reading all ids once."""
    here = dict(zip(store.texts(likely), likely.tolist(), strict=True)) if len(likely) else {}
    unknown = [id for id in ids if id not in here]
    if unknown:
        here |= _scan(store, unknown)
    missing = [id for id in ids if id not in here]
    if missing:
        raise InputError(
            f"There is no item {missing[0]!r} in {store.path!r}. Give an id as the page shows it."
        )
    return np.array([here[id] for id in ids], dtype=np.int64)


def _scan(store: VectorStore, ids: Sequence[str]) -> dict[str, int]:
    """Look for ids in all rows, batch by batch; the last row with an id counts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, found = pa.array(ids, pa.string()), {}
    for first, batch in store.batches(("id",), rows=1 << 16):
        column = batch.column("id")
        for at in pc.indices_nonzero(pc.is_in(column, value_set=wanted)).to_pylist():
            found[column[at].as_py()] = first + int(at)
    return found


def _nearest_new(
    index: VectorIndex, store: VectorStore, like: Rows, there: Rows, count: int
) -> tuple[Rows, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Return the nearest rows that are not there yet; the search widens until there are enough."""
    vectors = store.vectors(like)
    known = np.union1d(there, like)
    k = 2 * count + len(like)
    while True:
        rows, distances = index.nearest(vectors, min(k, index.n_rows))
        best = _closest(rows.ravel(), distances.ravel(), known, len(store))
        if len(best[0]) >= count or k >= index.n_rows or (rows < 0).any():
            return best[0][:count], best[1][:count]
        k *= 4


def _closest(
    rows: Rows, distances: np.ndarray[tuple[int], np.dtype[np.float32]], known: Rows, n: int
) -> tuple[Rows, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Return each new row once, with its smallest distance, nearest first."""
    new = (rows >= 0) & (rows < n) & ~np.isin(rows, known)
    rows, distances = rows[new], distances[new]
    order = np.lexsort((rows, distances))
    _, first = np.unique(rows[order], return_index=True)
    keep = order[np.sort(first)]
    return rows[keep], distances[keep]


def _check(like: Sequence[str], count: int) -> None:
    if not 1 <= len(like) <= MAX_LIKE:
        raise InputError(f"Expected 1 to {MAX_LIKE} items to find more of, got {len(like)}.")
    if not 1 <= count <= MAX_COUNT:
        raise InputError(f"Expected to add 1 to {MAX_COUNT:,} items, got {count}.")
