"""encode, encode_more: a collection to vectors, through a cache on disk that survives a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from samekind.encoders.feature_cache import FeatureCache, default_cache
from samekind.errors import InputError, SourceError, VectorError
from samekind.items import Collection, Item, Preview, Skipped
from samekind.protocols import Encoder, Progress

__all__ = ["Encoded", "default_cache", "encode", "encode_more", "most_outside"]

AHEAD = 3
"""Batches that are decoded while the network works on one."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Vectors of a collection, and what is needed to encode more items in the same way.

    Parameters
    ----------
    X : (n, d) one vector for each item that could be read.
    encoder : the encoder, fitted on these items.
    failed : items that could not be read after all, each with its reason.
    positions : (n,) the position in the collection of each row of X.
    outside : (n,) how much of each item its vector does not tell, where that was asked for.
    """

    X: NDArray[np.float32]
    encoder: Encoder
    failed: tuple[Skipped, ...]
    positions: NDArray[np.intp]
    outside: NDArray[np.float64] | None = None


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
    """Read every item, fit the encoder on the pile, and return the vectors.

    Parameters
    ----------
    collection : the items. If it has an attribute ``matrix``, that is taken as the raw features.
    encoder : how to read them; it is fitted in place.
    cache : folder that keeps raw features by item, so that a second call, or one after a kill,
        only reads what is new or changed. None: nothing is kept.
    batch : items per step; each finished batch is kept.
    progress : called with (items done, items in all); may raise to cancel.
    """
    if not len(collection):
        raise SourceError(f"There is nothing in {collection.name!r} to encode. Add items first.")
    raw = _read(collection, encoder, cache, batch, progress)
    if not len(raw.positions):
        first = raw.failed[0]
        raise SourceError(
            f"None of the {len(collection)} items of {collection.name!r} could be read. "
            f"The first one, {first.id!r}: {first.reason}"
        )
    X = encoder.fit(raw.features).transform(raw.features)
    if X.ndim != 2 or len(X) != len(raw.positions):
        raise VectorError(
            f"Encoder {encoder.name!r} gave vectors of shape {X.shape} for "
            f"{len(raw.positions)} items. It must give one row per item."
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
    """Vectors of new or held-out items from the encoder as it was fitted before.

    Unlike :func:`encode` this learns nothing, and no items, or none that can be read, is no error.
    `outside` asks also how much of each item its vector does not tell, if the encoder knows.
    """
    raw = _read(items, encoded.encoder, cache, batch, progress)
    if not len(raw.positions):
        X = np.empty((0, encoded.X.shape[1]), dtype=np.float32)
    else:
        X = encoded.encoder.transform(raw.features)
    told = getattr(encoded.encoder, "outside", None) if outside and len(raw.positions) else None
    lost = None if told is None else told(raw.features)
    return Encoded(X, encoded.encoder, raw.failed, raw.positions, lost)


def most_outside(
    encoded: Encoded,
    items: Collection,
    *,
    cache: Path | None = None,
    quantile: float = 0.99,
    most: int = 5000,
) -> float | None:
    """How much of an item like those of the pile its vector may leave untold; None: not known.

    An encoder fitted on a few items tells these better than any others. So it is fitted again on
    nine tenths of them, and asked about the last tenth; ten times where that is quick.
    """
    if not hasattr(encoded.encoder, "outside") or len(items) < 10:
        return None
    order = np.random.default_rng(0).permutation(len(items))[:most]
    raw = _read(items.take(np.sort(order).tolist()), encoded.encoder, cache, 16, None)
    fold = np.random.default_rng(1).permutation(len(raw.positions)) % 10
    found: list[float] = []
    for part in range(10 if len(fold) <= 1000 else 2):
        others, judged = (_some(raw.features, fold != part), _some(raw.features, fold == part))
        again = copy(encoded.encoder).fit(others)
        found.extend(getattr(again, "outside")(judged))  # noqa: B009  not part of the protocol
    limit = float(np.quantile(found, quantile))
    return limit if limit > 1e-3 else None


def _some(features: Any, wanted: NDArray[np.bool_]) -> Any:
    if isinstance(features, list):
        return [feature for feature, take in zip(features, wanted, strict=True) if take]
    return features[wanted]


def _read(
    collection: Collection,
    encoder: Encoder,
    cache: Path | None,
    batch: int,
    progress: Progress | None,
) -> _Raw:
    if batch < 1:
        raise InputError(f"batch must be at least 1; {batch} came.")
    if len(collection) and collection.kind not in encoder.kinds:
        raise InputError(
            f"Encoder {encoder.name!r} reads {' and '.join(encoder.kinds)} items, but those of "
            f"{collection.name!r} are {collection.kind} items. Choose another encoder."
        )
    matrix = getattr(collection, "matrix", None)
    if matrix is not None:
        return _Raw(matrix, (), np.arange(len(matrix)))
    if encoder.width is None:
        return _read_all(collection, encoder, batch, progress)
    store = None
    if cache is not None:
        store = FeatureCache.at(
            cache,
            collection.location or collection.name,
            fingerprint=encoder.fingerprint,
            width=encoder.width,
        )
    return _Reader(collection, encoder, encoder.width, store, progress).run(batch)


def _read_all(
    collection: Collection, encoder: Encoder, batch: int, progress: Progress | None
) -> _Raw:
    """Items whose reading is cheap: load them, then read them in one go."""
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
    """One pass over a collection: cached rows are taken, the others computed batch by batch."""

    def __init__(
        self,
        collection: Collection,
        encoder: Encoder,
        width: int,
        store: FeatureCache | None,
        progress: Progress | None,
    ) -> None:
        self.collection = collection
        self.encoder = encoder
        self.width = width
        self.store = store
        self.progress = progress
        self.raw: NDArray[Any] | None = None
        self.done = 0
        self.failed: dict[int, Skipped] = {}

    def run(self, batch: int) -> _Raw:
        try:
            missing = self._take_cached()
            self._report()
            for positions, loaded in ahead(self.collection, missing, batch, self.encoder):
                self._compute(positions, loaded)
                self._report()
        finally:
            if self.store is not None:
                self.store.close()
        if self.store is not None:
            self.store.tidy()
        n = len(self.collection)
        good = np.array([i for i in range(n) if i not in self.failed], dtype=np.intp)
        raw = np.empty((0, self.width), dtype=np.float32) if self.raw is None else self.raw
        features = raw if len(good) == len(raw) else raw[good]
        return _Raw(features, tuple(self.failed[i] for i in sorted(self.failed)), good)

    def _take_cached(self) -> list[int]:
        if self.store is None:
            return list(range(len(self.collection)))
        missing = []
        for position, item in enumerate(self.collection):
            row = self.store.get(item.id, item.stamp)
            if row is None:
                missing.append(position)
            else:
                self._put(position, row)
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
                f"Encoder {self.encoder.name!r} read {len(items)} items into shape {rows.shape}; "
                f"{(len(items), self.width)} was announced by its width."
            )
        for (position, _), row in zip(good, rows, strict=True):
            self._put(position, row)
        if self.store is not None:
            self.store.add([item.id for item in items], [item.stamp for item in items], rows)

    def _put(self, position: int, row: NDArray[Any]) -> None:
        if self.raw is None:
            self.raw = np.zeros((len(self.collection), self.width), dtype=row.dtype)
        self.raw[position] = row

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.done, len(self.collection))


class _Loaded(Item):
    """An item whose content is in memory already; the stamp is that from before the reading.

    An encoder may offer ``prepare(content)``, which shrinks the content here, in a thread, and
    ``size``, the pixels per side that it needs: items that can decode smaller copies then do.
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
    except (SourceError, OSError) as problem:  # OSError: the file went away, or is cut short
        return Skipped(item.id, str(problem))


Batch = tuple[Sequence[int], list[_Loaded | Skipped]]


def ahead(
    collection: Collection,
    positions: Sequence[int],
    batch: int,
    encoder: Encoder,
) -> Iterator[Batch]:
    """Loaded items batch by batch, the next batches being decoded in threads meanwhile."""
    steps = iter([positions[k : k + batch] for k in range(0, len(positions), batch)])
    pool = ThreadPoolExecutor(max_workers=max(2, min(4, n_threads())))

    def submit(step: Sequence[int]) -> tuple[Sequence[int], list[Future[_Loaded | Skipped]]]:
        return step, [pool.submit(_loaded, collection[i], encoder) for i in step]

    try:
        waiting = [submit(step) for step in islice(steps, AHEAD)]
        while waiting:
            step, futures = waiting.pop(0)
            loaded = [future.result() for future in futures]
            waiting.extend(submit(following) for following in islice(steps, 1))
            yield step, loaded
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
