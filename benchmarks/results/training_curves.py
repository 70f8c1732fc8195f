"""Draws the accuracy of whole trainings over their epochs, with the printed figure beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.results.gpu import LAST_SCORES
from benchmarks.results.own import printed, score_prefix, set_name, whole_runs
from samekind.reports.plots.canvas import FAINT, INK, PALETTES, PANEL, new_figure
from samekind.simulation.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, HIGH = 4.6, 3.2


def training_rows(method: str, rows: Sequence[Row]) -> list[Row]:
    """Trainings by epochs that were scored at several epochs."""
    return [row for row in whole_runs(rows, method) if len(_points(row)[0]) > 1]


def draw_training(rows: Sequence[Row]) -> Figure:
    """One panel per set: each score faint, the mean of the last ten in full, asking shaded."""
    places: dict[str, list[Row]] = {}
    for row in rows:
        places.setdefault(set_name(row), []).append(row)
    names = list(dict.fromkeys(_name(row) for row in rows))
    columns = min(2, len(places))
    high = -(-len(places) // columns)
    figure = new_figure(WIDE * max(columns, 1.3), HIGH * high + 0.5)
    grid = figure.subplots(high, columns, squeeze=False)
    for axes in grid.flat[len(places) :]:
        axes.set_axis_off()
    for axes, (place, some) in zip(grid.flat, places.items(), strict=False):
        _panel(axes, place, some, names)
    keys: dict[str, Any] = {}
    for axes in grid.flat:
        keys = {**dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True)), **keys}
    inches = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0.62 / inches, 1, 1), w_pad=2, h_pad=2)
    figure.legend(keys.values(), keys, loc="lower center", ncols=4, frameon=False, fontsize=9.5,
                  labelcolor=INK, bbox_to_anchor=(0.5, 0.3 / inches))  # fmt: skip
    foot = f"Faint: each score. Thick: mean of the last {LAST_SCORES}. Shaded: questions are asked."
    figure.text(0.5, 0.12 / inches, foot, fontsize=8.5, color=FAINT, ha="center")
    return figure


def _panel(axes: Axes, place: str, rows: Sequence[Row], names: Sequence[str]) -> None:
    axes.set_facecolor(PANEL)
    axes.grid(color="white", linewidth=1.2)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, colors=FAINT, labelsize=9)
    axes.set_title(place, loc="left", fontsize=11, color=INK, weight="bold")
    axes.set_xlabel("epochs", color=INK, fontsize=10)
    part = "held-out accuracy" if score_prefix(rows[0]) == "heldout_" else "accuracy"
    axes.set_ylabel(part, color=INK, fontsize=10)
    asking = [
        p["epochs"] for row in rows for p in row["curve"] if p["questions"] < row["questions"]
    ]
    if asking:
        axes.axvspan(0, max(asking), color="#e9e6dc", linewidth=0, zorder=0)
    for row in rows:
        look: dict[str, Any] = {"color": PALETTES[0][names.index(_name(row))]}
        epochs, scores = _points(row)
        axes.plot(epochs, scores, linewidth=0.9, alpha=0.35, **look)
        axes.plot(epochs, _running_mean(scores), linewidth=2, label=_name(row), **look)
    published = printed(rows[0])
    if published is not None:
        axes.axhline(published, color=INK, linewidth=1, linestyle=(0, (4, 2)), label="published")
    axes.set_xlim(left=0)


def _points(row: Row) -> tuple[list[float], list[float]]:
    metric = f"{score_prefix(row)}acc"
    found = {float(p["epochs"]): float(p[metric]) for p in row["curve"] if p.get("epochs")}
    return list(found), list(found.values())


def _running_mean(scores: Sequence[float]) -> list[float]:
    """The mean of the last scores up to each."""
    return [float(np.mean(scores[max(0, at - LAST_SCORES + 1) : at + 1]))
            for at in range(len(scores))]  # fmt: skip


def _name(row: Row) -> str:
    return f"pairs by {row['strategy']}, seed {row.get('seed')}"
