"""The tables of attacks in the documentation, from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults.kept import Row, is_longer

PAGE = Path(__file__).parents[2] / "docs/explanation/faults.md"
BEGIN, END = "<!-- begin: made by make faults -->", "<!-- end: made by make faults -->"
ROUNDS = ["| attack | | rounds | survived | lost | seconds |", "|---|---|---:|---:|---:|---:|"]
LONGER = [
    "| longer run of | seed | rounds | survived | lost | seconds |",
    "|---|---:|---:|---:|---:|---:|",
]
FIGURES = ["| attack | measured beside | commit, load |", "|---|---|---|"]


def write_page(rows: Sequence[Row]) -> None:
    """Replace the tables of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(rows)}\n\n{END}{after}", encoding="utf-8")


def tables(rows: Sequence[Row]) -> str:
    """The attacks and what was measured beside, of whole runs, then of longer ones."""
    whole = [row for row in rows if not is_longer(row)]
    longer = [row for row in rows if is_longer(row)]
    parts = [
        [*ROUNDS, *(_line(row, row["about"]) for row in whole)],
        [*FIGURES, *map(_figures, whole)],
    ]
    if longer:
        parts += [
            [*LONGER, *(_line(row, str(row["seed"])) for row in longer)],
            [*FIGURES, *map(_figures, longer)],
        ]
    return "\n\n".join("\n".join(part) for part in parts)


def _line(row: Row, about: str) -> str:
    if "skipped" in row:
        return f"| `{row['attack']}` | {about} | | skipped: {row['skipped']} | | |"
    counts = " | ".join(f"{row[key]:,}" for key in ("rounds", "survived", "lost"))
    return f"| `{row['attack']}` | {about} | {counts} | {row['seconds']:,.0f} |"


def _figures(row: Row) -> str:
    figures = "; ".join(f"{k}: {_plain(v)}" for k, v in row.get("figures", {}).items())
    origin = f"{str(row.get('commit', ''))[:16]}, {_load(row)}"
    return f"| `{row['attack']}` | {figures} | {origin} |"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "/")


def _load(row: Row) -> str:
    machine = row.get("machine", row)
    load = machine.get("load") if isinstance(machine, Mapping) else None
    return str(load if load is not None else row.get("load", ""))
