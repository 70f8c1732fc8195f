"""The groups as a table: one row per item, as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import MissingExtra
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.exports.plan import Plan

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001
"""What a formula begins with; the wide forms count in East Asian versions of spreadsheets."""


@dataclass(frozen=True)
class Row:
    """The row of one item. `confidence` is None if the groups are hard."""

    id: str
    group: int
    name: str
    confidence: float | None
    answered: bool


def rows(plan: Plan) -> Iterator[Row]:
    """One row per item, in the order of the collection."""
    clustering = plan.clustering
    names = {number: clustering.name(number) for number in clustering.numbers}
    confidence = own_membership(plan)
    for position, id in enumerate(plan.collection.ids()):
        number = int(clustering.labels[position])
        sure = None if confidence is None else round(float(confidence[position]), 6)
        yield Row(id, number, names[number], sure, id in plan.answered)


def own_membership(plan: Plan) -> NDArray[np.floating[Any]] | None:
    """The membership of each item in its own group; None for hard groups."""
    membership = plan.clustering.membership
    if membership is None:
        return None
    columns = np.searchsorted(plan.clustering.numbers, plan.clustering.labels)
    own: NDArray[np.floating[Any]] = np.take_along_axis(membership, columns[:, None], axis=1)[:, 0]
    return own


def write_csv(plan: Plan, path: Path) -> None:
    """Columns id, group, name, confidence (if there is one), answered; UTF-8, with a header."""
    soft = plan.clustering.membership is not None
    columns = ["id", "group", "name", *(["confidence"] if soft else []), "answered"]
    # An id is the user's file name: invalid Unicode in it is written as \udcff.
    with path.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows(plan):
            cells = {**vars(row), "answered": "true" if row.answered else "false"}
            writer.writerow(table_row((cells[c] for c in columns), no_formulas=plan.no_formulas))
        _to_disk(file)


def write_json(plan: Plan, path: Path) -> None:
    """Groups with the ids of their items, then the items one by one."""
    items = list(rows(plan))
    members: dict[int, list[str]] = {number: [] for number in plan.clustering.numbers}
    for row in items:
        members[row.group].append(row.id)
    content = {
        "format": "samekind-groups",
        "version": 1,
        "collection": plan.collection.name,
        "groups": [
            {"number": k, "name": plan.clustering.name(k), "size": len(ids), "items": ids}
            for k, ids in members.items()
        ],
        "items": [{k: v for k, v in vars(row).items() if v is not None} for row in items],
    }
    # Half a surrogate pair becomes \udcff, as JSON writes it, so it is read back unchanged.
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
        file.write("\n")
        _to_disk(file)


def write_parquet(plan: Plan, path: Path) -> None:
    """The columns of the CSV, typed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = list(rows(plan))
    columns = {
        "id": pa.array([_text(row.id) for row in table], pa.string()),
        "group": pa.array([row.group for row in table], pa.int64()),
        "name": pa.array([_text(row.name) for row in table], pa.string()),
        "confidence": pa.array([row.confidence for row in table], pa.float64()),
        "answered": pa.array([row.answered for row in table], pa.bool_()),
    }
    if plan.clustering.membership is None:
        del columns["confidence"]
    with path.open("xb") as file:
        pq.write_table(pa.table(columns), file)
        _to_disk(file)


WRITERS: dict[str, Callable[[Plan, Path], None]] = {
    "csv": write_csv,
    "json": write_json,
    "parquet": write_parquet,
}


def check_parquet() -> None:
    """Fail early if the package for Parquet is missing."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as missing:
        raise MissingExtra("An export to Parquet", "parquet") from missing


def formula_note(cells: Iterable[str], *, no_formulas: bool, reader: str = "") -> str:
    """A warning if a spreadsheet would interpret a cell as a formula, or an empty string.

    Parameters
    ----------
    cells : the ids and names in a CSV file.
    no_formulas : whether they are written with an apostrophe in front.
    reader : the program that the file is for; an apostrophe would be part of the names in there.
    """
    risky = [cell for cell in cells if cell.startswith(_FORMULA)]
    if not risky:
        return ""
    begin = plural(len(risky), "cell begins", "cells begin")
    found = f"{begin} with = + - or @ (the first: {risky[0]!r})."
    if no_formulas:
        return f"{found} They are written with an apostrophe in front."
    unchanged = f"unchanged, for {reader}" if reader else "unchanged"
    return (
        f"{found} They are written {unchanged}. A spreadsheet may take them for formulas, so "
        "import these columns as text, or write them with an apostrophe in front (--no-formulas)."
    )


def table_row(cells: Iterable[object], *, no_formulas: bool) -> list[object]:
    """The cells of a row of a CSV file; with `no_formulas` a spreadsheet calculates no text.

    >>> table_row(("=1+1", -1, "cat"), no_formulas=True)
    ["'=1+1", -1, 'cat']
    """
    if not no_formulas:
        return list(cells)
    return [without_formula(cell) if isinstance(cell, str) else cell for cell in cells]


def without_formula(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would take it for a formula.

    >>> without_formula("=1+1"), without_formula("cat")
    ("'=1+1", 'cat')
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _text(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode()


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
