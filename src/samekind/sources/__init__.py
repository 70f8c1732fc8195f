"""Sources: from a path or a name to the items that a person sorts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from samekind.errors import SourceError
from samekind.items import Collection, Skipped
from samekind.sources.sets.labelled import LabelledSet, open_labelled
from samekind.sources.sets.named import SETS, is_set, open_set

__all__ = ["SETS", "LabelledSet", "describe", "is_set", "open_labelled", "open_set", "open_source"]

_PATHS = {
    "folder of images": "jpg, png and webp files at any depth; the id is the path",
    "folder of texts": "txt and md files at any depth; the id is the path",
    ".txt": "one text per line",
    ".csv": "one row per item (also .tsv); a unique column 'id' names the items",
    ".parquet": "pictures in a column 'image', or one row per item (needs pyarrow)",
    ".npy": "ready vectors, one row per item",
    ".npz": "ready vectors in an array 'X'; other arrays of that length are label columns",
}
"""What a path may lead to, and how it is read."""


def describe() -> dict[str, str]:
    """One line for each set and each kind of path that can be opened."""
    sets = {name: (make.__doc__ or "").splitlines()[0] for name, make in SETS.items()}
    return sets | _PATHS


def open_source(source: str | Path, *, exclude: Sequence[str] = (), seed: int = 0) -> Collection:
    """The items of a folder, a table, an array file or a named set; a path is enough.

    Parameters
    ----------
    source : a path, or the name of a set. A folder that is called like a set of the package is
        opened by ``./tiles`` or as a ``Path``; the other sets give way to it.
    exclude : columns of a table that are labels: they are neither compared nor shown.
    seed : fixes sets that are drawn.

    Raises
    ------
    SourceError
        If there is nothing there, or nothing in it that can be used; says what was found.
    """
    if isinstance(source, str) and is_set(source):
        return open_set(source, seed=seed).collection
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            collection = _open_folder(path)
        elif path.is_file():
            collection = _open_file(path, exclude)
        else:
            raise SourceError(
                f"There is no file or folder {str(source)!r}. "
                "Give an existing path, or the name of a set, such as digits, tiles; "
                "'samekind list' shows all."
            )
    except OSError as error:
        raise SourceError(f"{str(source)!r} cannot be read: {error.strerror or error}.") from error
    if not len(collection):
        raise SourceError(_nothing_usable(path, collection.skipped))
    return collection


def _open_folder(path: Path) -> Collection:
    """Pictures or texts, whichever the folder holds more of; pictures if equally many."""
    from samekind.sources.files import images, texts
    from samekind.sources.files.folders import list_folder

    found, skipped = list_folder(path)
    suffixes = Counter(file.suffix for file in found)
    n_images = sum(suffixes[suffix] for suffix in images.SUFFIXES)
    n_texts = sum(suffixes[suffix] for suffix in texts.SUFFIXES)
    if n_texts > n_images:
        return texts.collect_texts(path, found, skipped)
    return images.collect_images(path, found, skipped)


def _open_file(path: Path, exclude: Sequence[str]) -> Collection:
    """One file, by its suffix."""
    suffix = path.suffix.lower()
    if suffix == ".txt":
        from samekind.sources.files.texts import open_lines

        return open_lines(path)
    if suffix in (".csv", ".tsv"):
        from samekind.sources.files.columns import collect_rows
        from samekind.sources.files.delimited import read_csv

        return collect_rows(path, *read_csv(path), exclude)
    if suffix == ".parquet":
        from samekind.sources.files.parquet import open_parquet

        return open_parquet(path, exclude)
    if suffix in (".npy", ".npz"):
        from samekind.sources.files.arrays import open_npy, open_npz

        return open_npy(path) if suffix == ".npy" else open_npz(path)[0]
    raise SourceError(
        f"{str(path)!r} has the suffix {suffix or '(none)'!r}, which cannot be opened. "
        "Give a folder, or a .csv, .tsv, .parquet, .npy, .npz or .txt file."
    )


def _nothing_usable(path: Path, skipped: Sequence[Skipped]) -> str:
    """The words for a source without items."""
    what = "folder" if path.is_dir() else "file"
    if not skipped:
        return f"The {what} {str(path)!r} is empty. Put pictures or texts into it."
    reasons = "; ".join(f"{file.id!r} {file.reason}" for file in skipped[:3])
    more = f"; and {len(skipped) - 3} more" if len(skipped) > 3 else ""
    return f"Nothing in the {what} {str(path)!r} can be used: {reasons}{more}."
