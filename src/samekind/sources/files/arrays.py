"""Ready vectors from NumPy files: one array in .npy, or ``X`` with label columns in .npz."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError
from samekind.items import Skipped
from samekind.sources.files.archives import UNREADABLE, check_unpacked_size, read_array
from samekind.sources.files.columns import Columns, take_ids
from samekind.sources.files.drawing import looks_like_pictures
from samekind.sources.files.rows import RowCollection, Rows, ready_vectors

MAX_REASON = 200
"""Letters of what NumPy says, which may quote the whole file."""
_READ_AS_NEEDED = "Save 'X' as a .npy file: its rows are read as needed."
_SAVE_AGAIN = "Save it again with NumPy; pickled objects are never loaded."


def open_npy(path: Path, exclude: Sequence[str] = ()) -> RowCollection:
    """The rows of a .npy file, read from disk as needed; there are no columns to exclude."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise SourceError(_unreadable(path, error)) from error
    if not isinstance(matrix, np.ndarray):
        raise SourceError(f"{str(path)!r} is an archive, not one array. Rename it to .npz.")
    return vectors_collection(path.stem, matrix, str(path))


def open_npz(path: Path, exclude: Sequence[str] = ()) -> RowCollection:
    """The rows of ``X``; all other arrays are labels and are left out anyway."""
    return open_labelled_npz(path)[0]


def open_labelled_npz(path: Path) -> tuple[RowCollection, dict[str, NDArray[Any]]]:
    """The rows of ``X``, and beside them the label columns: 1-D arrays of the same length."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            if not hasattr(archive, "files"):
                raise SourceError(f"{str(path)!r} is one array. Rename it to .npy.")
            parts = archive.zip.infolist()
            size = sum(part.file_size for part in parts)
            check_unpacked_size(path, size, _READ_AS_NEEDED, unpacked=size)
            names = [part.filename for part in parts]
            arrays = {name.removesuffix(".npy"): read_array(archive.zip, name) for name in names}
    except SourceError:
        raise
    except UNREADABLE as error:
        raise SourceError(_unreadable(path, error)) from error
    if "X" not in arrays:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise SourceError(
            f"Expected an array 'X' in {str(path)!r}, got: {found}. "
            "Save it with numpy.savez(path, X=vectors, label=labels)."
        )
    matrix = arrays.pop("X")
    labels = {name: array for name, array in arrays.items() if array.shape == matrix.shape[:1]}
    notes = [
        Skipped(f"array {name}", f"has shape {array.shape}, not one value per row; skipped")
        for name, array in arrays.items()
        if name not in labels
    ]
    ids: Columns = {"id": labels.pop("id").astype(str).tolist()} if "id" in labels else {}
    return vectors_collection(path.stem, matrix, str(path), notes, take_ids(ids, notes)), labels


def _unreadable(path: Path, error: Exception) -> str:
    """Say why a file cannot be read, without NumPy's advice to load pickled objects."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "pickle" in reason:
        reason = "it is not an array of numbers, or damaged"
    return f"{str(path)!r} cannot be read ({reason[:MAX_REASON]}). {_SAVE_AGAIN}"


def vectors_collection(
    name: str,
    matrix: NDArray[Any],
    location: str,
    notes: list[Skipped] | None = None,
    keys: list[str] | None = None,
) -> RowCollection:
    """Ready vectors as items, shown as small pictures if they look like some, else as bars."""
    ready_vectors(matrix, repr(location))
    picture = looks_like_pictures(matrix[:: max(1, len(matrix) // 64)])
    rows = Rows(matrix, keys=keys, picture=picture)
    return RowCollection(name, rows, tuple(notes or ()), location, ready=True)
