"""Bands: many runs in rows of JSON become lines, each a mean over seeds with its 95 % band."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError, SourceError

Row = Mapping[str, Any]
Floats = NDArray[np.float64]
TOLD_APART = (
    "method", "strategy", "profile", "encoder", "attention", "noise", "groups_given",
    "person", "unsure",
)  # fmt: skip
"""Keys that make another line when rows differ in them and nobody says what to look at."""
TRAIN, TEST = "items that were sorted", "held-out items"
PANELS = {TRAIN: ("{}", "train_{}"), TEST: ("heldout_{}", "test_{}")}
"""The two sides of a picture, and what a score is called there in a curve."""


@dataclass(frozen=True, eq=False)
class Band:
    """One line of one panel.

    Parameters
    ----------
    x : answers. mean, low, high : the score and its band; equal when there is one seed only.
    runs : how many seeds there are.
    """

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    runs: int

    @classmethod
    def of(cls, curves: Sequence[tuple[Floats, Floats]]) -> Band:
        """Mean and 95 % interval (Student) of curves (x, y), where all of them have been.

        A curve without a value at some x is read off between its neighbours.
        """
        from scipy.stats import t

        until = min(float(x[-1]) for x, _ in curves)
        x = np.unique(np.concatenate([x for x, _ in curves]))
        x = x[(x >= max(float(x[0]) for x, _ in curves)) & (x <= until)]
        values = np.stack([np.interp(x, *curve) for curve in curves])  # (runs, points)
        runs, mean = len(values), values.mean(axis=0)
        half = np.zeros_like(mean)
        if runs > 1:
            half = t.ppf(0.975, runs - 1) * values.std(axis=0, ddof=1) / np.sqrt(runs)
        return cls(x, mean, mean - half, mean + half, runs)


def read_rows(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The rows of files that hold an object, a list of objects, or one object per line.

    Objects without a ``curve`` are passed over: files of benchmarks hold other rows as well.
    Each row learns the name of its ``file``.
    """
    found: list[dict[str, Any]] = []
    for path in map(Path, paths):
        try:
            text = path.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is not text"
            raise SourceError(f"{path} cannot be read: {reason}.") from problem
        rows = [row for row in _objects(text, path) if row.get("curve")]
        if not rows:
            raise SourceError(
                f"{path} has no row with a 'curve'. Give what `samekind simulate --json` prints."
            )
        found += [{**row, "file": path.stem} for row in rows]
    return found


def facets(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by what was sorted and what for: ``tiles, colour``."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = ", ".join(str(row[key]) for key in ("set", "orientation") if row.get(key))
        found.setdefault(name, []).append(row)
    return found


def lines(rows: Sequence[Row], by: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Rows by line. `by` names the keys that tell lines apart; empty: those that differ."""
    for key in by:
        if not any(key in row for row in rows):
            known = sorted({name for row in rows for name in row} - {"curve"})
            raise InputError(f"No row has the key {key!r}. Known: {', '.join(known)}.")
    keys = by or [key for key in TOLD_APART if len({str(row.get(key)) for row in rows}) > 1]
    keys = keys or [key for key in ("method", "strategy") if any(row.get(key) for row in rows)]
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = " + ".join(filter(None, (_said(key, row.get(key)) for key in keys)))
        found.setdefault(name, []).append(row)
    return found


def bands(rows: Sequence[Row], metric: str) -> dict[str, Band]:
    """The bands of one line, by panel; a panel is left out when no curve has its score."""
    found = {}
    for panel, names in PANELS.items():
        curves = [curve for row in rows if (curve := _curve(row, names, metric)) is not None]
        if curves:
            found[panel] = Band.of(curves)
    return found


def check_seeds(named: Mapping[str, Sequence[Row]]) -> None:
    """A mean over runs that differ in more than the seed would be of nothing."""
    for name, rows in named.items():
        seeds = [str(row.get("seed")) for row in rows]
        twice = next((seed for seed in seeds if seeds.count(seed) > 1), None)
        if twice is not None:
            raise InputError(
                f"The line {name!r} has {seeds.count(twice)} runs with seed {twice}, which must "
                "differ in something else. Say in what with --by KEY (--by file if nothing fits)."
            )


def _objects(text: str, path: Path) -> list[dict[str, Any]]:
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except ValueError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as problem:
            raise SourceError(f"{path} is not JSON: {problem}.") from problem
    return [row for row in found if isinstance(row, dict)]


def _curve(row: Row, names: Sequence[str], metric: str) -> tuple[Floats, Floats] | None:
    for name in (template.format(metric) for template in names):
        points = {
            float(point["questions"]): float(point[name])
            for point in row["curve"]
            if point.get(name) is not None
        }
        if points:
            x = np.array(sorted(points))
            return x, np.array([points[at] for at in x])
    return None


def _said(key: str, value: Any) -> str:
    """A value as it stands in a legend; nothing is said of what is off, not given or zero."""
    if isinstance(value, str):
        return f"{key} {value}" if value in ("auto", "on", "off") else value
    if not value:
        return f"no {key}" if value is False else ""
    return key if value is True else f"{key.replace('_', ' ')} {value}"
