"""VectorStore: the vectors of a pile in a Lance dataset, read by row and appended in fragments."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.manifest import FOLDER, Manifest
from samekind.errors import InputError, MissingExtra, SourceError
from samekind.sources import STORE_SUFFIX, is_vector_store
from samekind.user_paths import expanded

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = f"{FOLDER}/manifest.safetensors"
TEXTS = ("id", "place", "stamp")
"""Text columns of a store: the id of an item, where it is read from, and a mark of its content."""
Floats = NDArray[np.float32]


def key_of(id: str, stamp: str) -> int:
    """Return 64 bits that stand for an item in a certain state.

    >>> key_of("a.jpg", "1") == key_of("a.jpg", "1"), key_of("a.jpg", "1") == key_of("a.jpg", "2")
    (True, False)
    """
    digest = hashlib.blake2b(f"{id}\0{stamp}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@dataclass(frozen=True, eq=False)
class VectorStore:
    """Vectors on disk or in an object store; the rows keep their numbers, new ones are appended.

    Columns: ``id``, ``place``, ``stamp`` (texts), ``key`` (:func:`key_of`), ``vector`` (32-bit).

    Parameters
    ----------
    path : a folder that ends in ``.lance``, or a URL that fsspec and Lance know.
    manifest : how the vectors were made.
    """

    path: str
    manifest: Manifest

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> VectorStore:
        """Begin an empty store; an existing one, or any other dataset there, is an error."""
        place = store_path(path)
        if _exists(place):
            raise InputError(f"{place!r} exists already. Choose another name, or continue it.")
        schema = schema_of(manifest.width)
        try:
            lance().write_dataset(schema.empty_table(), place, schema=schema)
        except (OSError, ValueError) as problem:
            if not _is_unfinished(place, schema):
                raise InputError(
                    f"{place!r} exists already and holds no vectors of samekind, or cannot be "
                    "written. Nothing was changed. Choose another name."
                ) from problem
            lance().write_dataset(schema.empty_table(), place, schema=schema, mode="overwrite")
        _write(f"{place}/{MANIFEST}", manifest.to_bytes())  # from now on the store exists
        return cls(place, manifest)

    @classmethod
    def open(cls, path: str | Path) -> VectorStore:
        """Open an existing store."""
        place = store_path(path)
        if not _exists(place):
            raise SourceError(
                f"There are no vectors at {place!r}. Make them: samekind embed SOURCE --out {place}"
            )
        store = cls(place, Manifest.from_bytes(_read(f"{place}/{MANIFEST}"), place))
        assert store.dataset is not None
        return store

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Whether there is a store at a path or URL."""
        return _exists(store_path(path))

    @cached_property
    def dataset(self) -> Any:
        """The Lance dataset as it was when first used; :meth:`latest` sees later rows."""
        try:
            return lance().dataset(self.path)
        except (ValueError, OSError) as error:
            raise SourceError(f"The vectors {self.path!r} cannot be read ({error}).") from error

    def latest(self) -> VectorStore:
        """Return the store with the rows that others have added since."""
        return VectorStore(self.path, self.manifest)

    def __len__(self) -> int:
        return int(self.dataset.count_rows())

    @property
    def width(self) -> int:
        """Numbers per vector."""
        return self.manifest.width

    def texts(self, rows: Any, column: str = "id") -> list[str]:
        """Return the ids (or places, or stamps) of some rows, in their order."""
        found: list[str] = self._take(rows, column).to_pylist()
        return found

    def vectors(self, rows: Any) -> Floats:
        """(m, width) the vectors of some rows, in their order."""
        return as_matrix(self._take(rows, "vector"), self.width)

    def batches(
        self, columns: Sequence[str] = ("vector",), *, rows: int = 8192, start: int = 0
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Iterate over all rows in order, with the number of the first row of each batch."""
        scanner = self.dataset.scanner(
            columns=list(columns), batch_size=rows, scan_in_order=True, offset=start or None
        )
        for batch in scanner.to_batches():
            yield start, batch
            start += batch.num_rows

    def keys(self) -> NDArray[np.uint64]:
        """All keys, sorted: what has been embedded."""
        parts = [
            batch.column("key").to_numpy() for _, batch in self.batches(("key",), rows=1 << 16)
        ]
        found = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
        return np.sort(found)

    def write_fragment(
        self, ids: Sequence[str], places: Sequence[str], stamps: Sequence[str], vectors: Floats
    ) -> list[str]:
        """Write rows that count only once :meth:`commit` was called with what this returns.

        Any process on any machine may write; only one commits.
        """
        import json

        from lance.fragment import write_fragments

        table = table_of(ids, places, stamps, vectors)
        return [json.dumps(part.to_json()) for part in write_fragments(table, self.path)]

    def commit(self, fragments: Sequence[str]) -> None:
        """Append written fragments, all or none."""
        import json

        if not fragments:
            return
        found = [lance().FragmentMetadata.from_json(json.dumps(json.loads(f))) for f in fragments]
        dataset = lance().dataset(self.path)
        operation = lance().LanceOperation.Append(found)
        lance().LanceDataset.commit(self.path, operation, read_version=dataset.version)
        self.__dict__.pop("dataset", None)

    def _take(self, rows: Any, column: str) -> Any:
        wanted = np.asarray(rows, dtype=np.int64)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= len(self)):
            raise InputError(
                f"Expected rows from 0 to {len(self) - 1}, got {wanted.min()} to {wanted.max()}."
            )
        return self.dataset.take(wanted.tolist(), columns=[column]).column(column)


def schema_of(width: int) -> pa.Schema:
    """Return the columns of a store."""
    import pyarrow as pa

    texts = [pa.field(name, pa.string(), nullable=False) for name in TEXTS]
    vector = pa.list_(pa.float32(), width)
    return pa.schema([*texts, pa.field("key", pa.uint64()), pa.field("vector", vector)])


def table_of(
    ids: Sequence[str], places: Sequence[str], stamps: Sequence[str], vectors: Floats
) -> pa.Table:
    """Return rows in the schema of a store."""
    import pyarrow as pa

    if not len(ids) == len(places) == len(stamps) == len(vectors):
        raise InputError(
            f"Expected as many ids, places and stamps as vectors, got {len(ids)}, {len(places)}, "
            f"{len(stamps)} and {len(vectors)}."
        )
    keys = pa.array([key_of(*pair) for pair in zip(ids, stamps, strict=True)], pa.uint64())
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    vector = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    columns = [pa.array(texts, pa.string()) for texts in (ids, places, stamps)]
    return pa.table([*columns, keys, vector], schema=schema_of(vectors.shape[1]))


def as_matrix(column: Any, width: int) -> Floats:
    """Return a column of vectors as a matrix."""
    import pyarrow as pa

    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    found = [part.flatten().to_numpy(zero_copy_only=False).reshape(-1, width) for part in parts]
    if not found:
        return np.empty((0, width), dtype=np.float32)
    return found[0] if len(found) == 1 else np.concatenate(found)


def lance() -> Any:
    """Return the package that stores vectors, or say what to install."""
    try:
        import lance as package
    except ImportError as missing:
        raise MissingExtra("A store of vectors (.lance)", "cluster") from missing
    return package


def store_path(path: str | Path) -> str:
    """Return the path or URL of a store, independent of the current folder."""
    place = str(path).rstrip("/")
    if not is_vector_store(place):
        raise InputError(f"Expected a name that ends in {STORE_SUFFIX}, got {place!r}.")
    return place if "://" in place else str(expanded(place).absolute())


def _exists(place: str) -> bool:
    lance()  # without the extra, say so before anything of it is used
    from fsspec.core import url_to_fs

    files, path = url_to_fs(f"{place}/{MANIFEST}")
    return bool(files.exists(path))


def _is_unfinished(place: str, schema: Any) -> bool:
    """Whether a dataset is ours and empty: a process was killed before it wrote the manifest."""
    try:
        found = lance().dataset(place)
        return bool(found.schema.names == schema.names and found.count_rows() == 0)
    except (OSError, ValueError):
        return False


def _write(place: str, data: bytes) -> None:
    from fsspec.core import url_to_fs

    files, path = url_to_fs(place)
    files.makedirs(path.rpartition("/")[0], exist_ok=True)
    draft = path if "://" in place else f"{path}.part"  # object stores write all or nothing
    files.pipe_file(draft, data)
    if draft != path:
        os.replace(draft, path)


def _read(place: str) -> bytes:
    from fsspec.core import url_to_fs

    files, path = url_to_fs(place)
    data: bytes = files.cat_file(path)
    return data
