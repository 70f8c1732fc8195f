"""Rows in a JSONL file: one line per run, appended when it ends, so that a killed suite goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def read_rows(file: Path, tell: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """The rows of a file; a line that was cut off by a kill is passed over.

    Parameters
    ----------
    tell : gets a sentence about each line that is passed over.
    """
    if not file.exists():
        return []
    rows = []
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
        elif tell is not None:
            tell(f"{file.name}: line {number} is cut off and left out.")
    return rows


def append_row(file: Path, row: Row) -> None:
    """Add a line, also after one that was cut off."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as rows:
        if rows.tell():
            rows.seek(-1, 2)
            if rows.read(1) != b"\n":
                rows.write(b"\n")
        rows.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def finished(rows: list[dict[str, Any]]) -> set[str]:
    """The names of the runs that came to their end."""
    return {str(row["run"]) for row in rows if row.get("complete") and "run" in row}
