"""Options, provenance and tables that the benchmarks share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from samekind.simulation import provenance as recorded
from samekind.simulation.rows import append_row


def arguments(about: str, results: Path) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has.

    Parameters
    ----------
    results : the file of ``--json`` without a name.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=results,
        metavar="FILE",
        help=f"append the rows to this file (without a name: {results.name} beside the script)",
    )
    return parser


def emit(row: Mapping[str, Any], file: Path | None) -> None:
    """Print a row with its provenance as one line of JSON, and append it to the file."""
    whole = {**row, **provenance()}
    print(json.dumps(whole, ensure_ascii=False))
    if file is not None:
        append_row(file, whole)


def provenance() -> dict[str, Any]:
    """Command, commit, machine and versions."""
    return recorded.provenance(command(), recorded.commit())


def command() -> str:
    """The command line, with absolute paths shortened."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = f"-m {module.name}" if module else f"benchmarks/{Path(sys.argv[0]).name}"
    return recorded.command_line(f"python {name}", sys.argv[1:])


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum, in milliseconds."""
    p50, p95, worst = np.percentile(seconds, [50, 95, 100]) * 1000
    return {"p50": round(p50, 2), "p95": round(p95, 2), "max": round(worst, 2)}


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print columns, the first aligned left and the others right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells))
