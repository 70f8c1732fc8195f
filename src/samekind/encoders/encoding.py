"""Run an encoder over a collection, through a cache on disk that survives a crash."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from functools import cache as remembered
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.compute import n_threads
from samekind.encoders.blocks import Block, SideBySide, blocks_of, some_features
from samekind.encoders.cached_items import cache_of
from samekind.encoders.gathered_rows import GatheredRows
from samekind.errors import InputError, SourceError, VectorError
from samekind.items import Collection, Item, Preview, Skipped
from samekind.protocols import Encoder, Progress
from samekind.questions.wording import plural

N_BATCHES_AHEAD = 3
"""Batches that are decoded while the network processes one."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Vectors of a collection, with the fitted encoder for further items.

    Parameters
    ----------
    X : (n, d) one vector for each item that could be read.
    encoder : fitted on these items.
    failed : items that could not be read, each with its reason.
    positions : (n,) the position in the collection of each row of X.
    outside : (n,) how much of each item its vector misses, if requested.
    """

    X: NDArray[np.float32]
    encoder: Encoder
    failed: tuple[Skipped, ...]
    positions: NDArray[np.intp]
    outside: NDArray[np.float64] | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which columns of X belong together; the first ones group items before any answer."""
        return blocks_of(self.encoder, self.X.shape[1])


@dataclass(frozen=True)
class _Raw:
    features: Any
    failed: tuple[Skipped, ...]
    positions: NDArray[np.intp]


def encode(
    collection: Collection,
    encoder: Encoder,
    *,
    cache: Path | None = None,
    batch: int = 16,
    progress: Progress | None = None,
) -> Encoded:
    """Read every item, fit the encoder on them, and return the vectors.

    Parameters
    ----------
    collection : the items. If it has an attribute ``matrix``, that is used as the raw features.
    encoder : is fitted in place.
    cache : folder that stores raw features by item, so that a second call, or one after a crash,
        reads only what is new or changed. None: nothing is stored.
    batch : items per step; each finished batch is stored.
    progress : called with (items done, total); may raise to cancel.
    """
    if not len(collection):
        raise SourceError(f"Expected at least 1 item in {collection.name!r}, got none. Add items.")
    raw = _read(collection, encoder, cache, batch, progress)
    if not len(raw.positions):
        first = raw.failed[0]
        raise SourceError(
            f"None of {plural(len(collection), 'item')} of {collection.name!r} could be read. "
            f"The first one, {first.id!r}: {first.reason}"
        )
    X = encoder.fit(raw.features).transform(raw.features)
    if X.ndim != 2 or len(X) != len(raw.positions):
        raise VectorError(
            f"Expected one vector for each of {len(raw.positions)} items from the encoder "
            f"{encoder.name!r}, got shape {X.shape}."
        )
    return Encoded(X, encoder, raw.failed, raw.positions)


def encode_more(
    encoded: Encoded,
    items: Collection,
    *,
    cache: Path | None = None,
    batch: int = 16,
    progress: Progress | None = None,
    outside: bool = False,
) -> Encoded:
    """Encode new or held-out items with the encoder as it was fitted before.

    Unlike :func:`encode` this learns nothing, and it is no error if there are no items, or none
    that can be read. `outside` also computes how much of each item its vector misses.
    """
    raw = _read(items, encoded.encoder, cache, batch, progress)
    if not len(raw.positions):
        X = np.empty((0, encoded.X.shape[1]), dtype=np.float32)
    else:
        X = encoded.encoder.transform(raw.features)
    missed = getattr(encoded.encoder, "outside", None) if outside and len(raw.positions) else None
    lost = None if missed is None else missed(raw.features)
    return Encoded(X, encoded.encoder, raw.failed, raw.positions, lost)


def outside_limit(
    encoded: Encoded,
    items: Collection,
    *,
    cache: Path | None = None,
    quantile: float = 0.99,
    max_items: int = 5000,
) -> float | None:
    """How much of an item like these its vector usually misses; None if unknown.

    An encoder describes the items that it was fitted on better than others. So it is fitted again
    on nine tenths of them and applied to the last tenth; ten times if that is quick.
    """
    if not hasattr(encoded.encoder, "outside") or len(items) < 10:
        return None
    order = np.random.default_rng(0).permutation(len(items))[:max_items]
    raw = _read(items.take(np.sort(order).tolist()), encoded.encoder, cache, 16, None)
    fold = np.random.default_rng(1).permutation(len(raw.positions)) % 10
    found: list[float] = []
    for part in range(10 if len(fold) <= 1000 else 2):
        others = some_features(raw.features, fold != part)
        judged = some_features(raw.features, fold == part)
        again = copy(encoded.encoder).fit(others)
        found.extend(getattr(again, "outside")(judged))  # noqa: B009  not part of the protocol
    limit = float(np.quantile(found, quantile))
    return limit if limit > 1e-3 else None


def _read(
    collection: Collection,
    encoder: Encoder,
    cache: Path | None,
    batch: int,
    progress: Progress | None,
) -> _Raw:
    if batch < 1:
        raise InputError(f"Expected `batch` to be at least 1, got {batch}.")
    if len(collection) and collection.kind not in encoder.kinds:
        raise InputError(
            f"Expected {' or '.join(encoder.kinds)} items for the encoder {encoder.name!r}, got "
            f"{collection.kind} items in {collection.name!r}. Choose another encoder."
        )
    matrix = getattr(collection, "matrix", None)
    if matrix is not None:
        return _Raw(matrix, (), np.arange(len(matrix)))
    parts: Sequence[Encoder] = getattr(encoder, "parts", ())
    if parts:
        return _read_parts(collection, parts, cache, batch, progress)
    if encoder.width is None:
        return _read_all(collection, encoder, batch, progress)
    reader = _Reader(collection, encoder, encoder.width, cache)
    for done in reader.steps(batch):
        if progress is not None:
            progress(done, len(collection))
    return reader.result()


def _read_parts(
    collection: Collection,
    parts: Sequence[Encoder],
    cache: Path | None,
    batch: int,
    progress: Progress | None,
) -> _Raw:
    """Read the items with each of several encoders, in step, each with its own cache.

    In step, because the progress then tells how long all of them take together. Items that any of
    them cannot read have failed.
    """
    readers = {
        place: _Reader(collection, part, part.width, cache)
        for place, part in enumerate(parts)
        if part.width is not None
    }
    with ExitStack() as running:
        steps = {k: reader.steps(batch) for k, reader in readers.items()}
        for each in steps.values():
            running.callback(each.close)
            next(each)  # finds what is cached
        while steps:
            if progress is not None:
                progress(min(reader.done for reader in readers.values()), len(collection))
            behind = min(steps, key=lambda k: readers[k].done)
            if next(steps[behind], None) is None:
                del steps[behind]
    read = [
        readers[k].result() if k in readers else _read_all(collection, part, batch, None)
        for k, part in enumerate(parts)
    ]
    good = np.arange(len(collection))
    for raw in read:
        good = np.intersect1d(good, raw.positions)
    failed = {skipped.id: skipped for raw in read for skipped in raw.failed}
    features = tuple(
        raw.features
        if len(raw.positions) == len(good)
        else some_features(raw.features, np.isin(raw.positions, good))
        for raw in read
    )
    return _Raw(SideBySide(features), tuple(failed.values()), good)


def _read_all(
    collection: Collection, encoder: Encoder, batch: int, progress: Progress | None
) -> _Raw:
    """Load all items, then read them at once; for encoders whose reading is cheap."""
    good: list[Item] = []
    positions: list[int] = []
    failed: list[Skipped] = []
    for position, item in enumerate(collection):
        loaded = _loaded(item, encoder)
        if isinstance(loaded, Skipped):
            failed.append(loaded)
        else:
            good.append(loaded)
            positions.append(position)
        done = position + 1
        if progress is not None and (done % (batch * 64) == 0 or done == len(collection)):
            progress(done, len(collection))
    features = encoder.read(good) if good else []
    return _Raw(features, tuple(failed), np.array(positions, dtype=np.intp))


class _Reader:
    """One pass over a collection: find cached rows, compute the others batch by batch."""

    def __init__(
        self, collection: Collection, encoder: Encoder, width: int, cache: Path | None
    ) -> None:
        self.collection = collection
        self.encoder = encoder
        self.width = width
        self.store = None if cache is None else cache_of(collection, encoder, width, cache)
        self.gathered = GatheredRows(len(collection), width, self.store)
        self.done = 0
        self.failed: dict[int, Skipped] = {}

    def steps(self, batch: int) -> Generator[int, None, None]:
        """Read all items, and say after each batch how many are done."""
        try:
            missing = self._find_cached()
            yield self.done
            for positions, loaded in load_ahead(self.collection, missing, batch, self.encoder):
                self._compute(positions, loaded)
                yield self.done
        finally:
            if self.store is not None:
                self.store.close()

    def result(self) -> _Raw:
        """The features of all items, once all steps are done."""
        features, good = self.gathered.array()
        if self.store is not None:
            self.store.tidy()
        return _Raw(features, tuple(self.failed[i] for i in sorted(self.failed)), good)

    def _find_cached(self) -> list[int]:
        if self.store is None:
            return list(range(len(self.collection)))
        missing = []
        for position, item in enumerate(self.collection):
            place = self.store.find(item.id, item.stamp)
            if place is None:
                missing.append(position)
            else:
                self.gathered.put(position, place)
                self.done += 1
        return missing

    def _compute(self, positions: Sequence[int], loaded: Sequence[_Loaded | Skipped]) -> None:
        pairs = list(zip(positions, loaded, strict=True))
        self.failed |= {i: item for i, item in pairs if isinstance(item, Skipped)}
        good = [(i, item) for i, item in pairs if isinstance(item, _Loaded)]
        self.done += len(pairs)
        if not good:
            return
        items = [item for _, item in good]
        rows = np.asarray(self.encoder.read(items))
        if rows.shape != (len(items), self.width):
            raise VectorError(
                f"Expected features of shape {(len(items), self.width)} from the encoder "
                f"{self.encoder.name!r} by its width, got {rows.shape}."
            )
        first = None
        if self.store is not None:
            first = self.store.add(
                [item.id for item in items], [item.stamp for item in items], rows
            )
        self.gathered.put_batch([i for i, _ in good], rows, first)


class _Loaded(Item):
    """An item whose content is in memory, with the stamp from before it was read.

    An encoder may have ``prepare(content)``, which shrinks the content here, in a thread, and
    ``size``, the pixels per side that it needs, so that items can decode smaller copies.
    """

    def __init__(self, item: Item, encoder: Encoder) -> None:
        self.id = item.id
        self._item = item
        self._stamp = item.stamp
        size: int | None = getattr(encoder, "size", None)
        load: Callable[..., Any] = item.load
        content = load(size=size) if size and _takes_size(type(item)) else load()
        prepare: Callable[[Any], Any] | None = getattr(encoder, "prepare", None)
        self._content = content if prepare is None else prepare(content)

    @property
    def stamp(self) -> str:
        return self._stamp

    def load(self) -> Any:
        return self._content

    def preview(self) -> Preview:
        return self._item.preview()


@remembered
def _takes_size(kind_of_item: type[Item]) -> bool:
    return "size" in signature(kind_of_item.load).parameters


def _loaded(item: Item, encoder: Encoder) -> _Loaded | Skipped:
    try:
        return _Loaded(item, encoder)
    except (SourceError, OSError) as problem:  # OSError: the file is gone or cut off
        return Skipped(item.id, str(problem))


Batch = tuple[Sequence[int], list[_Loaded | Skipped]]


def load_ahead(
    collection: Collection,
    positions: Sequence[int],
    batch: int,
    encoder: Encoder,
) -> Iterator[Batch]:
    """Loaded items batch by batch, while the next batches are decoded in threads."""
    steps = iter([positions[k : k + batch] for k in range(0, len(positions), batch)])
    pool = ThreadPoolExecutor(max_workers=max(2, min(4, n_threads())))

    def submit(step: Sequence[int]) -> tuple[Sequence[int], list[Future[_Loaded | Skipped]]]:
        return step, [pool.submit(_loaded, collection[i], encoder) for i in step]

    try:
        waiting = [submit(step) for step in islice(steps, N_BATCHES_AHEAD)]
        while waiting:
            step, futures = waiting.pop(0)
            loaded = [future.result() for future in futures]
            waiting.extend(submit(following) for following in islice(steps, 1))
            yield step, loaded
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
