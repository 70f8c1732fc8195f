"""Curves: the score over the number of answers (PCL Fig. 4, OCC Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError
from samekind.reports.bands import Band, line
from samekind.reports.plots.canvas import FAINT, INK, PALETTES, new_figure, style_panel
from samekind.reports.results import Result
from samekind.simulation.rows import Row, upgraded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DISTINGUISHING = (
    "learner", "strategy", "profile", "encoder", "attention", "groups_given", "person",
)  # fmt: skip
"""Keys that separate lines when rows differ in them and no keys are given."""
PANELS = {"items that were sorted": "{}", "held-out items": "heldout_{}"}
"""The two sides of a picture, and the name of a score there."""
TITLES = {
    "acc": "accuracy", "nmi": "NMI", "ari": "ARI", "fm": "Fowlkes-Mallows",
    "pair_f1": "pair F1", "bcubed": "B-cubed F",
}  # fmt: skip
"""Titles of the scores beside an axis."""
Found = Mapping[tuple[str, str], Mapping[str, Mapping[str, Band]]]
"""Bands by facet and score, by line, by panel."""
_DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.6, 1.2, 1.6)))
_WIDE, _HIGH = 4.1, 3.1  # inches of a panel with its axes


def draw_curves(
    rows: Sequence[Row],
    *,
    metric: str | Sequence[str] = "acc",
    by: Sequence[str] = (),
    log: bool = False,
    seeds: bool = False,
) -> Figure:
    """Draw the score over the number of answers: sorted items on the left, held-out on the right.

    Parameters
    ----------
    rows : as :func:`samekind.simulate` returns them, or read by
        :func:`~samekind.simulation.rows.read_runs`. Each set and orientation gets a row of panels.
        Rows that differ only in their seed make one line: their mean, with a 95 % band.
    metric : acc, nmi, ari, ..., or several: each gets a row of panels, or a column where no items
        were held out. by : keys that separate lines; empty: those that differ.
    log : use a logarithmic axis of answers, with 0 at its left end.
    seeds : draw the line of each seed faintly in place of the band, for few and scattered runs.
    """
    rows = [upgraded(row) for row in rows]
    metrics = [metric] if isinstance(metric, str) else list(metric)
    some_rows = facets(rows)
    found = {(facet, one): _lines(some, one, by) for facet, some in some_rows.items()
             for one in metrics}  # fmt: skip
    panels = [p for p in PANELS if any(p in b for named in found.values() for b in named.values())]
    if not panels:
        known = sorted({key for row in rows for point in row["curve"] for key in point})
        asked = " or ".join(map(repr, metrics))
        raise InputError(f"No curve has the score {asked}. Known: {', '.join(known)}.")
    names = list(dict.fromkeys(name for named in found.values() for name in named))
    side_by_side = len(panels) == 1
    columns = len(metrics) if side_by_side else len(panels)
    high = len(some_rows) * (1 if side_by_side else len(metrics))
    figure = new_figure(_WIDE * max(columns, 1.35), _HIGH * high)
    grid = figure.subplots(high, columns, squeeze=False, sharey=False if side_by_side else "row")
    cells = [(key, panel) for key in found for panel in panels]
    for place, (axes, (key, panel)) in enumerate(zip(grid.flat, cells, strict=True)):
        _panel(axes, panel, log, _answer_range(found))
        for name, by_panel in found[key].items():
            if panel in by_panel:
                _line(axes, by_panel[panel], names.index(name), name, band=not seeds)
        for name, some in lines(some_rows[key[0]], by).items() if seeds else ():
            for run in some:
                if panel in (alone := bands([run], key[1])):
                    _faint_line(axes, alone[panel], names.index(name))
        first = place % columns == 0
        if first and key[1] == metrics[0]:
            axes.set_title(key[0], loc="left", fontsize=11.5, color=INK, weight="bold", pad=22)
        if first or side_by_side:
            axes.set_ylabel(TITLES.get(key[1], key[1]), color=INK, fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel("answers", color=INK, fontsize=10)
    _legend(figure, names, found, seeds)
    return figure


def facets(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by set and orientation: ``tiles, colour``."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = ", ".join(str(row[key]) for key in ("set", "orientation") if row.get(key))
        found.setdefault(name, []).append(row)
    return found


def lines(rows: Sequence[Row], by: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Rows by line. `by` names the keys that separate lines; empty: those that differ."""
    for key in by:
        if not any(key in row for row in rows):
            known = sorted({name for row in rows for name in row} - {"curve"})
            raise InputError(f"No row has the key {key!r}. Known: {', '.join(known)}.")
    keys = by or [key for key in DISTINGUISHING if len({str(row.get(key)) for row in rows}) > 1]
    keys = keys or [key for key in ("learner", "strategy") if any(row.get(key) for row in rows)]
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = " + ".join(filter(None, (_label(key, row.get(key)) for key in keys)))
        found.setdefault(name, []).append(row)
    return found


def bands(rows: Sequence[Row], metric: str) -> dict[str, Band]:
    """The bands of one line, by panel; a panel is left out when no curve has its score."""
    found = {}
    for panel, name in PANELS.items():
        results = [Result.of(row) for row in rows]
        curves = [one for result in results if (one := line(result, name.format(metric)))]
        if curves and (band := Band.of([curves])) is not None:
            found[panel] = band
    return found


def check_seeds(named: Mapping[str, Sequence[Row]]) -> None:
    """Raise an error if a line has two runs of one seed, which must differ in something else."""
    for name, rows in named.items():
        seeds = [str(row.get("seed")) for row in rows]
        twice = next((seed for seed in seeds if seeds.count(seed) > 1), None)
        if twice is not None:
            raise InputError(
                f"The line {name!r} has {seeds.count(twice)} runs with seed {twice}. Name the key "
                "in which they differ with --by KEY (--by file if nothing else fits)."
            )


def _label(key: str, value: Any) -> str:
    """A value in a legend; empty for what is off, not given, zero or usual."""
    if isinstance(value, str):
        value = f"({value})" if " + " in value else value
        usual = (key, value) == ("person", "perfect")
        return f"{key} {value}" if value in ("auto", "on", "off") else "" if usual else value
    if not value:
        return f"no {key}" if value is False else ""
    return key if value is True else f"{key.replace('_', ' ')} {value}"


def _lines(rows: Sequence[Row], metric: str, by: Sequence[str]) -> dict[str, dict[str, Band]]:
    named = lines(rows, by)
    check_seeds(named)
    return {name: bands(some, metric) for name, some in named.items()}


def _answer_range(found: Found) -> tuple[float, float]:
    """The smallest number of answers above 0, and the largest."""
    every = [x for f in found.values() for n in f.values() for b in n.values() for x in b.x]
    above = [x for x in every if x > 0] or [1.0]
    return float(min(above)), float(max(above))


def _panel(axes: Axes, title: str, log: bool, span: tuple[float, float]) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    style_panel(axes)
    axes.text(0, 1.03, title, transform=axes.transAxes, fontsize=10, color=FAINT)
    if log:
        # Logarithmic from the first answers on, linear before them, so that 0 can be shown.
        axes.set_xscale("symlog", linthresh=span[0], linscale=0.5)
        axes.set_xticks([0.0, *_round_numbers(*span)])
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlim(-0.08 * span[0] if log else -0.02 * span[1], span[1] * (1.15 if log else 1.02))


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... between two numbers; only the tens when the span is long."""
    steps = (1, 2, 5) if high / low <= 30 else (1,)
    every = [step * 10.0**power for power in range(10) for step in steps]
    return [number for number in every if low <= number <= high]


def _line(axes: Axes, line: Band, place: int, name: str, *, band: bool) -> None:
    look: dict[str, Any] = {"color": _ink(place)}
    if band:
        axes.fill_between(line.x, line.low, line.high, alpha=0.15, linewidth=0, **look)
    dots = "o" if len(line.x) <= 12 else ""
    size = 3.6 if len(line.x) > 1 else 7.0  # a point by itself must be found
    axes.plot(line.x, line.mean, linestyle=_dash(place), linewidth=1.8, marker=dots,
              markersize=size, label=name, zorder=3, **look)  # fmt: skip


def _faint_line(axes: Axes, line: Band, place: int) -> None:
    axes.plot(line.x, line.mean, color=_ink(place), linewidth=0.8, alpha=0.28, zorder=2)


def _ink(place: int) -> str:
    return PALETTES[0][place % len(PALETTES[0])]


def _dash(place: int) -> Any:
    return _DASHES[place % len(_DASHES)]


def _legend(figure: Figure, names: Sequence[str], found: Found, each_seed: bool) -> None:
    """Draw one legend below all panels, and a line that explains the bands."""
    from matplotlib.lines import Line2D

    samples = [
        Line2D([], [], color=_ink(at), linestyle=_dash(at), linewidth=2, label=name or "this run")
        for at, name in enumerate(names)
    ]
    runs = sorted({b.seeds for f in found.values() for n in f.values() for b in n.values()})
    seeds = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    shown = "faint: each seed" if each_seed else "with the 95 % interval of the mean (Student)"
    foot = f"Mean over {seeds} seeds, {shown}."
    alone = "One seed." if each_seed else "One seed, so there is no band."
    foot = alone if runs == [1] else foot
    high = figure.get_size_inches()[1]
    wide = figure.get_size_inches()[0]
    columns = max(1, min(len(names), int(wide / (0.7 + 0.085 * max(map(len, names), default=1)))))
    deep = 0.21 * -(-len(names) // columns) + 0.3
    figure.set_size_inches(wide, high + deep)
    figure.tight_layout(rect=(0, deep / (high + deep), 1, 1), w_pad=1.8, h_pad=1.6)
    figure.legend(
        handles=samples, loc="lower center", ncols=columns, frameon=False, fontsize=9.5,
        labelcolor=INK, bbox_to_anchor=(0.5, 0.3 / (high + deep)), borderaxespad=0,
    )  # fmt: skip
    figure.text(0.5, 0.12 / (high + deep), foot, fontsize=8.5, color=FAINT, ha="center")
