"""Pictures of a report: panels of curves, and the diagram of critical differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.reports.bands import Band
from samekind.reports.comparison import Ranking
from samekind.reports.plots.canvas import FAINT, INK
from samekind.reports.svg import (
    DASHES,
    GRID,
    LINES,
    MARKERS,
    OTHERS,
    svg_figure,
    svg_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _HIGH = 4.1, 2.75  # inches of a panel of curves
_LEFT, _RIGHT, _BELOW, _ABOVE = 0.42, 0.3, 0.42, 0.08
_RANKS = 2.5  # inches of the axis of ranks
_LABEL_GAP = 0.062  # of the height of a panel: numbers closer than this would overlap


def draw_panel(
    name: str,
    bands: Mapping[str, Band],
    numbers: Mapping[str, int],
    colours: Mapping[str, int],
    labels: tuple[str, str],
    heights: tuple[float, float],
) -> str:
    """Draw the curves of all systems; coloured ones and the best of the others get their number.

    Parameters
    ----------
    name : prefix of the ids in this drawing. numbers : the number of each system.
    colours : index of the colour of each system that has one.
    labels : titles of the axes x and y. heights : range of the axis of scores.
    """
    figure = svg_figure(_WIDE, _HIGH)
    axes = figure.add_axes(
        (
            _LEFT / _WIDE,
            _BELOW / _HIGH,
            1 - (_LEFT + _RIGHT) / _WIDE,
            1 - (_BELOW + _ABOVE) / _HIGH,
        )
    )
    most = max(float(band.x[-1]) for band in bands.values())
    _frame(axes, labels, most, heights)
    ends: list[tuple[float, float, str, str]] = []
    best = max(bands, key=lambda system: (bands[system].mean[-1], -numbers[system]))
    for system in sorted(bands, key=lambda system: -numbers[system]):
        band, end = bands[system], str(numbers[system])
        place = colours.get(system)
        if place is not None:
            _line(axes, band, place)
            ends.append((float(band.x[-1]), float(band.mean[-1]), end, LINES[place]))
        else:
            dot = "o" if len(band.x) == 1 else ""  # scored once: a dot
            axes.plot(
                band.x, band.mean, dot + "-", color=OTHERS, linewidth=0.9, markersize=3, zorder=2
            )
            if system == best:
                ends.append((float(band.x[-1]), float(band.mean[-1]), end, OTHERS))
    _number(axes, ends)
    return svg_text(figure, name)


def _frame(axes: Axes, labels: tuple[str, str], most: float, heights: tuple[float, float]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.patch.set_alpha(0)
    axes.spines[:].set_visible(False)
    axes.spines["bottom"].set(visible=True, color=FAINT, linewidth=0.7)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=FAINT, labelsize=8.5, pad=4)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axes.set(xlim=(-0.015 * most, most * 1.02 or 1.0), ylim=heights)
    axes.set_xlabel(labels[0], color=FAINT, fontsize=9, labelpad=3)
    axes.set_ylabel(labels[1], color=FAINT, fontsize=9, labelpad=2)


def _tick(value: float) -> str:
    """A score beside the axis, with as many decimals as it needs."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".") if "." in text else text.removeprefix("-") or "0"


def _line(axes: Axes, band: Band, place: int) -> None:
    look: dict[str, Any] = {"color": LINES[place], "zorder": 20 - place}
    if band.seeds > 1:
        axes.fill_between(
            band.x, band.low, band.high, alpha=0.16, linewidth=0, color=LINES[place], zorder=3
        )
    strokes = [float(part) for part in DASHES[place].split()]
    style: Any = (0, tuple(strokes)) if strokes else "-"
    even = np.linspace(band.x[0], band.x[-1], min(7, len(band.x)))
    shown = np.unique(np.abs(band.x[:, None] - even).argmin(axis=0))
    axes.plot(
        band.x, band.mean, linestyle=style, linewidth=1.6, marker=MARKERS[place], markersize=4,
        markeredgewidth=0, markevery=shown.tolist(), **look,
    )  # fmt: skip


def _number(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write numbers beside the ends of their lines."""
    low, high = axes.get_ylim()
    wide = axes.get_xlim()[1]
    gap = _LABEL_GAP * (high - low)
    for some in _neighbours(ends, 0.1 * wide):
        some = sorted(some, key=lambda end: (round(end[1], 3), -int(end[2])))
        heights = spread([y for _, y, _, _ in some], gap, low + gap / 2, high - gap / 3)
        right = max(x for x, *_ in some) + 0.012 * wide
        for (x, y, text, colour), height in zip(some, heights, strict=True):
            axes.plot(
                [x, right, right + 0.03 * wide], [y, y, height], color=colour, linewidth=0.6,
                alpha=0.75, clip_on=False, zorder=1,
            )  # fmt: skip
            axes.text(
                right + 0.037 * wide, height, text, fontsize=8.5, color=INK, va="center",
                ha="left", zorder=30,
            )  # fmt: skip


def _neighbours(
    ends: Sequence[tuple[float, float, str, str]], near: float
) -> list[list[tuple[float, float, str, str]]]:
    """Group line ends that have nearly the same x."""
    found: list[list[tuple[float, float, str, str]]] = []
    for end in sorted(ends):
        if found and end[0] - found[-1][-1][0] <= near:
            found[-1].append(end)
        else:
            found.append([end])
    return found


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move rising heights apart to at least `gap`, each as little as possible, within bounds.

    >>> [round(height, 2) for height in spread([0.5, 0.5, 0.9], 0.1, 0.0, 1.0)]
    [0.45, 0.55, 0.9]
    """
    steps = np.arange(len(heights)) * gap
    wanted = np.asarray(heights, dtype=np.float64) - steps
    pools: list[list[float]] = []  # neighbours that push each other stand around their mean
    for value in wanted.tolist():
        pools.append([value])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pushed = pools.pop()
            pools[-1] = pools[-1] + pushed
    placed = np.concatenate([[float(np.mean(pool))] * len(pool) for pool in pools])
    top = high - (len(heights) - 1) * gap
    found: list[float] = (np.clip(placed, low, max(low, top)) + steps).tolist()
    return found


def draw_ranks(name: str, ranking: Ranking, names: Mapping[str, str]) -> str:
    """Draw mean ranks as dots; a bar joins systems that do not differ significantly."""
    k, bars = len(ranking.systems), len(ranking.together)
    left = 0.25 + 0.073 * max(len(names[system]) for system in ranking.systems)
    right, above = 0.2 + 0.13 * bars, 0.62
    wide, high = left + _RANKS + right, above + 0.25 * k + 0.1
    figure = svg_figure(wide, high)
    axes = figure.add_axes(
        (left / wide, 0.1 / high, _RANKS / wide, 1 - (above + 0.1) / high), facecolor="none"
    )
    axes.set(xlim=(0.8, k + 0.2), ylim=(k - 0.4, -0.6))
    axes.spines[:].set_visible(False)
    axes.xaxis.tick_top()
    ticks = list(range(1, k + 1, max(1, -(-k // 9))))
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(range(k), [names[system].replace("$", r"\$") for system in ranking.systems])
    axes.tick_params(length=0, labelsize=9, labelcolor=INK, pad=5)
    axes.tick_params(axis="x", labelcolor=FAINT, labelsize=8.5)
    axes.grid(axis="both", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.plot(ranking.ranks, range(k), "o", color=LINES[0], markersize=5.5, markeredgewidth=0)
    for row, rank in enumerate(ranking.ranks.tolist()):
        inside = rank < k - 0.16 * k
        shift = 0.025 * k * (1 if inside else -1)
        axes.text(
            rank + shift, row, f"{rank:.2f}", fontsize=8.5, color=INK, va="center",
            ha="left" if inside else "right",
        )  # fmt: skip
    inch = (k - 0.6) / _RANKS  # ranks per inch of the axis
    reach = k + 0.2 + (0.16 + 0.13 * bars) * inch
    axes.hlines(range(k), k + 0.2, reach, color=GRID, linewidth=0.8, clip_on=False, zorder=0)
    for at, (first, last) in enumerate(ranking.together):
        x = k + 0.2 + (0.16 + 0.13 * at) * inch
        axes.plot(
            [x, x], [first - 0.22, last + 0.22], color=INK, linewidth=3, clip_on=False,
            solid_capstyle="butt",
        )  # fmt: skip
    y = -0.6 - 0.37 / 0.25
    end = min(1 + ranking.critical, k + 0.2)
    axes.plot([1, end], [y, y], color=INK, linewidth=1.4, clip_on=False, marker="|", markersize=6)
    axes.text(
        end + 0.02 * k if end < 0.6 * k else 1, y if end < 0.6 * k else y - 0.42,
        f"critical difference {ranking.critical:.2f}",
        fontsize=8.5, color=INK, va="center", ha="left",
    )  # fmt: skip
    return svg_text(figure, name)
