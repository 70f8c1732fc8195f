"""Reference items: a few thousand rows of a store that stand for all of them.

A session over a store asks about reference items only; the other rows are never in memory at once.

* :func:`reference_of` returns those of a store: chosen once, then read from the store.
* :func:`choose_rows` makes a choice: (n,) rows out of any number, spread for coverage.
* :func:`add_rows` and :func:`extend_reference` add further ones for good.

Memory of a choice: the vectors of the sample (`MAX_SAMPLE_BYTES`, 256 MB), a third of that again
for the k-means, and a few numbers per row of the sample. It does not depend on the size of the
store.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.side_files import list_json, read_json, write_json
from samekind.bulk.vector_store import VectorStore
from samekind.errors import InputError, MissingExtra
from samekind.protocols import Progress

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]

VERSION = 1
"""Changes when the same seed would choose other rows."""
N_REFERENCE = 10_000
"""Reference items by default: as many as the live method learns from."""
MAX_SAMPLE_ROWS, MAX_SAMPLE_BYTES = 250_000, 256_000_000
"""A choice is made among this many rows, whose vectors take at most this many bytes."""
PER_CELL = 10
"""Reference items per cell, on average."""
TRAINED_PER_CELL = 64
"""Rows per cell from which the k-means learns its centres."""
FAR_SHARE = 0.1
"""Share of the cells around rows that are far from the centres of all others."""
EVEN_SHARE = 0.1
"""Share of the reference items that is divided evenly among cells, however small they are; the
others are divided by size, so that the groups keep about their proportions. With 0.3, and always
the rim of each cell, a session on CIFAR vectors was a point worse: it learnt from outliers."""
CHUNK = 8192
"""Rows that are read at once."""
CHOICES, ADDITIONS = "reference", "reference/more"
"""Folders of side files: choices (number, version, size, seed), and what was added to all."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference items of a store.

    Parameters
    ----------
    rows : (m,) their rows: the choice in ascending order, then what was added, in that order.
    n_chosen : how many of them are the choice.
    seen : rows that the store had when it was last chosen from. Later ones are not represented.
    size, seed : of the choice.
    """

    rows: Rows
    n_chosen: int
    seen: int
    size: int
    seed: int


def reference_of(
    store: VectorStore,
    size: int | None = None,
    seed: int | None = None,
    *,
    progress: Progress | None = None,
) -> Reference:
    """Return the reference items of a store; the first call chooses them and remembers them.

    Rows that are appended later change nothing: they are represented only after
    :func:`extend_reference`.

    Parameters
    ----------
    size, seed : None: those of the first choice that was made, or `N_REFERENCE` and 0. Others make
        another choice beside it; what was added to one is added to all.
    """
    kept = _kept_choice(store, size, seed)
    if kept is None:
        size, seed = size or N_REFERENCE, seed or 0
        rows = choose_rows(store, size, seed=seed, progress=progress)
        kept = {"size": size, "seed": seed, "seen": len(store), "rows": rows.tolist()}
        number = len(list_json(store.path, CHOICES)) + 1
        write_json(store.path, f"{CHOICES}/{number:03d}-{_key(size, seed)}", kept)
    more = additions(store)
    found = list(dict.fromkeys([*kept["rows"], *(row for one in more for row in one["rows"])]))
    seen = max([int(kept["seen"]), *(int(one.get("seen", 0)) for one in more)])
    rows = np.array(found, dtype=np.int64)
    return Reference(rows, len(kept["rows"]), seen, int(kept["size"]), int(kept["seed"]))


def _kept_choice(store: VectorStore, size: int | None, seed: int | None) -> dict[str, Any] | None:
    wanted = "" if size is None and seed is None else _key(size or N_REFERENCE, seed or 0)
    names = [name for name in list_json(store.path, CHOICES) if name.endswith(wanted)]
    return read_json(store.path, names[0]) if names else None


def _key(size: int, seed: int) -> str:
    return f"v{VERSION}-{size}-seed{seed}.json"


def choose_rows(
    store: VectorStore,
    size: int = N_REFERENCE,
    *,
    seed: int = 0,
    start: int = 0,
    progress: Progress | None = None,
) -> Rows:
    """(size,) rows from `start` on that cover the store, ascending; all if there are no more.

    A sample with the same number of rows from each stretch of the store (and so from each shard) is
    divided into cells (see :func:`partition`). Large cells get more items than small ones, but none
    gets none; within a cell they range from near its centre to far from it, each for as many rows.
    The same seed and rows give the same choice.

    Parameters
    ----------
    progress : called with the rows of the sample that were read and their number.
    """
    _check_size(size)
    n = len(store) - start
    if n <= size:
        return np.arange(start, start + max(n, 0), dtype=np.int64)
    rng = np.random.default_rng((seed, start))
    sample = start + stratified(n, sample_size(size, store.width), rng)
    X = read_rows(store, sample, progress)
    cells, distances = partition(X, max(1, size // PER_CELL), seed)
    return np.sort(sample[spread_over(cells, distances, size)])


def sample_size(size: int, width: int) -> int:
    """Rows among which `size` reference items are chosen; fewer if vectors are wide."""
    return max(size, min(MAX_SAMPLE_ROWS, MAX_SAMPLE_BYTES // (4 * width)))


def stratified(n: int, size: int, rng: np.random.Generator) -> Rows:
    """One random number from each of `size` equal stretches of 0 to n - 1; ascending.

    >>> stratified(6, 3, np.random.default_rng(0)) // 2
    array([0, 1, 2])
    """
    if n <= size:
        return np.arange(n, dtype=np.int64)
    edges = np.arange(size + 1, dtype=np.int64) * n // size
    return np.asarray(rng.integers(edges[:-1], edges[1:]), dtype=np.int64)


def read_rows(store: VectorStore, rows: Rows, progress: Progress | None = None) -> Floats:
    """(m, width) vectors of some rows, read in chunks."""
    X = np.empty((len(rows), store.width), dtype=np.float32)
    for begin in range(0, len(rows), CHUNK):
        part = slice(begin, begin + CHUNK)
        X[part] = store.vectors(rows[part])
        if progress is not None:
            progress(min(begin + CHUNK, len(rows)), len(rows))
    return X


def partition(X: Floats, n_cells: int, seed: int) -> tuple[NDArray[np.int64], Floats]:
    """(m,) the cell of each row, and (m,) its squared distance from the centre of the cell.

    Most centres are those of a k-means. Each of the others is the row that is farthest from all
    centres so far: small kinds that lie apart get cells that a k-means would not give them.
    """
    faiss, n_far = import_faiss(), int(FAR_SHARE * n_cells)
    kmeans = faiss.Kmeans(
        X.shape[1],
        min(n_cells - n_far, len(X)),
        niter=10,
        seed=seed + 1,
        max_points_per_centroid=TRAINED_PER_CELL,
        min_points_per_centroid=1,
    )
    kmeans.train(X)
    nearest, found = kmeans.index.search(X, 1)
    distances, cells = nearest[:, 0], found[:, 0]
    norms = np.einsum("ij,ij->i", X, X)
    for cell in range(kmeans.k, kmeans.k + n_far):
        far = int(distances.argmax())
        here = np.maximum(norms - 2 * (X @ X[far]) + norms[far], 0)
        closer = here < distances
        cells[closer], distances[closer] = cell, here[closer]
    return cells, distances


def spread_over(cells: NDArray[np.int64], distances: Floats, size: int) -> Rows:
    """Choose `size` positions: from each cell some, in equal steps from near its centre to far."""
    sizes = np.bincount(cells)
    wanted = quotas(sizes, size)
    order = np.lexsort((distances, cells))
    ends = np.cumsum(sizes)
    chosen = [
        order[end - n + ((np.arange(k) + 0.5) * n / k).astype(np.int64)]
        for end, n, k in zip(ends, sizes, wanted, strict=True)
        if k
    ]
    return np.concatenate(chosen)


def quotas(sizes: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Divide a number among cells: a share evenly, the rest by size, none more than it has.

    >>> quotas(np.array([1000, 100, 2]), 40).tolist()
    [34, 5, 1]
    """
    wish = EVEN_SHARE * total * (sizes > 0) / max(1, int((sizes > 0).sum()))
    wish = wish + (1 - EVEN_SHARE) * total * sizes / sizes.sum()
    found: NDArray[np.int64] = np.minimum(np.floor(wish).astype(np.int64), sizes)
    while (missing := total - int(found.sum())) > 0:
        short = np.where(found < sizes, wish - found, -np.inf)
        here = np.argsort(-short, kind="stable")[: min(missing, int((found < sizes).sum()))]
        found[here] += 1
    return found


def additions(store: VectorStore) -> list[dict[str, Any]]:
    """What was added to the reference items, in order: rows, and what they are like."""
    found = (read_json(store.path, name) for name in list_json(store.path, ADDITIONS))
    return [one for one in found if one is not None]


def add_rows(store: VectorStore, rows: Sequence[int], **facts: Any) -> None:
    """Add reference items for good; each call is a small file of its own, so none is lost.

    Parameters
    ----------
    facts : plain JSON to keep with them, such as the ids that they are `like`.
    """
    number = len(list_json(store.path, ADDITIONS)) + 1
    name = f"{ADDITIONS}/{number:06d}-{secrets.token_hex(4)}.json"
    write_json(store.path, name, {"rows": [int(row) for row in rows], **facts})


def extend_reference(
    store: VectorStore,
    size: int | None = None,
    seed: int | None = None,
    *,
    progress: Progress | None = None,
) -> Rows:
    """Choose among the rows appended since the last choice, in proportion, and add them."""
    now = reference_of(store, size, seed, progress=progress)
    n_new = len(store) - now.seen
    if n_new <= 0:
        return np.empty(0, dtype=np.int64)
    share = max(2, round(now.size * n_new / len(store)))
    rows = choose_rows(store, share, seed=now.seed, start=now.seen, progress=progress)
    rows = np.setdiff1d(rows, now.rows)
    add_rows(store, rows.tolist(), seen=len(store))
    return rows


def import_faiss() -> Any:
    """Return the package that finds neighbours, or say what to install."""
    try:
        import faiss
    except ImportError as missing:
        raise MissingExtra(
            "Choosing and finding items in a store of vectors", "cluster"
        ) from missing
    return faiss


def _check_size(size: int) -> None:
    if size < 2:
        raise InputError(f"Expected at least 2 reference items, got {size}.")
