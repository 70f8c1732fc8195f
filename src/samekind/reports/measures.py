"""Measures of a run: area under its curve, final score, and the cost of a given quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.evaluation import Curve
from samekind.reports.bands import AXES, common_range, line
from samekind.reports.results import Result
from samekind.reports.statistics import median_with_never


def span(
    runs: Sequence[Result], metric: str, axis: str = "questions"
) -> tuple[float, float] | None:
    """Questions (or another cost) over which all curves can be compared; None: there are none.

    Results that were scored only once have no curve and do not narrow the range.
    """
    found = [one for run in runs if (one := line(run, metric, axis)) and len(one[0]) > 1]
    if not found:
        return None
    low, high = common_range(found)
    return (low, high) if low < high else None


def area(
    run: Result, metric: str, within: tuple[float, float], axis: str = "questions"
) -> float | None:
    """Mean height of the curve over a range of questions; None for a curve of one point."""
    found = line(run, metric, axis)
    if found is None or len(found[0]) < 2:
        return None
    x, y = found
    low, high = within
    at = np.concatenate([[low], x[(x > low) & (x < high)], [high]])
    rows = zip(at.tolist(), np.interp(at, x, y).tolist(), strict=True)
    return Curve([{"questions": q, metric: value} for q, value in rows]).area(metric)


def final(run: Result, metric: str, within: tuple[float, float] | None) -> float | None:
    """The score at the end of the common range; of a run scored once, that score."""
    found = line(run, metric)
    if found is None:
        return None
    x, y = found
    return float(y[-1]) if within is None or len(x) < 2 else float(np.interp(within[1], x, y))


@dataclass(frozen=True)
class Reached:
    """The cost of a given quality over several seeds.

    Parameters
    ----------
    median : by axis; None when half of the runs or more never reach it, or it was not counted.
    bound : by axis, what the runs that never reach it had cost at least; None without such runs.
    never, runs : how many runs never reach it, of how many.
    """

    median: dict[str, float | None]
    bound: dict[str, float | None]
    never: int
    runs: int

    @classmethod
    def of(cls, runs: Sequence[Result], metric: str, value: float) -> Reached:
        """Over the runs of one system in one block."""
        curves = [run.curve(metric) for run in runs]
        at = [curve.questions_to(metric, value) for curve in curves]
        median: dict[str, float | None] = {}
        bound: dict[str, float | None] = {}
        for axis in AXES:
            costs = [_cost(curve, axis, q) for curve, q in zip(curves, at, strict=True)]
            counted = all(any(axis in row for row in curve.rows) for curve in curves)
            median[axis] = median_with_never(costs) if counted else None
            ends = [
                max(row[axis] for row in curve.rows if axis in row)
                for curve, q in zip(curves, at, strict=True)
                if q is None and counted
            ]
            bound[axis] = min(ends) if ends else None
        return cls(median, bound, sum(q is None for q in at), len(runs))


def _cost(curve: Curve, axis: str, questions: int | None) -> float | None:
    """The cost at the point with this number of questions."""
    if questions is None:
        return None
    return next((row.get(axis) for row in curve.rows if row["questions"] == questions), None)
