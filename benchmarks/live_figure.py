"""Curves of the suite `live`: a row of panels per set, a panel per orientation and noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from live_report import AIMS, TITLES, at
from live_run import AT, SYSTEMS, Row
from live_sets import plan_of

from samekind.plots.bands import Band
from samekind.plots.canvas import FAINT, INK, PALETTES, PANEL, new_figure, write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, HIGH = 3.5, 2.6  # inches of a panel
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.6, 1.2, 1.6)))

FEWEST_SEEDS = 3
"""With fewer the interval of a mean is wider than any picture."""


def draw(rows: Sequence[Row], file: Path) -> None:
    """Write the picture; an earlier one of that name is replaced."""
    found: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        wrong = f", {row['noise']:.0%} wrong" if row["noise"] else ""
        panel = f"{row['orientation']}{wrong}"
        found.setdefault(row["set"], {}).setdefault(panel, []).append(row)
    names = sorted(
        {row["system"] for row in rows}, key=lambda name: ([*SYSTEMS, name].index(name), name)
    )
    columns = max(len(panels) for panels in found.values())
    figure = new_figure(WIDE * max(columns, 2), HIGH * len(found) + 0.8)
    grid = figure.subplots(len(found), columns, squeeze=False)
    for axes_row, (name, panels) in zip(grid, found.items(), strict=True):
        for axes in axes_row[len(panels) :]:
            axes.set_visible(False)
        for axes, (title, some) in zip(axes_row, panels.items(), strict=False):
            _panel(axes, f"{name}: {title}", some, names)
        axes_row[0].set_ylabel(TITLES[plan_of(name).metric], color=INK, fontsize=8.5)
    _legend(figure, names, rows)
    file.unlink(missing_ok=True)
    write_picture(figure, file)


def _panel(axes: Axes, title: str, rows: Sequence[Row], names: Sequence[str]) -> None:
    metric, budget = plan_of(rows[0]["set"]).metric, max(row["budget"] for row in rows)
    axes.set_facecolor(PANEL)
    axes.set_title(title, loc="left", fontsize=10, color=INK, weight="bold")
    axes.grid(color="white", linewidth=1.2)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, colors=FAINT, labelsize=8)
    axes.set_xscale("symlog", linthresh=10, linscale=0.5)
    ticks = [q for q in (0, 10, 20, 50, 100, 200, 500) if q <= budget]
    axes.set_xticks(ticks, [str(q) for q in ticks])
    axes.minorticks_off()
    for name in names:
        curves = [curve for row in rows if row["system"] == name and (curve := _curve(row, metric))]
        if curves:
            _line(axes, Band.of(curves), names.index(name))
    for aim in AIMS:
        if aim[:3] == (rows[0]["set"], rows[0]["orientation"], rows[0]["noise"]):
            axes.plot(*aim[3:], marker="_", markersize=11, color=INK, markeredgewidth=1.6)


def _curve(row: Row, metric: str) -> tuple[Any, Any] | None:
    points = [(q, value) for q in AT if (value := at(row, q, metric)) is not None]
    if not points:
        return None
    both = np.array(points, dtype=np.float64)
    return both[:, 0], both[:, 1]


def _line(axes: Axes, band: Band, place: int) -> None:
    ink = PALETTES[0][place % len(PALETTES[0])]
    if band.runs >= FEWEST_SEEDS:
        low, high = band.low.clip(min=0.0), band.high.clip(max=1.0)
        axes.fill_between(band.x, low, high, alpha=0.15, linewidth=0, color=ink)
    axes.plot(
        band.x, band.mean, color=ink, linestyle=DASHES[place % len(DASHES)],
        linewidth=2.4 if place == 0 else 1.5, marker="o", markersize=2.8,
    )  # fmt: skip


def _legend(figure: Figure, names: Sequence[str], rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D

    samples = [
        Line2D([], [], color=PALETTES[0][k % len(PALETTES[0])], linestyle=DASHES[k % len(DASHES)],
               linewidth=2, label=f"{name} (K given)" if name == "margin" else name)
        for k, name in enumerate(names)
    ]  # fmt: skip
    samples.append(Line2D([], [], color=INK, linestyle="", marker="_", markersize=11, label="aim"))
    seeds = len({row["seed"] for row in rows})
    foot = f"Mean of up to {seeds} seeds, 95 % interval of the mean where there are {FEWEST_SEEDS}."
    foot = "One seed." if seeds == 1 else foot
    high = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0.75 / high, 1, 1), w_pad=1.2, h_pad=1.2)
    figure.legend(handles=samples, loc="lower center", ncols=len(samples), frameon=False,
                  fontsize=9.5, labelcolor=INK, bbox_to_anchor=(0.5, 0.32 / high))  # fmt: skip
    figure.text(
        0.5, 0.14 / high, f"Answers, on a logarithmic scale from 10. {foot}", fontsize=8.5,
        color=FAINT, ha="center",
    )  # fmt: skip
