"""CSV files as people really save them: any usual delimiter, encoding and decimal mark."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from samekind.errors import SourceError
from samekind.items import Skipped
from samekind.sources.files.columns import Column, Columns, as_text, collect_rows
from samekind.sources.files.plain_text import read_text
from samekind.sources.files.rows import RowCollection

DELIMITERS = ",;\t|"
MEMORY_PER_BYTE = 10
"""Of a table: its text, and a string of each cell."""
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})


def open_csv(path: Path, exclude: Sequence[str] = ()) -> RowCollection:
    """The rows of a CSV file as items."""
    return collect_rows(path, *read_csv(path), exclude)


def read_csv(path: Path) -> tuple[Columns, list[Skipped]]:
    """The columns of a CSV file, as numbers if all their cells are, and the skipped lines.

    The first line has the names of the columns, unless all its cells are numbers.
    """
    text = read_text(path, "a CSV file", memory_per_byte=MEMORY_PER_BYTE)
    delimiter = sniff(text)
    # Strict reading would refuse a lone quote. Lenient reading keeps it in the cell.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise SourceError(
            f"{str(path)!r} cannot be read as CSV near line {reader.line_num} ({error}). "
            "Look for an unclosed quotation mark there."
        ) from error
    if not rows:
        raise SourceError(f"{str(path)!r} is empty. Write a header and one line per item.")
    names, rows, lines = _header(rows, lines)
    kept = [row for row in rows if len(row) == len(names)]
    skipped = [
        Skipped(f"line {line}", f"has {len(row)} cells, the header has {len(names)}")
        for line, row in zip(lines, rows, strict=True)
        if len(row) != len(names)
    ]
    if not kept:
        raise SourceError(f"{str(path)!r} has a header but no rows that fit it. Add rows.")
    comma = delimiter != ","
    cells = zip(*kept, strict=True)
    return {name: _column(cell, comma) for name, cell in zip(names, cells, strict=True)}, skipped


def sniff(text: str) -> str:
    """The delimiter that splits the first lines most evenly, and into the most cells."""
    lines = text[:65_536].splitlines()
    if len(text) > 65_536 and len(lines) > 1:
        lines.pop()  # it may be cut in the middle
    head = "\n".join(lines[:50])

    def score(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(head), delimiter=delimiter) if row]
        except csv.Error:
            return (0.0, 0)
        common = max(set(widths), key=widths.count, default=1)
        share = widths.count(common) / max(1, len(widths))
        return (share if common > 1 else 0.0, common)

    return max(DELIMITERS, key=score)


def _header(
    rows: list[list[str]], lines: list[int]
) -> tuple[list[str], list[list[str]], list[int]]:
    first = rows[0]
    if all(_number(cell, True) is not None for cell in first):
        return [f"column {place + 1}" for place in range(len(first))], rows, lines
    names: dict[str, None] = {}  # in their order
    copies: Counter[str] = Counter()
    for place, cell in enumerate(first):
        name = cell or f"column {place + 1}"
        while name in names:
            copies[cell] += 1
            name = f"{cell or 'column'} ({copies[cell] + 1})"
        names[name] = None
    return list(names), rows[1:], lines[1:]


def _number(cell: str, comma: bool) -> float | None:
    """The number in a cell, or None; with `comma`, ``1,5`` means one and a half."""
    try:
        return float(cell)
    except ValueError:
        if comma and cell.count(",") == 1:
            try:
                return float(cell.replace(",", "."))
            except ValueError:
                return None
        return None


def _column(cells: Sequence[str], comma: bool) -> Column:
    """Numbers, with NaN for missing values, if all other cells are numbers; else texts."""
    numbers: list[float] = []
    for cell in cells:
        if cell.lower() in MISSING:
            numbers.append(np.nan)
            continue
        number = _number(cell, comma)
        if number is None:
            return as_text(cells, MISSING)
        numbers.append(number)
    column = np.asarray(numbers, dtype=np.float64)
    return column if np.isfinite(column).any() else as_text(cells, MISSING)
