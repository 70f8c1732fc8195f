"""The table of attacks in the documentation, from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs/explanation/faults.md"
BEGIN, END = "<!-- begin: made by make faults -->", "<!-- end: made by make faults -->"


def write_page(rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}", encoding="utf-8")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Two tables: the attacks, and what was measured beside."""
    from benchmarks.faults.run import ATTACKS

    known = {row["attack"]: row for row in rows}
    ordered = [known[name] for name in ATTACKS if name in known]
    lines = ["| attack | | rounds | survived | lost | seconds |", "|---|---|---:|---:|---:|---:|"]
    lines += [_line(row) for row in ordered]
    lines += ["", "| attack | measured beside | commit, load |", "|---|---|---|"]
    for row in ordered:
        figures = "; ".join(f"{k}: {_plain(v)}" for k, v in row.get("figures", {}).items())
        origin = f"{str(row.get('commit', ''))[:16]}, {_load(row)}"
        lines.append(f"| `{row['attack']}` | {figures} | {origin} |")
    return "\n".join(lines)


def _line(row: Mapping[str, Any]) -> str:
    if "skipped" in row:
        return f"| `{row['attack']}` | {row['about']} | | skipped: {row['skipped']} | | |"
    counts = " | ".join(f"{row[key]:,}" for key in ("rounds", "survived", "lost"))
    return f"| `{row['attack']}` | {row['about']} | {counts} | {row['seconds']:,.0f} |"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "/")


def _load(row: Mapping[str, Any]) -> str:
    machine = row.get("machine", row)
    load = machine.get("load") if isinstance(machine, Mapping) else None
    return str(load if load is not None else row.get("load", ""))
