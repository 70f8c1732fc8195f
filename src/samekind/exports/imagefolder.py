"""A folder of pictures that Hugging Face datasets load with ``load_dataset("imagefolder", ...)``.

The pictures of a split lie beside a ``metadata.csv`` whose column ``file_name`` links a row to a
picture: https://huggingface.co/docs/datasets/image_dataset
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.exports.tables import rows, table_row

if TYPE_CHECKING:
    from samekind.exports.plan import Plan

METADATA = "metadata.csv"
SPLIT = "train"
"""The folder of the only split, which the library loads unless asked for another."""
COLUMNS = ("file_name", "label", "group", "answered", "id")


def write_metadata(plan: Plan, names: Mapping[int, str], path: Path) -> None:
    """Write a row per picture; `names` has the file names by position."""
    with path.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for position, row in enumerate(rows(plan)):
            answered = "true" if row.answered else "false"
            cells = (row.name, row.group, answered, row.id)
            safe = table_row(cells, no_formulas=plan.no_formulas)
            writer.writerow([names[position], *safe])  # a name is that of its file
