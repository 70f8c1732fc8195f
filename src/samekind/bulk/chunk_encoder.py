"""ChunkEncoder: embed one chunk of the work list, in this process or as a worker of Ray Data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.broken_items import BrokenItem
from samekind.bulk.encoders import ITEMS_IN_MEMORY, as_fitted, encode_items, encoder_of
from samekind.bulk.readers import Entry, Reader
from samekind.bulk.vector_store import VectorStore, key_of
from samekind.bulk.work_list import WorkList
from samekind.encoders import Encoded
from samekind.items import Item, Skipped
from samekind.protocols import Progress

Step = tuple[Sequence[Entry], list[Item | Skipped]]


@dataclass(frozen=True)
class ChunkDone:
    """A chunk whose vectors are written but not committed."""

    chunk: int
    n_vectors: int
    fragments: tuple[str, ...]
    broken: tuple[BrokenItem, ...]


@dataclass
class ChunkEncoder:
    """Reads, encodes and writes chunks; every worker holds one.

    Parameters
    ----------
    store : path or URL of the store, which every worker can reach.
    encoder : its name if the person gave one (code outside of samekind is run only then).
    batch : items per step of the encoder.
    skip : sorted keys of entries that are embedded already, such as those of the sample.
    threads : cores that a worker may use; None: all.
    """

    store: str
    reader: Reader
    work: WorkList
    encoder: str | None = None
    batch: int = 16
    skip: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    threads: int | None = None

    def __post_init__(self) -> None:
        self._opened: tuple[VectorStore, Encoded] | None = None

    def parameters(self) -> dict[str, Any]:
        """Return what makes the same encoder in another process."""
        names = ("store", "reader", "work", "encoder", "batch", "skip", "threads")
        return {name: getattr(self, name) for name in names}

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        """Embed the chunks of a batch of Ray Data, each described by its number."""
        done = [self.embed(int(chunk)) for chunk in rows["chunk"]]
        return {
            "chunk": np.array([one.chunk for one in done]),
            "n_vectors": np.array([one.n_vectors for one in done]),
            "fragments": np.array([json.dumps(one.fragments) for one in done], dtype=object),
            "broken": np.array(
                [json.dumps([item.__dict__ for item in one.broken]) for one in done], dtype=object
            ),
        }

    def embed(self, chunk: int, progress: Callable[[int], None] | None = None) -> ChunkDone:
        """Embed one chunk; `progress` is called with the number of items done in it."""
        store, encoded = self._open()
        stamps: dict[str, str] = {}
        kept: list[Entry] = []
        vectors = [np.empty((0, store.width), dtype=np.float32)]
        broken: list[BrokenItem] = []
        for entries, items in self._loaded(self._missing(chunk)):
            report = None if progress is None else _after(len(stamps), progress)
            found = encode_items(encoded, entries, items, batch=self.batch, progress=report)
            stamps |= {entry.id: entry.stamp for entry in entries}
            kept += found.entries
            vectors.append(found.X)
            broken += [BrokenItem(b.id, stamps[b.id], b.reason) for b in found.broken]
        fragments: list[str] = []
        if kept:
            ids, places, marks = zip(*kept, strict=True)
            fragments = store.write_fragment(ids, places, marks, np.concatenate(vectors))
        return ChunkDone(chunk, len(kept), tuple(fragments), tuple(broken))

    def _missing(self, chunk: int) -> list[Entry]:
        entries = self.work.entries(chunk)
        if not len(self.skip):
            return entries
        keys = np.array([key_of(entry.id, entry.stamp) for entry in entries], dtype=np.uint64)
        return [e for e, known in zip(entries, np.isin(keys, self.skip), strict=True) if not known]

    def _loaded(self, entries: Sequence[Entry]) -> Iterator[Step]:
        """Load items step by step; the next step is read while one is encoded."""
        size = len(entries) if self.reader.lazy else ITEMS_IN_MEMORY
        steps = [entries[k : k + size] for k in range(0, len(entries), max(size, 1))]
        with ThreadPoolExecutor(1) as pool:
            waiting = [pool.submit(self.reader.items, step) for step in steps[:1]]
            for number, step in enumerate(steps):
                items = waiting.pop().result()
                following = steps[number + 1 : number + 2]
                waiting = [pool.submit(self.reader.items, other) for other in following]
                yield step, items

    def _open(self) -> tuple[VectorStore, Encoded]:
        if self._opened is None:
            if self.threads is not None:
                os.environ["SAMEKIND_THREADS"] = str(self.threads)
            store = VectorStore.open(self.store)
            encoder = encoder_of(store.manifest, self.encoder)
            self._opened = store, as_fitted(encoder, store.width)
        return self._opened


def _after(before: int, progress: Callable[[int], None]) -> Progress:
    """Return a callback for one step that counts the items of earlier steps, too."""
    return lambda done, total: progress(before + done)


def done_from_row(row: dict[str, Any]) -> ChunkDone:
    """Return a chunk from the row that a worker has sent."""
    broken = tuple(BrokenItem(**item) for item in json.loads(row["broken"]))
    fragments = tuple(json.loads(row["fragments"]))
    return ChunkDone(int(row["chunk"]), int(row["n_vectors"]), fragments, broken)
