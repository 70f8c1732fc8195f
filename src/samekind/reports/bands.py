"""Bands: the curves of several seeds as one mean with its 95 % band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.reports.results import Result
from samekind.reports.statistics import mean_interval

Floats = NDArray[np.float64]
Line = tuple[Floats, Floats]
"""Costs and scores of one run."""
AXES = {
    "questions": "questions",
    "pairs": "pair comparisons",
    "person_seconds": "seconds of the person (modelled)",
}
"""Three ways to count the cost of an answer: key of a point of a curve, and its title."""
_GRID = 41
"""Points of a line whose runs were scored at different costs."""
_MAX_POINTS = 80


@dataclass(frozen=True, eq=False)
class Band:
    """A mean curve with its 95 % band.

    Parameters
    ----------
    x : costs. mean, low, high : the score and its band; all equal with one seed.
    seeds : number of seeds, that of the smallest block.
    """

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    seeds: int

    @classmethod
    def of(cls, blocks: Sequence[Sequence[Line]], *, even: bool = False) -> Band | None:
        """Mean over blocks of the mean over seeds, on the range that all runs cover.

        Between two scored points a run is interpolated linearly. The interval is that of
        :func:`~samekind.reports.statistics.mean_interval`. None: the runs share no range.

        Parameters
        ----------
        even : use an even grid where runs were scored at many different costs.
        """
        lines = [line for block in blocks for line in block]
        if not lines or any(not block for block in blocks):
            return None
        x = _grid(lines, even=even)
        if not len(x):
            return None
        parts = [np.stack([np.interp(x, *line) for line in block]) for block in blocks]
        return cls(x, *mean_interval(parts), min(map(len, blocks)))


def line(result: Result, metric: str, axis: str = "questions") -> Line | None:
    """Costs and scores of one run; None when its curve lacks one of them."""
    rows = [row for row in result.curve(metric).rows if axis in row]
    if not rows:
        return None
    found = {float(row[axis]): float(row[metric]) for row in rows}  # of equal costs the last
    x = np.array(sorted(found))
    return x, np.array([found[at] for at in x.tolist()])


def band(blocks: Sequence[Sequence[Result]], metric: str, axis: str = "questions") -> Band | None:
    """The band of the runs of one system over several blocks."""
    lines = [[found for run in runs if (found := line(run, metric, axis))] for runs in blocks]
    return Band.of(lines, even=axis != "questions")


def common_range(lines: Sequence[Line]) -> tuple[float, float]:
    """From where the last line begins to where the first line ends; may be empty (low > high)."""
    return max(float(x[0]) for x, _ in lines), min(float(x[-1]) for x, _ in lines)


def _grid(lines: Sequence[Line], *, even: bool) -> Floats:
    low, high = common_range(lines)
    if low > high:
        return np.array([])
    x = np.unique(np.concatenate([x for x, _ in lines] + [np.array([low, high])]))
    x = x[(x >= low) & (x <= high)]
    if len(x) > (_GRID if even else _MAX_POINTS):
        x = np.linspace(low, high, _GRID)
    return x
