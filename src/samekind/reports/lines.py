"""Lines: the curves of several seeds as one mean with its bootstrap band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samekind.reports.plots.bands import Band
from samekind.reports.runs import Run
from samekind.reports.statistics import stratified_mean

Floats = NDArray[np.float64]
Line = tuple[Floats, Floats]
AXES = {
    "questions": "questions",
    "pairs": "pair comparisons",
    "person_seconds": "seconds of the person (modelled)",
}
"""What an answer costs, counted in three ways: key of a curve's row, and its words."""
_GRID = 41
"""Points of a line whose runs were scored at costs of their own."""
_MOST_POINTS = 80


def line(run: Run, metric: str, axis: str = "questions") -> Line | None:
    """Cost and score of one run; None when its rows lack one of them."""
    rows = [row for row in run.curve(metric).rows if axis in row]
    if not rows:
        return None
    found = {float(row[axis]): float(row[metric]) for row in rows}  # of equal costs the last
    x = np.array(sorted(found))
    return x, np.array([found[at] for at in x.tolist()])


def band(blocks: Sequence[Sequence[Run]], metric: str, axis: str = "questions") -> Band | None:
    """Mean over blocks of the mean over seeds, where all runs have been; None without such a range.

    Between two scored points a run is read off a straight line. The band resamples the seeds
    of each block.
    """
    grouped = [[found for run in runs if (found := line(run, metric, axis))] for runs in blocks]
    every = [found for lines in grouped for found in lines]
    if not every or any(not lines for lines in grouped):
        return None
    x = _grid(every, even=axis != "questions")
    if not len(x):
        return None
    parts = [np.stack([np.interp(x, *found) for found in lines]) for lines in grouped]
    mean, low, high = stratified_mean(parts)
    return Band(x, mean, low, high, min(len(lines) for lines in grouped))


def common_range(lines: Sequence[Line]) -> tuple[float, float]:
    """From where the last line begins to where the first line ends; may be empty (low > high)."""
    return max(float(x[0]) for x, _ in lines), min(float(x[-1]) for x, _ in lines)


def _grid(lines: Sequence[Line], *, even: bool) -> Floats:
    low, high = common_range(lines)
    if low > high:
        return np.array([])
    x = np.unique(np.concatenate([x for x, _ in lines] + [np.array([low, high])]))
    x = x[(x >= low) & (x <= high)]
    if len(x) > (_GRID if even else _MOST_POINTS):
        x = np.linspace(low, high, _GRID)
    return x
