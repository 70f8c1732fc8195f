"""IDC's Tables 2, 3 and 4 and its Figure 4 from the rows of ``recipes/idc.py --grid``.

Rows of whole networks (``benchmarks/gpu/idc-*.json``) are taken where there are any for a table or
the figure, else those in small, on frozen vectors (``benchmarks/rows/idc-frozen.jsonl``). Scored is
the network alone, as published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.results.gpu import GRID
from benchmarks.results.rows import machines, numbers, spread
from samekind.reports.markdown import pipe_table
from samekind.simulation.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTIONS, OFFERED = 500, 5
"""M and T of the published tables."""
ALL = ["pos", "neg", "reg"]
STARTS = {"tcl": "TCL", "propos": "ProPos", "simclr": "SimCLR", "byol": "BYOL", "cc": "CC"}
PEOPLE = {"matched": "answers as published", "perfect": "the person sees the exemplars"}
LEARNERS = ("IDC", "IDC, as printed", "IDC, repaired", "IDC, calibrated")
"""In the order of their lines."""
SELECTIONS = {
    "value-hard": "Hard", "value-hard-rep": "Hard+Rep", "value": "Hard+Rep+Div", "value-random": "",
}  # fmt: skip
"""Lines of Table 3; items drawn at random are not in it."""
SETS = {"cifar10": "CIFAR-10", "cifar20": "CIFAR-20"}
SCORE = "network_acc"


def in_small(row: Row) -> bool:
    """Whether a row is about frozen vectors."""
    return str(row["set"]).endswith("-frozen")


def _usual(row: Row) -> bool:
    """All three losses, five groups offered."""
    return row["parameters"]["losses"] == ALL and row["strategy_with"]["shown"] == OFFERED


USES: dict[str, Callable[[Row], bool]] = {
    "idc-2": lambda row: _usual(row) and row["strategy"] == "value" and not in_small(row),
    "idc-3": _usual,
    "idc-4": lambda row: row["strategy"] == "value" and row["strategy_with"]["shown"] == OFFERED,
    "figure": lambda row: row["strategy"] == "value" and row["parameters"]["losses"] == ALL,
}
"""Which rows a table, or the figure, is about."""


def grid_rows(use: str, rows: Iterable[Row]) -> list[Row]:
    """The rows for a table or the figure: of whole networks if there are any."""
    if use not in USES:
        return []
    found = [row for row in rows if row.get("suite") == GRID and USES[use](row)]
    if use in ("idc-3", "idc-4"):  # these compare lines that differ in just this
        varied = "strategy" if use == "idc-3" else "learner"
        several = {_setting(row) for row in found if row[varied] not in ("value", *LEARNERS)}
        found = [row for row in found if _setting(row) in several]
    whole = [row for row in found if not in_small(row)]
    return whole or found


def _setting(row: Row) -> tuple[Any, ...]:
    return (row["set"], row["protocol"]["start"], row["parameters"]["profile"], row["person"])


def grid_entries(table: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Lines of a published table, in the form of ``ours.toml``."""
    found = grid_rows(table, rows)
    entries = []
    for start, person, learner in _combinations(found):
        some = [row for row in found if _who(row) == (start, person, learner)]
        begun = "on frozen vectors" if in_small(some[0]) else f"from {STARTS.get(start, start)}"
        words = f"{begun}, {PEOPLE.get(person, f'`{person}`')}"
        where = {"suite": GRID, "protocol.start": start, "person": person,
                 "set": sorted({row["set"] for row in some}), "strategy_with.shown": OFFERED,
                 "parameters.profile": some[0]["parameters"]["profile"]}  # fmt: skip
        for line in _lines(table, start, some):
            named = {"beside": line.beside} if learner == "IDC" and line.beside else {}
            entries.append({
                "tables": [table], "label": f"{{learner}}, {words}{line.words}", "at": line.at,
                "scores": "network_", "where": {**where, **line.where}, **named,
            })  # fmt: skip
    return entries


@dataclass(frozen=True)
class Line:
    """A line of a table: which rows, beside what, after how many answers, words for its label."""

    where: Mapping[str, Any]
    beside: str = ""
    at: int = QUESTIONS
    words: str = ""


def _lines(table: str, start: str, rows: Sequence[Row]) -> list[Line]:
    """The lines of a table that rows of one learner, start and person can have."""
    value = {"strategy": "value", "parameters.losses": [ALL]}
    if table == "idc-2":
        return [Line(value, {"tcl": "IDC (TCL)", "propos": "IDC (ProPos)"}.get(start, ""))]
    if table == "idc-3":
        none = Line(value, "none (pre-trained)", 0, ", before any question")
        return [none, *(Line({**value, "strategy": strategy}, beside, words=f", `{strategy}`")
                        for strategy, beside in SELECTIONS.items())]  # fmt: skip
    losses = sorted({tuple(row["parameters"]["losses"]) for row in rows},
                    key=lambda some: (len(some), [ALL.index(name) for name in some]))  # fmt: skip
    return [Line({**value, "parameters.losses": [list(some)]}, "+".join(some)) for some in losses]


def _combinations(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    found = {_who(row) for row in rows}
    order = (list(STARTS), list(PEOPLE), list(LEARNERS))

    def rank(one: tuple[str, str, str]) -> list[tuple[int, str]]:
        return [(o.index(x) if x in o else len(o), x) for x, o in zip(one, order, strict=True)]

    return sorted(found, key=rank)


def _who(row: Row) -> tuple[str, str, str]:
    """Start, person and learner, whatever losses it left out."""
    learner = str(row["learner"]).split(" without ")[0]
    return str(row["protocol"]["start"]), str(row["person"]), learner


# -- Figure 4 -------------------------------------------------------------------------------------


def figure_lines(rows: Sequence[Row]) -> list[Row]:
    """The rows of Figure 4, each with the name of its line and of its set."""
    lines = []
    for row in grid_rows("figure", rows):
        start, person, learner = _who(row)
        if person not in PEOPLE:
            continue
        name = f"{learner}, {PEOPLE[person]}"
        if not in_small(row):
            name = f"{learner} from {STARTS.get(start, start)}, {PEOPLE[person]}"
        place = SETS[str(row["set"]).removesuffix("-frozen")]
        offered = row["strategy_with"]["shown"]
        lines.append({**row, "line": f"{name} / T = {offered}", "panel": place, "name": name})
    several = {
        (row["name"], row["panel"]) for row in lines if row["strategy_with"]["shown"] != OFFERED
    }
    return [row for row in lines if (row["name"], row["panel"]) in several]


def _curves(rows: Sequence[Row]) -> dict[str, dict[str, dict[int, list[float]]]]:
    """Scores by line, then by axis (M or T), then by the number on it."""
    found: dict[str, dict[str, dict[int, list[float]]]] = {}
    for row in rows:
        axes = found.setdefault(row["name"], {"M": {}, "T": {}})
        offered = row["strategy_with"]["shown"]
        for point in row["curve"]:
            if offered == OFFERED:
                axes["M"].setdefault(int(point["planned"]), []).append(point[SCORE])
            if point["planned"] == QUESTIONS:
                axes["T"].setdefault(offered, []).append(point[SCORE])
    return found


def draw_figure4(rows: Sequence[Row]) -> Figure:
    """Accuracy over the number M of questions and the number T of offered groups, by set."""
    from samekind.reports.plots.canvas import INK, PALETTES, new_figure, style_panel

    places = list(dict.fromkeys(row["panel"] for row in rows))
    figure = new_figure(8.6, 3.2 * len(places) + 0.5)
    grid = figure.subplots(len(places), 2, squeeze=False)
    colours = PALETTES[0]
    names = list(dict.fromkeys(row["name"] for row in rows))
    for place, axes in zip(places, grid, strict=True):
        found = _curves([row for row in rows if row["panel"] == place])
        for axis, key in zip(axes, ("M", "T"), strict=True):
            for name, lines in found.items():
                _line(axis, lines[key], colours[names.index(name) % len(colours)], name)
            style_panel(axis)
            along = "questions (M)" if key == "M" else "groups offered (T)"
            axis.set_xlabel(along, color=INK, fontsize=10)
            axis.set_title(place, loc="left", fontsize=11, color=INK, weight="bold")
        axes[0].set_ylabel("accuracy of the network", color=INK, fontsize=10)
    figure.legend(
        *grid[0][0].get_legend_handles_labels(), loc="lower center", fontsize=9.5, ncols=2,
        frameon=False, labelcolor=INK,
    )  # fmt: skip
    figure.tight_layout(rect=(0, 0.2 * (2 + len(names) / 2) / figure.get_figheight(), 1, 1))
    return figure


def _line(axis: Axes, points: Mapping[int, Sequence[float]], colour: Any, name: str) -> None:
    at = sorted(points)
    means = [mean(points[x]) for x in at]
    axis.plot(at, means, marker="o", ms=4, lw=2, color=colour, label=name)
    for seed in range(max(map(len, points.values()), default=0)):
        ys = [points[x][seed] if seed < len(points[x]) else float("nan") for x in at]
        axis.plot(at, ys, color=colour, alpha=0.25, lw=0.7)


def figure4_text(rows: Sequence[Row]) -> str:
    """Where the figure comes from, and its numbers."""
    small = any(map(in_small, rows))
    seeds = numbers(row["seed"] for row in rows)
    commits = ", ".join(sorted({str(row["commit"]) for row in rows}))
    files = ", ".join(sorted({f"`{source(row)}`" for row in rows}))
    said = "`python recipes/idc.py --grid figure4`"
    said += f", seeds {seeds}, commit {commits}, {machines(rows)}; {files}."
    if small:
        said = (
            "In small, as long as there are no rows of whole networks: a network of two layers on "
            f"frozen vectors of 6,000 pictures. {said}"
        )
    parts = [said]
    for key, title in (("M", "questions (T = 5)"), ("T", "groups offered (M = 500)")):
        parts += ["", _numbers_table(rows, key, title)]
    return "\n".join(parts)


def _numbers_table(rows: Sequence[Row], key: str, title: str) -> str:
    lines, numbers_there = [], set()
    places = list(dict.fromkeys(row["panel"] for row in rows))
    found = {place: _curves([row for row in rows if row["panel"] == place]) for place in places}
    for curves in found.values():
        for axes in curves.values():
            numbers_there |= set(axes[key])
    at = sorted(numbers_there)
    for place, curves in found.items():
        for name, axes in curves.items():
            lines.append([place, name, *(spread(axes[key].get(x, [])) for x in at)])
    return pipe_table(["ACC", title, *map(str, at)], lines)


def source(row: Row) -> str:
    """The file of a row."""
    return str(row["protocol"].get("from") or f"benchmarks/rows/{row['file']}")
