"""Table of PCL's and OCC's losses where answers come late: benchmarks/theory/late_answers.py."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results.own import NOT_YET, SETS
from benchmarks.results.rows import machines, numbers, short, spread
from samekind.reports.markdown import pipe_table
from samekind.simulation.rows import Row

FILE = Path(__file__).parents[1] / "theory" / "late-answers.jsonl"
NAMES = {
    "pcl": "PCL, as its program computes it (mean over pairs)",
    "pcl, as printed": "PCL, Eq. 3 as printed (mean over rows)",
    "occ": "OCC (mean over rows)",
    "occ, over pairs": "OCC, memberships by a mean over pairs (ours)",
}


def late_table(name: str, rows: Sequence[Row] = (), file: Path = FILE) -> str:
    """Final ACC of each loss and rate on a set, by how settled the groups were before answers."""
    if not file.exists():
        return NOT_YET
    kept = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in kept if row["set"] == name]
    if not kept:
        return NOT_YET
    waits = sorted({row["wait"] for row in kept})
    rates = sorted({row["rate"] for row in kept}, reverse=True)
    lines = []
    for loss in NAMES:
        for rate in rates:
            found = [r for r in kept if r["loss"] == loss and r["rate"] == rate]
            if found:
                cells = [_cell([r for r in found if r["wait"] == wait]) for wait in waits]
                lines.append([NAMES[loss], f"{rate:g}", *cells])
    heads = [f"{SETS[name]} personalised", "rate", *(f"way {wait:g}" for wait in waits)]
    return "\n".join([pipe_table(heads, lines), "", _provenance(kept)])


def _cell(rows: Sequence[dict[str, Any]]) -> str:
    """Mean and spread over the seeds of the last ACC, and the largest membership before answers."""
    if not rows:
        return ""
    sure = short(median(row["largest_membership"] for row in rows), 2)
    return f"{spread([row['acc'][-1] for row in rows])} ({sure})"


def _provenance(rows: Sequence[dict[str, Any]]) -> str:
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    seeds = numbers(row["seed"] for row in rows)
    return (
        f"Seeds {seeds}; commit {commits}; {machines(rows)}; "
        "`benchmarks/theory/late-answers.jsonl`."
    )
