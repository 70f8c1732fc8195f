"""Draws the accuracy of whole trainings over their epochs, with the printed figure beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.results.gpu import LAST_SCORES
from benchmarks.results.labels import learner_label
from benchmarks.results.own import printed, score_prefix, set_name, whole_runs
from samekind.reports.plots.canvas import FAINT, INK, PALETTES, new_figure, style_panel
from samekind.simulation.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, HIGH = 4.6, 3.2


def training_rows(method: str, rows: Sequence[Row]) -> list[Row]:
    """Trainings by epochs that were scored at several epochs."""
    return [row for row in whole_runs(rows, method) if len(_points(row)[0]) > 1]


def draw_training(rows: Sequence[Row]) -> Figure:
    """One panel per set: each score faint, asking shaded, then the mean of the last ten in full."""
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
    lines = -(-len(keys) // 2)
    figure.tight_layout(rect=(0, (0.38 + 0.24 * lines) / inches, 1, 1), w_pad=2, h_pad=2)
    figure.legend(keys.values(), keys, loc="lower center", ncols=2, frameon=False, fontsize=9.5,
                  labelcolor=INK, bbox_to_anchor=(0.5, 0.3 / inches))  # fmt: skip
    foot = (
        "Faint: each score. Shaded: until the last question. Thick: mean of up to "
        f"{LAST_SCORES} scores since."
    )
    figure.text(0.5, 0.12 / inches, foot, fontsize=8.5, color=FAINT, ha="center")
    return figure


def _panel(axes: Axes, place: str, rows: Sequence[Row], names: Sequence[str]) -> None:
    style_panel(axes)
    axes.set_title(place, loc="left", fontsize=11, color=INK, weight="bold")
    axes.set_xlabel("epochs", color=INK, fontsize=10)
    part = "held-out accuracy" if score_prefix(rows[0]) == "heldout_" else "accuracy"
    axes.set_ylabel(part, color=INK, fontsize=10)
    asked_until = max(map(_last_question, rows))
    if asked_until:
        axes.axvspan(0, asked_until, color="#e9e6dc", linewidth=0, zorder=0)
    for row in rows:
        look: dict[str, Any] = {"color": PALETTES[0][names.index(_name(row))]}
        epochs, scores = _points(row)
        axes.plot(epochs, scores, linewidth=1.0, alpha=0.45, **look)
        after = [at for at, epoch in enumerate(epochs) if epoch > _last_question(row)]
        means = _running_mean([scores[at] for at in after])
        dot = "o" if len(after) == 1 else ""
        axes.plot([epochs[at] for at in after], means, linewidth=2, marker=dot, markersize=5,
                  label=_name(row), **look)  # fmt: skip
    published = printed(rows[0])
    if published is not None:
        axes.axhline(published, color=INK, linewidth=1, linestyle=(0, (4, 2)), label="published")
    axes.set_xlim(left=0)


def _points(row: Row) -> tuple[list[float], list[float]]:
    metric = f"{score_prefix(row)}acc"
    found = {float(p["epochs"]): float(p[metric]) for p in row["curve"] if p.get("epochs")}
    return list(found), list(found.values())


def _last_question(row: Row) -> float:
    """The last scored epoch before the last question; 0: all were asked before the first score."""
    before = [p["epochs"] for p in row["curve"] if p["questions"] < row["questions"]]
    return max((float(epoch) for epoch in before if epoch), default=0.0)


def _running_mean(scores: Sequence[float]) -> list[float]:
    """The mean of the last scores up to each."""
    return [float(np.mean(scores[max(0, at - LAST_SCORES + 1) : at + 1]))
            for at in range(len(scores))]  # fmt: skip


def _name(row: Row) -> str:
    return f"{learner_label([row])}, pairs by {row['strategy']}, seed {row.get('seed')}"
