"""Prediction: place every row of a store into the groups of an orientation file.

Rows are cut into units. Each unit reads its vectors, places them with the portable head and writes
its labels, in this process or as a batch of Ray Data. What is there already is not done again.

An orientation file also limits how much of an item its vector may miss (``outside``). A store keeps
vectors only, so this part of strangeness is not measured here: whether an item fits depends on its
distance to the reference items alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samekind import __version__
from samekind.bulk.cluster import LOCAL, check_reachable, connected
from samekind.bulk.labels import Labels, Range, create_labels, open_labels, schema
from samekind.bulk.row_stream import mapped_rows
from samekind.bulk.store_lock import locked
from samekind.bulk.vector_store import VectorStore, as_matrix
from samekind.clusterers.live.portable import PortableHead
from samekind.errors import ExportError, InputError, VectorError
from samekind.exports.orientation_file import OrientationFile
from samekind.protocols import Progress

UNIT_ROWS = 1 << 16
"""Rows that are read, placed and written at a time: 32 MiB of 128 numbers each."""


@dataclass(frozen=True)
class Predicted:
    """What a prediction did.

    Parameters
    ----------
    labels : all labels, also those of earlier runs.
    before, added : rows that were there, and rows that were placed now.
    """

    labels: Labels
    before: int
    added: int


def predict_store(
    file: OrientationFile,
    head: PortableHead,
    store: VectorStore,
    out: str | Path,
    *,
    on: str = LOCAL,
    workers: int | None = None,
    tolerance: float = 1.0,
    unit_rows: int = UNIT_ROWS,
    progress: Progress | None = None,
) -> Predicted:
    """Place all rows of a store that `out` does not have yet.

    Parameters
    ----------
    head : of the file.
    out : a folder that ends in ``.parquet`` or ``.lance``, new or to be continued.
    on : "local" for this process, or the address of a Ray cluster.
    workers : of Ray, one core each; None: as many as there are cores.
    tolerance : items up to this strangeness fit; above 1, fewer items fit no group.
    unit_rows : fewer rows take less memory, and more files.
    """
    check_encoder(file, store)
    if len(head.mean) != store.width:
        raise VectorError(
            f"Expected vectors with {len(head.mean)} numbers for the grouping "
            f"{file.orientation!r}, got {store.width} in {store.path!r}."
        )
    check_reachable(on)
    facts = facts_of(file, store, tolerance)
    labels = create_labels(out, facts)
    check_same(labels, facts)
    groups = tuple((group.number, group.name) for group in file.groups)
    placer = Placer(store.path, labels.path, head, groups, tolerance)
    with locked(labels.path):
        check_rows(labels, store)
        before, added = len(labels), 0
        units = missing_units(labels.ranges(), len(store), unit_rows)
        for start, stop in _committed(labels, _placed(placer, units, on, workers)):
            added += stop - start
            if progress is not None:
                progress(before + added, len(store))
        labels.tidy()
    return Predicted(labels, before, added)


def check_encoder(file: OrientationFile, store: VectorStore) -> None:
    """Raise unless the vectors were made by the encoder of the file, as it was fitted then."""
    made = store.manifest
    if (made.kind, made.columns) != (file.kind, file.columns):
        raise InputError(
            f"Expected {_items(file)} for the grouping {file.orientation!r}, got "
            f"{_items(made)} in {store.path!r}. Give vectors of the same kind of items."
        )
    if made.fingerprint != file.fingerprint:
        raise InputError(
            f"Expected vectors of the encoder {file.fingerprint!r} for the grouping "
            f"{file.orientation!r}, got those of {made.fingerprint!r} in {store.path!r}. Embed the "
            f"items again: samekind embed SOURCE --encoder {file.encoder}"
        )
    if _digest(made.encoder_state) != _digest(file.encoder_state):
        raise InputError(
            f"The encoder {file.encoder!r} of {store.path!r} was fitted on other items than that "
            f"of the grouping {file.orientation!r}, so its vectors differ. Answer questions "
            f"about these vectors: samekind ask {store.path}, then export that grouping."
        )


def facts_of(file: OrientationFile, store: VectorStore, tolerance: float) -> dict[str, Any]:
    """Describe how labels are made, as plain JSON."""
    groups = [[group.number, group.name] for group in file.groups]
    return {
        "orientation": file.orientation,
        "orientation_digest": _digest({**file.head_state, "groups": groups}),
        "vectors": store.path,
        "vectors_digest": hashlib.sha256(store.manifest.to_bytes()).hexdigest()[:16],
        "tolerance": tolerance,
        "outside_measured": False,
        "groups": groups,
        "samekind": __version__,
    }


def check_same(labels: Labels, facts: Mapping[str, Any]) -> None:
    """Raise unless existing labels were made in the same way."""
    for name, what in (
        ("orientation_digest", f"another version of the grouping {facts['orientation']!r}"),
        ("vectors_digest", f"other vectors than {facts['vectors']!r}"),
        ("tolerance", f"the tolerance {labels.facts['tolerance']}"),
    ):
        if labels.facts[name] != facts[name]:
            if labels.facts["orientation"] != facts["orientation"]:
                what = f"the grouping {labels.facts['orientation']!r}"
            raise ExportError(
                f"{labels.path} has labels by {what}. Choose another name with --out."
            )


def check_rows(labels: Labels, store: VectorStore) -> None:
    """Raise unless the rows of existing labels are rows of the store, by the ids at their ends."""
    ends = sorted({row for start, stop in labels.ranges() for row in (start, stop - 1)})
    if not ends:
        return
    known = ends[-1] < len(store)
    if known and labels.take(ends, ["id"]).column("id").to_pylist() == store.texts(ends):
        return
    raise ExportError(
        f"{labels.path} has labels of other rows than those of {store.path!r}: the vectors were "
        "made again since. Choose another name with --out."
    )


def missing_units(done: Sequence[Range], n: int, unit_rows: int) -> list[Range]:
    """Cut the rows that are not done, of `n`, into units at multiples of their size.

    >>> missing_units([(0, 4), (8, 10)], 15, 4)
    [(4, 8), (10, 12), (12, 15)]
    """
    units: list[Range] = []
    start = 0
    for begin, end in (*done, (n, n)):
        while start < begin:
            stop = min(begin, (start // unit_rows + 1) * unit_rows)
            units.append((start, stop))
            start = stop
        start = max(start, end)
    return units


@dataclass
class Placer:
    """Places units of rows.

    Parameters
    ----------
    store, labels : addresses that every worker can reach.
    groups : number and name of the groups, in the order of the head.
    """

    store: str
    labels: str
    head: PortableHead
    groups: tuple[tuple[int, str], ...]
    tolerance: float

    def __post_init__(self) -> None:
        self._opened: tuple[VectorStore, Labels] | None = None

    def place(self, start: int, stop: int) -> str:
        """Place one unit; returns what the labels need to commit it."""
        if self._opened is None:
            self._opened = VectorStore.open(self.store), open_labels(self.labels)
        store, labels = self._opened
        return labels.write(start, self.table(store, start, stop))

    def table(self, store: VectorStore, start: int, stop: int) -> Any:
        """Return the labels of some rows."""
        import pyarrow as pa

        rows = store.dataset.to_table(columns=["id", "vector"], offset=start, limit=stop - start)
        placing = self.head.predict(as_matrix(rows.column("vector"), store.width))
        own = placing.strengths.argmax(axis=1)
        strange = self.head.strangeness(placing)
        numbers = np.array([number for number, _ in self.groups], dtype=np.int32)
        names = pa.array([name for _, name in self.groups], pa.string())
        columns = [
            pa.array(np.arange(start, stop, dtype=np.int64)),
            rows.column("id"),
            pa.array(numbers[own]),
            names.take(pa.array(own)),
            pa.array(placing.strengths.max(axis=1).astype(np.float32)),
            pa.array(strange <= self.tolerance),
            pa.array(strange.astype(np.float32)),
            pa.array(placing.distances.astype(np.float32)),
        ]
        return pa.table(columns, schema=schema())


class Worker:
    """A process of Ray Data that places units."""

    def __init__(self, placer: Placer) -> None:
        self._placer = placer

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Place the units of a batch: columns ``start`` and ``stop``, and then ``written``."""
        units = zip(batch["start"].tolist(), batch["stop"].tolist(), strict=True)
        written = [self._placer.place(start, stop) for start, stop in units]
        return {**batch, "written": np.array(written, dtype=object)}


def _placed(
    placer: Placer, units: Sequence[Range], on: str, workers: int | None
) -> Iterator[tuple[int, int, str]]:
    """Place units here or on a cluster; those of a cluster come in any order."""
    if on == LOCAL or not units:
        for start, stop in units:
            yield start, stop, placer.place(start, stop)
        return
    with connected(on) as ray:
        rows = [{"start": start, "stop": stop} for start, stop in units]
        most = min(workers or int(ray.cluster_resources().get("CPU", 1)), len(units))
        options = {"num_cpus": 1, "compute": ray.data.ActorPoolStrategy(size=most)}
        for row in mapped_rows(ray, rows, Worker, {"placer": placer}, **options):
            yield int(row["start"]), int(row["stop"]), str(row["written"])


def _committed(labels: Labels, placed: Iterator[tuple[int, int, str]]) -> Iterator[Range]:
    """Commit each unit once, as they come or in the order of their rows as the labels need it."""
    waiting: dict[int, tuple[int, str]] = {}
    seen: set[int] = set()
    following = len(labels) if labels.in_order else -1
    for start, stop, written in placed:
        if start in seen:  # Ray may repeat what a lost node had done
            continue
        seen.add(start)
        if not labels.in_order:
            labels.commit(start, written)
            yield start, stop
            continue
        waiting[start] = stop, written
        while following in waiting:
            end, fragments = waiting.pop(following)
            labels.commit(following, fragments)
            yield following, end
            following = end


def _digest(state: Mapping[str, Any]) -> str:
    """A hash of arrays and plain JSON values by name."""
    digest = hashlib.sha256()
    for name in sorted(state):
        value = state[name]
        if hasattr(value, "dtype"):
            array = np.ascontiguousarray(value)
            digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(array.tobytes())
        else:
            digest.update(f"{name} {json.dumps(value, sort_keys=True)}\n".encode())
    return digest.hexdigest()[:16]


def _items(made: Any) -> str:
    """The kind of items in words, with the columns of a table."""
    columns = f" with the columns {', '.join(made.columns)}" if made.columns else ""
    return f"{made.kind} items{columns}"
