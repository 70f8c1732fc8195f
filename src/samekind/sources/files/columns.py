"""Columns of a table: which are compared as numbers, which are only shown, which is the id."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.characters import whole_characters
from samekind.errors import InputError, SourceError, VectorError
from samekind.items import Skipped
from samekind.sources.files.rows import RowCollection, Rows, show

MAX_CATEGORIES = 20
"""A text column with more different values is shown to the person but not compared."""
SPLIT = "split"
"""Name of a column that may say which items are for training and which are for testing."""
INSIDE = frozenset({"train", "training", "val", "valid", "validation", "dev", "0", "false"})
OUTSIDE = frozenset({"test", "testing", "1", "true"})
Column = NDArray[np.float64] | list[str]
"""Numbers with NaN for missing values, or texts with an empty text for missing ones."""
Columns = dict[str, Column]


def as_text(cells: Iterable[Any], missing: Some[str] = frozenset()) -> list[str]:
    """Cells as texts that can be stored; None and words in `missing` become empty."""
    texts = ("" if cell is None else whole_characters(str(cell)) for cell in cells)
    return ["" if text.lower() in missing else text for text in texts]


def is_split(column: Iterable[Any]) -> bool:
    """Whether a column called ``split`` says which items are for training and for testing.

    With any other word in it, it is a column like all others.

    >>> is_split(["train", "Test"]), is_split([0.0, 1.0]), is_split(["trainval", "test"])
    (True, True, False)
    """
    words = {(show(cell) if isinstance(cell, float) else str(cell)).lower() for cell in column}
    return bool(words) and words <= INSIDE | OUTSIDE


def collect_rows(
    path: Path,
    columns: Columns,
    skipped: Sequence[Skipped] = (),
    exclude: Sequence[str] = (),
    *,
    shown: Mapping[str, Sequence[str]] | None = None,
    keys: Sequence[str] | None = None,
) -> RowCollection:
    """The rows of a table as items.

    Number columns are used unchanged. A text column with few values becomes one column of zeros
    and ones per value (one-hot). Other text columns are only shown. `exclude` names label columns,
    which are neither compared nor shown, like a column ``split`` that says train or test. A unique
    column ``id`` names the items, unless they have `keys`. `shown` has other texts to show.
    """
    check_names(path, columns, exclude)
    notes = list(skipped)
    hidden = {*exclude, *([SPLIT] if is_split(columns.get(SPLIT, ())) else [])}
    used = {name: column for name, column in columns.items() if name not in hidden}
    keys = take_ids(used, notes) if keys is None else keys
    matrix, names = _features(used, notes)
    if not names:
        raise SourceError(
            f"Expected a column of numbers, or of texts with at most {MAX_CATEGORIES} different "
            f"values, in {str(path)!r}, got: {', '.join(columns)}. Add a column to compare by."
        )
    rows = Rows(matrix, keys=keys, cells={**used, **(shown or {})})
    return RowCollection(path.stem, rows, tuple(notes), str(path), columns=tuple(names))


def matrix_like(columns: Columns, wanted: Sequence[str], where: str) -> NDArray[np.float64]:
    """(n, d) the columns of another table, as those of the first one were called."""
    n_rows = len(next(iter(columns.values()))) if columns else 0
    found = np.empty((n_rows, len(wanted)))
    for place, name in enumerate(wanted):
        column, _, kind = name.rpartition("=")
        if name in columns and not isinstance(columns[name], list):
            found[:, place] = columns[name]
        elif column in columns:
            found[:, place] = _indicator(as_text(map(show, columns[column])), kind)
        else:
            raise VectorError(
                f"Expected the column {column or name!r} with values as before in {where}, got: "
                f"{', '.join(columns)}. Give a table with the same columns."
            )
    return np.where(np.isinf(found), np.nan, found)


def check_names(path: Path, columns: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise :class:`InputError` unless all wanted columns exist."""
    columns = list(columns)
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        raise InputError(
            f"{str(path)!r} has no column {unknown[0]!r}. Columns: {', '.join(columns)}."
        )


def take_ids(columns: Columns, notes: list[Skipped]) -> list[str] | None:
    """Remove the column ``id`` from the columns; returns its values if they are unique."""
    name = next((name for name in columns if name.lower() == "id"), None)
    if name is None:
        return None
    keys = [show(cell) for cell in columns.pop(name)]
    if all(keys) and len(set(keys)) == len(keys):
        return keys
    notes.append(Skipped(f"column {name}", "has empty or repeated values; rows are numbered"))
    return None


def _features(
    columns: Mapping[str, Column], notes: list[Skipped]
) -> tuple[NDArray[np.float64], list[str]]:
    """The matrix (n, d) and the names of its columns."""
    parts: list[NDArray[np.float64]] = []
    names: list[str] = []
    for name, column in columns.items():
        if isinstance(column, list):
            kinds = sorted(set(column) - {""})
            reason = _too_varied(column, kinds)
            if reason:
                notes.append(Skipped(f"column {name}", reason))
                continue
            parts += [_indicator(column, kind) for kind in kinds]
            names += [f"{name}={kind}" for kind in kinds]
        else:
            if np.isinf(column).any():
                notes.append(Skipped(f"column {name}", "infinite values count as missing"))
            parts.append(np.where(np.isinf(column), np.nan, column))
            names.append(name)
    return np.stack(parts, axis=1) if parts else np.empty((0, 0)), names


def _too_varied(column: Sequence[str], kinds: Sequence[str]) -> str:
    """Why a text column is not compared, or an empty string."""
    if not kinds:
        return "has no values; skipped"
    if len(kinds) > MAX_CATEGORIES or (len(kinds) == sum(map(bool, column)) and len(kinds) > 1):
        return f"has {len(kinds)} different texts, as {kinds[0][:30]!r}; shown but not compared"
    return ""


def _indicator(column: Sequence[str], kind: str) -> NDArray[np.float64]:
    return np.asarray([np.nan if not cell else float(cell == kind) for cell in column])
