"""Means over kept rows of the benchmarks of NCP, for tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

Row = dict[str, Any]
FOLDER = Path(__file__).parent
NAMES = (
    "quality",
    "shipped",
    "answers",
    "speed",
    "spikes",
    "estimates",
    "large",
    "graphs",
    "images",
)
FILE_OF = {name: FOLDER / f"{name}.jsonl" for name in NAMES}
"""Kept rows by benchmark."""


class Quality(NamedTuple):
    """A method on the data sets of one world and size."""

    world: str
    n: int
    name: str
    sha256: str | None
    sets: int
    ari: float
    half: float
    k_error: float
    k_bias: float
    k_right: float
    seconds: float
    each: Sequence[float]


def read_rows(file: Path) -> list[Row]:
    """The rows of a file; none if it is not there."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def digest(file: str) -> str:
    """The first digits of the SHA-256 of a file of weights."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]


def half_interval(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean (Student)."""
    if len(values) < 2:
        return 0.0
    return float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def summary(rows: Sequence[Row]) -> list[Quality]:
    """Rows of the quality benchmark, pieces put together, in the order in which they came."""
    by: dict[tuple[str, int, str, str | None], list[Row]] = {}
    for row in sorted(rows, key=lambda r: r["first"]):
        by.setdefault((row["world"], row["N"], row["method"], row["sha256"]), []).append(row)
    return [_quality(*key, some) for key, some in sorted(by.items(), key=lambda p: p[0][:2])]


def _quality(world: str, n: int, name: str, sha256: str | None, rows: Sequence[Row]) -> Quality:
    each = [score for row in rows for score in row["ari"]]
    excess = np.concatenate([np.subtract(row["groups"], row["true_groups"]) for row in rows])
    seconds = float(np.average([row["processor_seconds"] for row in rows],
                               weights=[row["sets"] for row in rows]))  # fmt: skip
    return Quality(
        world, n, name, sha256, len(each), float(np.mean(each)), half_interval(each),
        float(np.abs(excess).mean()), float(excess.mean()), float((excess == 0).mean()), seconds,
        each,
    )  # fmt: skip
