"""Readers: list the items of a source without loading them, then load some of them in bulk.

One file per format in ``formats/``. A reader can be pickled and sent to other machines, which
must see the source under the same path or URL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from samekind.bulk.files import exists, expand, is_folder, is_url, suffix_of, walk
from samekind.errors import SourceError
from samekind.items import Item, Skipped
from samekind.sources import SUFFIXES_OF_KINDS, is_set

N_LOOKED_AT = 10_000
"""Files of a folder that decide what the folder holds."""
TABLES = (".csv", ".tsv", ".txt", ".npz")
"""Files that are read as a whole; larger piles belong into Parquet."""
COMPRESSED = (".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip")


class Entry(NamedTuple):
    """An item that was listed but not loaded: its id, where it is read from, and its stamp."""

    id: str
    place: str
    stamp: str


class Reader(Protocol):
    """A source whose items are listed first and loaded later, perhaps elsewhere.

    ``kind`` is that of the items, ``columns`` names the numbers of a table's rows, and ``ready``
    says whether rows are vectors to compare unchanged. ``lazy``: :meth:`items` loads no content,
    which is read when an item is used. ``run``: so many items in a row are read at little more
    than the cost of one (a row group, an archive).
    """

    @property
    def source(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def ready(self) -> bool: ...
    @property
    def lazy(self) -> bool: ...
    @property
    def run(self) -> int: ...

    def listing(self) -> Iterator[Entry]:
        """Iterate over all items in a fixed order; no content is loaded."""
        ...

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        """Load some items, in their order; one that cannot be used is `Skipped`."""
        ...

    def item(self, id: str, place: str) -> Item:
        """Return one item, for a preview; raises :class:`SourceError` if it cannot be used."""
        ...


def open_reader(source: str, *, exclude: Sequence[str] = (), columns: Sequence[str] = ()) -> Reader:
    """Open a source for reading in bulk.

    Parameters
    ----------
    source : a folder of pictures or texts, of Parquet shards or of tar archives; one such file; a
        table; an array of vectors (.npy); a pattern such as ``shards/*.tar``; or a named set.
        Paths may be URLs that fsspec knows, such as ``s3://bucket/photos``.
    exclude : columns of a table that are labels: they are neither compared nor shown.
    columns : of the numbers of a table's rows, if they are known already (from a manifest), so that
        the table is not searched for them again.
    """
    if is_set(source):
        from samekind.bulk.formats.collections import CollectionReader

        return CollectionReader(source, tuple(exclude))
    place = expand(source)
    if "*" in place:
        return _open_shards(place, None, exclude, columns)
    if not exists(place):
        raise SourceError(
            f"There is no file or folder {source!r}. Give an existing path, a URL that fsspec "
            "knows, or the name of a set."
        )
    if is_folder(place):
        return _open_folder(place, exclude, columns)
    return _open_file(place, exclude, columns)


def item_of(reader: Reader, entry: Entry) -> Item:
    """Return one item; an item that cannot be used is an error."""
    (found,) = reader.items([entry])
    if isinstance(found, Skipped):
        raise SourceError(f"{found.id!r} {found.reason}")
    return found


def _open_folder(place: str, exclude: Sequence[str], columns: Sequence[str]) -> Reader:
    suffix = _most_frequent(f.suffix for f in islice(walk(place), N_LOOKED_AT) if f.suffix)
    if not suffix:
        raise SourceError(
            f"Expected pictures, texts, Parquet files or tar archives in {place!r}, got none."
        )
    if suffix in (".parquet", ".tar"):
        return _open_shards(place, suffix, exclude, columns)
    from samekind.bulk.formats.folders import FolderReader

    kind = next(kind for kind, suffixes in SUFFIXES_OF_KINDS.items() if suffix in suffixes)
    return FolderReader(place, kind)


def _most_frequent(suffixes: Iterable[str]) -> str:
    """Return a suffix of the format that most files have; pictures win a tie."""
    counts = Counter(suffixes)
    formats = [*SUFFIXES_OF_KINDS.values(), (".parquet",), (".tar",)]
    best = max(formats, key=lambda known: sum(counts[suffix] for suffix in known))
    return max(best, key=lambda suffix: counts[suffix]) if any(counts[s] for s in best) else ""


def _open_shards(
    place: str, suffix: str | None, exclude: Sequence[str], columns: Sequence[str]
) -> Reader:
    """Open the shards of a folder, or those that fit a pattern."""
    shards = [f for f in walk(place) if suffix is None or f.suffix == suffix]
    found = {shard.suffix for shard in shards}
    if len(found) != 1 or not found <= {".parquet", ".tar"}:
        raise SourceError(
            f"Expected .parquet files or .tar files at {place!r}, got "
            f"{', '.join(sorted(found)) or 'nothing'}. Give a folder or pattern of one of them."
        )
    if found == {".tar"}:
        from samekind.bulk.formats.archives import TarReader

        return TarReader.of(place, shards)
    from samekind.bulk.formats.parquet import open_parquet_shards

    return open_parquet_shards(place, shards, exclude, columns)


def _open_file(place: str, exclude: Sequence[str], columns: Sequence[str]) -> Reader:
    suffix = suffix_of(place)
    if suffix in (".parquet", ".tar"):
        return _open_shards(place, suffix, exclude, columns)
    if suffix == ".npy":
        from samekind.bulk.formats.arrays import ArrayReader

        return ArrayReader.at(place)
    if suffix in TABLES and not is_url(place):
        from samekind.bulk.formats.collections import CollectionReader

        return CollectionReader(place, tuple(exclude))
    if suffix in TABLES:
        raise SourceError(
            f"Expected a local file for a {suffix} table, got {place!r}. Copy it to disk, or write "
            "it as Parquet."
        )
    hint = " Unpack it first." if suffix in COMPRESSED else ""
    raise SourceError(
        f"Expected a folder, a .parquet, .tar, .npy or {', '.join(TABLES)} file, got {place!r}."
        f"{hint}"
    )
