"""Sources: open a path or a named set as a collection of items.

The only module that other parts import. ``files/`` reads a person's own data, one file per format;
``sets/`` has the named sets of the benchmark, whose true kinds are known. A new format is one file
and one line in `FILE_READERS` or `FOLDER_READERS`; a new set is a function and one line in `SETS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from samekind.errors import SourceError
from samekind.items import Collection, Skipped
from samekind.protocols import Progress
from samekind.sources.files.archives import check_unpacked_size, read_array, read_member
from samekind.sources.files.arrays import vectors_collection
from samekind.sources.files.bursts import collapse
from samekind.sources.files.columns import MAX_CATEGORIES
from samekind.sources.files.folders import natural
from samekind.sources.files.images import ImageItem
from samekind.sources.files.loose import SUFFIXES_OF_KINDS, item_of_bytes, walk_folder
from samekind.sources.files.rows import RowCollection, RowItem, Rows, show
from samekind.sources.memory import open_data, open_like, saved_item, saved_picture
from samekind.sources.sets.cifar import CIFAR_SETS, PictureSet, class_maps, open_cifar
from samekind.sources.sets.labelled import LabelledSet, label_texts, open_labelled
from samekind.sources.sets.named import SETS, WITHIN, open_set
from samekind.user_paths import expanded

__all__ = [
    "CIFAR_SETS",
    "MAX_CATEGORIES",
    "SETS",
    "STORE_SUFFIX",
    "SUFFIXES_OF_KINDS",
    "ImageItem",
    "LabelledSet",
    "PictureSet",
    "RowCollection",
    "RowItem",
    "Rows",
    "check_unpacked_size",
    "class_maps",
    "collapse",
    "describe",
    "is_set",
    "is_vector_store",
    "item_of_bytes",
    "label_texts",
    "natural",
    "open_cifar",
    "open_data",
    "open_labelled",
    "open_like",
    "open_set",
    "open_source",
    "openable_suffixes",
    "read_array",
    "read_member",
    "saved_item",
    "saved_picture",
    "show",
    "vectors_collection",
    "walk_folder",
]

STORE_SUFFIX = ".lance"
FOLDER_READERS = {
    "folder of images": (
        "samekind.sources.files.images",
        "jpg, png, webp, heic, avif, gif, tiff and raw files at any depth; the id is the path",
    ),
    "folder of texts": (
        "samekind.sources.files.texts",
        "txt and md files at any depth; the id is the path",
    ),
}
"""Modules with ``SUFFIXES`` and ``collect(folder, files, skipped)``; ties go to the first."""
FILE_READERS = {
    ".txt": ("texts:open_lines", "one text per line"),
    ".csv": ("delimited:open_csv", "one row per item; a unique column 'id' names the items"),
    ".tsv": ("delimited:open_csv", "the same, separated by tabs"),
    ".parquet": (
        "parquet:open_parquet",
        "pictures in a column 'image', or one row per item (needs pyarrow)",
    ),
    ".npy": ("arrays:open_npy", "ready vectors, one row per item"),
    ".npz": (
        "arrays:open_npz",
        "ready vectors in an array 'X'; other arrays of that length are label columns",
    ),
    ".edges": ("graphs:open_edges", "a graph: one edge per line, two names and perhaps a weight"),
    ".gml": ("graphs:open_graph", "a graph; attributes of its nodes are label columns"),
    ".graphml": ("graphs:open_graph", "the same"),
}
"""By suffix: a function ``(path, exclude) -> Collection`` of ``files/``, and a description."""


def describe() -> dict[str, str]:
    """One line for each set and each kind of path that can be opened."""
    sets = {name: (make.__doc__ or "").splitlines()[0] for name, make in SETS.items()}
    paths = {**FOLDER_READERS, **FILE_READERS}
    return sets | {name: words for name, (_, words) in paths.items()}


def openable_suffixes() -> tuple[str, ...]:
    """Suffixes of files that hold many items, so that they are opened by themselves."""
    return tuple(FILE_READERS)


def is_vector_store(source: str | Path) -> bool:
    """Whether a path or URL is named like a store of vectors, which :mod:`samekind.bulk` opens.

    >>> is_vector_store("photos.lance"), is_vector_store("photos.npy")
    (True, False)
    """
    return str(source).rstrip("/").endswith(STORE_SUFFIX)


def is_set(source: str) -> bool:
    """Whether a text means a set rather than a path.

    Sets that do not ship with the package give way to a folder or file of the same name, such as
    ``cards``.
    """
    return source in WITHIN or (source in SETS and not Path(source).exists())


def open_source(
    source: Any,
    *,
    exclude: Sequence[str] = (),
    seed: int = 0,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Collection:
    """Open a folder, a table, an array file or a named set, or data in memory.

    Parameters
    ----------
    source : a path, or the name of a set. A folder with the name of a set of the package is opened
        by ``./tiles`` or as a ``Path``; the other sets give way to it. Or anything that
        :func:`~samekind.sources.memory.open_data` takes: an array, a DataFrame, texts, pictures.
    exclude : columns of a table that are labels: they are neither compared nor shown.
    seed : determines sets that are drawn.
    cache : folder in which the listing of a large folder is kept, so that opening it again is
        quick. Changed files are noticed all the same. None: nothing is kept.
    progress : called with (files looked at, total) if a folder takes more than a second; the total
        is 0 while it is not known.

    Raises
    ------
    SourceError
        If nothing is there, or nothing that can be used; says what was found.
    """
    if not isinstance(source, str | Path):
        return open_data(source)
    if isinstance(source, str) and is_set(source):
        return open_set(source, seed=seed).collection
    path = expanded(source)
    try:
        if path.is_dir():
            collection = _open_folder(path, cache, progress)
        elif path.is_file():
            collection = _open_file(path, exclude)
        else:
            raise SourceError(
                f"There is no file or folder {str(source)!r}. "
                "Give an existing path, or the name of a set such as digits or tiles; "
                "'samekind list' shows all."
            )
    except OSError as error:
        raise SourceError(f"{str(source)!r} cannot be read: {error.strerror or error}.") from error
    if not len(collection):
        raise SourceError(_nothing_usable(path, collection.skipped))
    return collection


def _open_folder(path: Path, cache: Path | None, progress: Progress | None) -> Collection:
    """Read the kind of file that the folder has most of."""
    from samekind.sources.files.folders import open_listed

    def choose(found: Sequence[Any]) -> Any:
        suffixes = Counter(file.suffix for file in found)
        readers: list[Any] = [import_module(module) for module, _ in FOLDER_READERS.values()]
        return max(readers, key=lambda reader: sum(suffixes[suffix] for suffix in reader.SUFFIXES))

    return open_listed(path, choose, cache=cache, report=progress)


def _open_file(path: Path, exclude: Sequence[str]) -> Collection:
    """Read one file by its suffix."""
    suffix = path.suffix.lower()
    if suffix not in FILE_READERS:
        raise SourceError(
            f"Expected a folder or a {', '.join(FILE_READERS)} file, got {str(path)!r} with the "
            f"suffix {suffix or '(none)'!r}."
        )
    module, _, function = FILE_READERS[suffix][0].partition(":")
    reader = getattr(import_module(f"samekind.sources.files.{module}"), function)
    collection: Collection = reader(path, exclude)
    return collection


def _nothing_usable(path: Path, skipped: Sequence[Skipped]) -> str:
    """The message for a source without items."""
    what = "folder" if path.is_dir() else "file"
    if not skipped:
        return f"The {what} {str(path)!r} is empty. Put pictures or texts into it."
    reasons = "; ".join(f"{file.id!r} {file.reason}" for file in skipped[:3])
    more = f"; and {len(skipped) - 3} more" if len(skipped) > 3 else ""
    return f"Nothing in the {what} {str(path)!r} can be used: {reasons}{more}."
