"""Embedding: turn every item of a source into a vector of a store, once.

The encoder is fitted on a random sample of the source and kept in the manifest. Then chunks of the
work list are embedded, in this process or by workers of Ray Data, which write fragments. Only this
process commits them, so what a killed worker or driver has left does not count, and the next call
embeds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import numpy as np

from samekind import __version__
from samekind.bulk.broken_items import BrokenItem, BrokenItems
from samekind.bulk.chunk_encoder import ChunkDone, ChunkEncoder, done_from_row
from samekind.bulk.cluster import LOCAL, check_reachable, connected
from samekind.bulk.encoders import Fitted, check_savable, encoder_of, fit_on_sample
from samekind.bulk.files import is_url
from samekind.bulk.listing import Keys, Missing, Sampler
from samekind.bulk.manifest import Manifest
from samekind.bulk.readers import Entry, Reader, open_reader
from samekind.bulk.row_stream import mapped_rows
from samekind.bulk.store_lock import locked
from samekind.bulk.vector_store import VectorStore, key_of, lance, store_path
from samekind.bulk.work_list import ROWS, WorkList
from samekind.encoders import default_for, make_encoder
from samekind.encoders.learned.encoder import Learnt
from samekind.errors import InputError, SourceError
from samekind.items import Skipped
from samekind.protocols import Encoder

SAMPLE = 10_000
"""Items that the encoder is fitted on, unless another number is given."""
MIN_CHUNK, N_CHUNKS = 64, 64
"""A pile is cut into at least 64 chunks, unless these would have fewer than 64 items each."""
SECONDS_BETWEEN_COMMITS = 5.0
MAX_SHARE_OF_COMMITS = 0.05
"""Commits grow with the number of fragments; they take at most this share of the time."""

StepProgress = Callable[[str, int, int | None], None]
"""Called with what is being done, the number of items done, and their total if it is known."""


@dataclass(frozen=True)
class Work:
    """How embedding is done; none of it changes the vectors but `sample`, `encoder` and `seed`.

    Parameters
    ----------
    encoder : its name; None: that of the store, or the default for the items.
    on : "local" for this process, "ray" for a cluster started here, or the address of a cluster.
    workers : of Ray; None: one for each core, or for each share of a GPU.
    gpus : that each worker gets, such as 1 or 0.5; 0: workers compute on one core each.
    batch : items per step of the encoder.
    sample : items that the encoder is fitted on.
    exclude : columns of a table that are labels.
    retry_broken : try items again that could not be read before.
    """

    encoder: str | None = None
    on: str = LOCAL
    workers: int | None = None
    gpus: float = 0.0
    batch: int = 16
    sample: int = SAMPLE
    exclude: tuple[str, ...] = ()
    seed: int = 0
    retry_broken: bool = False

    def __post_init__(self) -> None:
        for name in ("batch", "sample", "workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"Expected `{name}` to be at least 1, got {value}.")
        if self.gpus < 0:
            raise InputError(f"Expected `gpus` to be at least 0, got {self.gpus}.")


@dataclass
class Outcome:
    """What a call of :func:`embed` has done.

    Parameters
    ----------
    n_listed : items of the source. n_before, n_added : vectors from before, and new ones.
    broken : items that could not be read, also from earlier calls.
    left_out : what was found in the source but cannot be items, such as folders without permission.
    n_outdated : vectors of items that have changed since, or are gone.
    reason : why this encoder was chosen.
    """

    path: str
    encoder: str = ""
    reason: str = ""
    n_listed: int = 0
    n_before: int = 0
    n_added: int = 0
    n_outdated: int = 0
    broken: tuple[BrokenItem, ...] = ()
    left_out: tuple[Skipped, ...] = ()


def embed(
    source: str,
    out: str | Path,
    work: Work | None = None,
    *,
    progress: StepProgress | None = None,
) -> Outcome:
    """Embed all items of a source that a store does not have yet.

    Parameters
    ----------
    source : see :func:`samekind.bulk.readers.open_reader`.
    out : the store, a path or URL that ends in ``.lance``; it is created if it does not exist.
    progress : may raise to stop. What was committed until then stays.

    Raises
    ------
    InputError
        Before any work, if the store has vectors of another source or by another encoder.
    """
    work = work or Work()
    lance()
    check_reachable(work.on)
    path = store_path(out)
    with locked(path):
        return _Embedding(path, work, progress or _silent).run(source)


def _silent(doing: str, done: int, total: int | None) -> None:
    """Ignore progress."""


@dataclass
class _Embedding:
    path: str
    work: Work
    progress: StepProgress
    outcome: Outcome = field(init=False)

    def run(self, source: str) -> Outcome:
        self.outcome = Outcome(self.path)
        store = VectorStore.open(self.path) if VectorStore.exists(self.path) else None
        reader = self._reader(source, store)
        encoder = self._encoder(reader, store)
        records = BrokenItems(self.path)
        if self.work.retry_broken:
            records.clear()
        stored = np.empty(0, dtype=np.uint64) if store is None else store.keys()
        sampler = None
        if store is None:
            sampler = Sampler(self.work.sample, run=reader.run, seed=self.work.seed)
        missing = Missing(stored, records.keys(), sampler)
        todo = WorkList(self.path)
        try:
            self._list(reader, missing, todo)
            skip: Keys = np.empty(0, dtype=np.uint64)
            if sampler is not None:
                store, skip = self._begin(reader, encoder, sampler.sample(), missing.n_listed)
            assert store is not None
            self._embed_rest(store, reader, todo, skip)
        finally:
            todo.remove()
        self._tidy(store)
        self.outcome.n_listed = missing.n_listed
        self.outcome.n_before = len(stored)
        self.outcome.n_outdated = missing.n_outdated
        self.outcome.encoder = store.manifest.encoder
        self.outcome.broken = tuple(records)
        self.outcome.left_out = tuple(getattr(reader, "left_out", ()))
        return self.outcome

    def _reader(self, source: str, store: VectorStore | None) -> Reader:
        columns = () if store is None else store.manifest.columns
        reader = open_reader(source, exclude=self.work.exclude, columns=columns)
        if store is None:
            return reader
        made = store.manifest
        if (made.source, made.kind) != (reader.source, reader.kind):
            raise InputError(
                f"{self.path!r} has vectors of the {made.kind} items of {made.source!r}, got "
                f"{reader.kind} items of {reader.source!r}. Give that source, or another --out."
            )
        if made.columns != reader.columns:
            raise InputError(
                f"{self.path!r} has vectors of the columns {', '.join(made.columns)}, got "
                f"{', '.join(reader.columns)}. Give the same columns, or another --out."
            )
        return reader

    def _encoder(self, reader: Reader, store: VectorStore | None) -> Encoder | None:
        """Check the encoder before any work; the default is chosen after the listing."""
        if store is not None:
            return encoder_of(store.manifest, self.work.encoder)
        if self.work.encoder is None:
            return None
        encoder = make_encoder(self.work.encoder)
        if isinstance(encoder, Learnt):
            encoder = encoder.recalled_at(reader.source)
        check_savable(encoder)
        if reader.kind not in encoder.kinds:
            raise InputError(
                f"Expected {' or '.join(encoder.kinds)} items for the encoder "
                f"{self.work.encoder!r}, got {reader.kind} items in {reader.source!r}. Choose "
                "another encoder."
            )
        return encoder

    def _list(self, reader: Reader, missing: Missing, todo: WorkList) -> None:
        """Write the work list, and cut it into chunks."""

        def counted() -> Iterator[Entry]:
            n_listed = 0
            for n_listed, entry in enumerate(reader.listing(), start=1):
                if n_listed % 1000 == 1:
                    self.progress("Listing", n_listed, None)
                yield entry
            self.progress("Listing", n_listed, n_listed)

        todo.fill(missing.among(counted()))
        if not missing.n_listed:
            raise SourceError(f"Expected at least 1 item in {reader.source!r}, got none.")
        todo.chunk = chunk_size(todo.n_entries)

    def _begin(
        self, reader: Reader, encoder: Encoder | None, sample: Sequence[Entry], n_listed: int
    ) -> tuple[VectorStore, Keys]:
        """Fit the encoder, create the store, and commit the vectors of the sample."""
        name = self.work.encoder
        if encoder is None:
            encoder, self.outcome.reason = default_for(reader.kind, n_listed, ready=reader.ready)
            name = encoder.name

        def progress(done: int, total: int) -> None:
            self.progress("Fitting", done, total)

        self.progress("Fitting", 0, len(sample))
        fitted = fit_on_sample(reader, encoder, sample, batch=self.work.batch, progress=progress)
        store = VectorStore.create(self.path, self._manifest(reader, str(name), fitted))
        stamps = {entry.id: entry.stamp for entry in sample}
        ids, places, marks = zip(*fitted.entries, strict=True)
        broken = [BrokenItem(b.id, stamps[b.id], b.reason) for b in fitted.broken]
        BrokenItems(self.path).add(broken)
        store.commit(store.write_fragment(ids, places, marks, fitted.X))
        self.outcome.n_added += len(fitted.entries)
        return store, np.sort([np.uint64(key_of(e.id, e.stamp)) for e in sample])

    def _manifest(self, reader: Reader, name: str, fitted: Fitted) -> Manifest:
        return Manifest(
            reader.source,
            reader.kind,
            name,
            fitted.encoder.fingerprint,
            fitted.X.shape[1],
            len(fitted.entries),
            reader.columns,
            __version__,
            datetime.now(UTC).date().isoformat(),
            fitted.outside,
            fitted.state,
        )

    def _embed_rest(self, store: VectorStore, reader: Reader, todo: WorkList, skip: Keys) -> None:
        total = todo.n_entries
        if total <= len(skip):
            return
        ray_threads = None if self.work.on == LOCAL else 1
        worker = ChunkEncoder(
            self.path, reader, todo, self.work.encoder, self.work.batch, skip, ray_threads
        )
        done = len(skip)
        self.progress("Embedding", done, total)
        committer = _Committer(store, BrokenItems(self.path))
        try:
            for chunk in self._chunks(worker, done, total):
                committer.add(chunk)
                self.outcome.n_added += chunk.n_vectors
                done += chunk.n_vectors + len(chunk.broken)
                self.progress("Embedding", done, total)
        finally:
            committer.commit()

    def _chunks(self, worker: ChunkEncoder, before: int, total: int) -> Iterator[ChunkDone]:
        n_chunks = worker.work.n_chunks
        if self.work.on == LOCAL:
            for chunk in range(n_chunks):
                shown = before

                def report(done: int, shown: int = shown) -> None:
                    self.progress("Embedding", shown + done, total)

                found = worker.embed(chunk, report)
                before += found.n_vectors + len(found.broken)
                yield found
            return
        yield from _chunks_on_ray(worker, n_chunks, self.work)

    def _tidy(self, store: VectorStore) -> None:
        """Drop old versions, and on disk also fragments that were never committed."""
        with suppress(OSError):
            store.latest().dataset.cleanup_old_versions(
                older_than=timedelta(0), delete_unverified=not is_url(self.path)
            )


def chunk_size(n_items: int) -> int:
    """Return the items per chunk: a power of two.

    >>> chunk_size(100), chunk_size(20_000), chunk_size(100_000_000)
    (64, 256, 4096)
    """
    wanted = max(MIN_CHUNK, min(ROWS, n_items // N_CHUNKS))
    return 1 << (wanted.bit_length() - 1)


def _chunks_on_ray(worker: ChunkEncoder, n_chunks: int, work: Work) -> Iterator[ChunkDone]:
    """Embed chunks by a pool of actors; each result counts once, in any order."""
    with connected(work.on) as ray:
        now = _places(ray.cluster_resources(), work.gpus)
        most = work.workers or now  # more than fit now, if machines are expected to join
        rows = mapped_rows(
            ray,
            [{"chunk": chunk} for chunk in range(n_chunks)],
            ChunkEncoder,
            worker.parameters(),
            num_cpus=0 if work.gpus else 1,
            num_gpus=work.gpus or None,
            compute=ray.data.ActorPoolStrategy(
                min_size=1, max_size=max(1, min(most, n_chunks)), max_tasks_in_flight_per_actor=2
            ),
        )
        seen: set[int] = set()
        for row in rows:
            done = done_from_row(row)
            if done.chunk not in seen:
                seen.add(done.chunk)
                yield done


def _places(resources: dict[str, float], gpus: float) -> int:
    """Return how many workers fit into a cluster now; one that never fits would wait forever."""
    if not gpus:
        return int(resources.get("CPU", 1))
    there = resources.get("GPU", 0)
    if there < gpus:
        raise InputError(
            f"Expected GPUs for a worker, but the cluster has {there:g} GPU, got workers with "
            f"{gpus:g} each. Lower --gpus, or add machines."
        )
    return int(there / gpus)


class _Committer:
    """Commits fragments every few seconds, after recording the broken items."""

    def __init__(self, store: VectorStore, records: BrokenItems) -> None:
        self.store, self.records = store, records
        self._fragments: list[str] = []
        self._broken: list[BrokenItem] = []
        self._due = monotonic() + SECONDS_BETWEEN_COMMITS

    def add(self, chunk: ChunkDone) -> None:
        self._fragments += chunk.fragments
        self._broken += chunk.broken
        if monotonic() >= self._due:
            self.commit()

    def commit(self) -> None:
        start = monotonic()
        self.records.add(self._broken)
        self.store.commit(self._fragments)
        self._fragments, self._broken = [], []
        pause = (monotonic() - start) / MAX_SHARE_OF_COMMITS
        self._due = monotonic() + max(SECONDS_BETWEEN_COMMITS, pause)
