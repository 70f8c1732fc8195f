"""What every benchmark says about itself: command, commit, machine, versions; and where it says it.

The scripts beside this one import it, so run them as ``python benchmarks/NAME.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

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
    return {
        "command": command(),
        "commit": commit(),
        "when": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        "machine": {
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
            "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
            "cpu": _first("/proc/cpuinfo", "model name") or platform.processor(),
            "memory": _memory(),
            "load": [round(load, 1) for load in os.getloadavg()],
        },
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in ("samekind", "numpy", "scipy", "scikit-learn")},
    }


def command() -> str:
    """The command line, with the last part of paths that lead nowhere on other machines."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *words])


def commit() -> str:
    """The commit of the working tree, and whether it has changes on top."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", ":/src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} + local changes" if changed else head


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


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _first(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _memory() -> str:
    kilobytes = _first("/proc/meminfo", "MemTotal").split()
    return f"{int(kilobytes[0]) / 2**20:.0f} GiB" if kilobytes else "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
