"""What every benchmark says about itself: command, commit, machine, versions; and where it says it.

The scripts beside this one import it, so run them as ``python benchmarks/NAME.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from samekind.simulation import provenance

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"


def arguments(about: str) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=RESULTS,
        metavar="FILE",
        help=f"append the row to this file (without a name: {RESULTS.name} beside the scripts)",
    )
    return parser


def emit(row: Mapping[str, Any], file: Path | None) -> None:
    """Print a row as one line of JSON, and keep it if there is a file."""
    line = json.dumps({**row, **surroundings()}, ensure_ascii=False)
    print(line)
    if file is not None:
        with file.open("a", encoding="utf-8") as results:
            results.write(line + "\n")


def surroundings() -> dict[str, Any]:
    """What a figure depends on besides the seed."""
    return provenance.provenance(command(), provenance.commit())


def command() -> str:
    """The command line, with the last part of paths that lead nowhere on other machines."""
    return provenance.command_line(f"python benchmarks/{Path(sys.argv[0]).name}", sys.argv[1:])


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and the worst, in milliseconds."""
    p50, p95, worst = np.percentile(seconds, [50, 95, 100]) * 1000
    return {"p50": round(p50, 2), "p95": round(p95, 2), "max": round(worst, 2)}


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print columns, the first one to the left and the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells))
