"""Labels: the group of every row of a store, as Parquet parts in a folder or as a Lance dataset.

Any process may write rows; only the process that started the work commits them. So a killed run
leaves complete parts, and the next one continues with the rows that are missing.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import draft_name
from samekind.bulk.files import is_url
from samekind.bulk.manifest import FOLDER
from samekind.bulk.vector_store import lance
from samekind.errors import ExportError, InputError, SourceError
from samekind.user_paths import expanded

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT, VERSION = "samekind-labels", 1
FACTS = f"{FOLDER}/labels.json"
SUFFIXES = (".parquet", ".lance")
PART = re.compile(r"part-(\d{12})-(\d{12})\.parquet")
Rows = NDArray[np.int64]
Facts = Mapping[str, Any]
"""How labels were made, as plain JSON: see ``facts_of`` in ``prediction.py``."""
Range = tuple[int, int]
"""Rows from the first up to, and without, the second."""


@dataclass(frozen=True, eq=False)
class Labels(ABC):
    """The labels of a store's rows, in their order.

    Columns: ``row``, ``id``, ``group``, ``name``, ``confidence`` (0 to 1), ``fits``,
    ``strangeness`` (above 1 an item is unlike its group) and ``distance`` (to the nearest reference
    item, which strangeness divides by the limit of the group).

    Parameters
    ----------
    path : a folder, or a URL that fsspec knows, that ends in ``.parquet`` or ``.lance``.
    facts : how they were made.
    """

    path: str
    facts: Facts

    @abstractmethod
    def ranges(self) -> list[Range]:
        """The rows that are there, ascending, neighbouring ranges joined."""

    @abstractmethod
    def write(self, start: int, table: pa.Table) -> str:
        """Write the rows from `start` on; returns what :meth:`commit` needs."""

    @abstractmethod
    def commit(self, start: int, written: str) -> None:
        """Add written rows."""

    @abstractmethod
    def scan(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Iterate over all rows in order."""

    @abstractmethod
    def take(self, rows: Sequence[int] | Rows, columns: Sequence[str]) -> pa.Table:
        """Return some rows, in the given order."""

    in_order = False
    """Whether rows must be committed in their order."""

    @abstractmethod
    def tidy(self) -> None:
        """Remove what interrupted runs have left; nobody else may be writing."""

    def __len__(self) -> int:
        return sum(stop - start for start, stop in self.ranges())

    def sizes(self) -> dict[int, int]:
        """Count the items that fit each group, by its number; 0 counts those that fit none."""
        import pyarrow.compute as pc

        found: Counter[int] = Counter()
        for batch in self.scan(("group", "fits")):
            group = pc.if_else(batch.column("fits"), batch.column("group"), 0)
            for cell in pc.value_counts(group).to_pylist():
                found[cell["values"]] += cell["counts"]
        return dict(sorted(found.items()))

    def names(self) -> dict[int, str]:
        """The names of the groups by their numbers."""
        return {int(number): str(name) for number, name in self.facts["groups"]}


class ParquetLabels(Labels):
    """One Parquet file per range of rows; its name says which rows it has."""

    def parts(self) -> list[tuple[int, int, str]]:
        """The first row, the end and the address of each part, ascending."""
        files, folder = _filesystem(self.path)
        found = []
        for name in files.ls(folder, detail=False):
            if match := PART.fullmatch(name.rstrip("/").rpartition("/")[2]):
                found.append((int(match[1]), int(match[2]), name))
        found.sort()
        for (_, end, first), (start, _, second) in pairwise(found):
            if start < end:
                raise SourceError(
                    f"{first} and {second} hold the same rows: two programs wrote at once. "
                    "Delete one of them, then run the command again."
                )
        return found

    def ranges(self) -> list[Range]:
        return _joined((start, stop) for start, stop, _ in self.parts())

    def write(self, start: int, table: pa.Table) -> str:
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, compression="zstd")
        name = f"part-{start:012d}-{start + table.num_rows:012d}.parquet"
        _put(f"{self.path}/{name}", buffer.getvalue())
        return name

    def commit(self, start: int, written: str) -> None:
        """Do nothing: a part counts as soon as it has its name."""

    def tidy(self) -> None:
        for draft in [] if is_url(self.path) else Path(self.path).glob(".part-*.part"):
            draft.unlink(missing_ok=True)

    def scan(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for _, _, name in self.parts():
            yield from self._part(name, columns).to_batches()

    def take(self, rows: Sequence[int] | Rows, columns: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        wanted = np.asarray(rows, dtype=np.int64)
        parts = self.parts()
        starts = np.array([start for start, _, _ in parts], dtype=np.int64)
        of_part = np.searchsorted(starts, wanted, side="right") - 1
        pieces, places = [], []
        for number in np.unique(of_part).tolist():
            mine = np.flatnonzero(of_part == number)
            start, stop, name = parts[number]
            if number < 0 or (wanted[mine] >= stop).any():
                raise InputError(f"Expected rows that {self.path!r} has, got {wanted[mine][-1]}.")
            pieces.append(self._part(name, columns).take(wanted[mine] - start))
            places.append(mine)
        if not pieces:
            return schema().empty_table().select(list(columns))
        return pa.concat_tables(pieces).take(np.argsort(np.concatenate(places)))

    def _part(self, name: str, columns: Sequence[str]) -> pa.Table:
        import pyarrow.parquet as pq

        files, _ = _filesystem(self.path)
        with files.open(name, "rb") as file:
            # Threads of pyarrow that still hold a Python file would abort the process at its end.
            part = pq.ParquetFile(file, pre_buffer=False)
            return part.read(columns=list(columns), use_threads=False)


class LanceLabels(Labels):
    """A Lance dataset; rows are appended in their order."""

    in_order = True

    @property
    def dataset(self) -> Any:
        """The dataset as it is now."""
        return lance().dataset(self.path)

    def ranges(self) -> list[Range]:
        n = int(self.dataset.count_rows())
        return [(0, n)] if n else []

    def write(self, start: int, table: pa.Table) -> str:
        from lance.fragment import write_fragments

        return json.dumps([part.to_json() for part in write_fragments(table, self.path)])

    def commit(self, start: int, written: str) -> None:
        dataset = self.dataset
        if dataset.count_rows() != start:
            raise ExportError(
                f"Expected {start} rows in {self.path!r}, got {dataset.count_rows()}: another "
                "program writes there. Wait until it ends, then run the command again."
            )
        kind = lance().FragmentMetadata
        fragments = [kind.from_json(json.dumps(part)) for part in json.loads(written)]
        operation = lance().LanceOperation.Append(fragments)
        lance().LanceDataset.commit(self.path, operation, read_version=dataset.version)

    def tidy(self) -> None:
        # Drop old versions, and on disk also fragments that were never committed.
        with suppress(OSError):
            self.dataset.cleanup_old_versions(
                older_than=timedelta(0), delete_unverified=not is_url(self.path)
            )

    def scan(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        scanner = self.dataset.scanner(
            columns=list(columns), scan_in_order=True, batch_size=1 << 16
        )
        yield from scanner.to_batches()

    def take(self, rows: Sequence[int] | Rows, columns: Sequence[str]) -> pa.Table:
        wanted = np.asarray(rows, dtype=np.int64).tolist()
        if wanted and not 0 <= min(wanted) <= max(wanted) < len(self):
            raise InputError(f"Expected rows that {self.path!r} has, got {max(wanted)}.")
        return self.dataset.take(wanted, columns=list(columns))


def open_labels(path: str | Path) -> Labels:
    """Open the labels that a prediction wrote."""
    place = address(path)
    facts = _facts(place)
    if facts is None:
        raise SourceError(
            f"There are no labels at {place!r}. Make them: samekind predict FILE.orientation "
            f"VECTORS.lance --out {place}"
        )
    return _kind(place)(place, facts)


def create_labels(path: str | Path, facts: Facts) -> Labels:
    """Begin labels; returns those that are there with the facts by which they were made."""
    place = address(path)
    found = _facts(place)
    if found is None:
        files, folder = _filesystem(place)
        if files.exists(folder) and (files.isfile(folder) or files.ls(folder)):
            raise ExportError(
                f"{place} exists already and has no labels of samekind. Choose another name."
            )
        whole = {"format": FORMAT, "version": VERSION, **facts}
        _put(f"{place}/{FACTS}", json.dumps(whole, indent=1, ensure_ascii=False).encode())
        found = whole
    labels = _kind(place)(place, found)
    if isinstance(labels, LanceLabels):
        _create_dataset(place)
    return labels


def schema() -> pa.Schema:
    """Return the columns of labels."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("row", pa.int64(), nullable=False),
            pa.field("id", pa.string(), nullable=False),
            pa.field("group", pa.int32(), nullable=False),
            pa.field("name", pa.string(), nullable=False),
            pa.field("confidence", pa.float32(), nullable=False),
            pa.field("fits", pa.bool_(), nullable=False),
            pa.field("strangeness", pa.float32(), nullable=False),
            pa.field("distance", pa.float32(), nullable=False),
        ]
    )


def address(path: str | Path) -> str:
    """Return an absolute path, or a URL; other names than labels have are an error."""
    place = str(path).rstrip("/")
    if not place.endswith(SUFFIXES):
        raise InputError(
            f"Expected a name for the labels that ends in .parquet or .lance, got {place!r}."
        )
    return place if is_url(place) else str(expanded(place).absolute())


def _kind(place: str) -> type[Labels]:
    return LanceLabels if place.endswith(".lance") else ParquetLabels


def _create_dataset(place: str) -> None:
    try:
        lance().dataset(place)
    except (ValueError, OSError):  # not there yet
        lance().write_dataset(schema().empty_table(), place, schema=schema())


def _joined(ranges: Any) -> list[Range]:
    found: list[Range] = []
    for start, stop in ranges:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found


def _facts(place: str) -> dict[str, Any] | None:
    files, path = _filesystem(f"{place}/{FACTS}")
    try:
        facts = json.loads(files.cat_file(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise SourceError(f"{place}/{FACTS} is damaged ({error}). Predict again.") from error
    if facts.get("format") != FORMAT or int(facts.get("version", 0)) > VERSION:
        raise SourceError(
            f"{place} was written by samekind {facts.get('samekind', '?')}. "
            "Run: pip install --upgrade samekind"
        )
    return dict(facts)


def _filesystem(place: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    lance()  # the same extra has both
    from fsspec.core import url_to_fs

    files, path = url_to_fs(place)
    files.invalidate_cache()
    return files, str(path)


def _put(place: str, data: Any) -> None:
    """Write a file that appears complete or not at all; one of the same name is replaced."""
    files, path = _filesystem(place)
    files.makedirs(path.rpartition("/")[0], exist_ok=True)
    if is_url(place):  # object stores put whole files
        files.pipe_file(path, bytes(data))
        return
    draft = draft_name(Path(path))
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
