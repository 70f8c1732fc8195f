"""Evolution: maps of the learnt space before and after answers (PCL Fig. 5, OCC Fig. 4)."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions.wording import plural
from samekind.reports.plots.canvas import (
    FAINT,
    INK,
    UNKNOWN,
    Sheet,
    colours,
    marker,
    percent,
)
from samekind.reports.plots.maps import Plane, maps
from samekind.reports.plots.snapshots import Snapshot, Snapshots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ITEMS = 3000
MAX_NAMES = 22
"""Names in a legend; the smallest kinds share a last line."""
_SIDE, _LEFT = 2.75, 0.3  # inches
_NUMBERS = {2: "two", 3: "three", 4: "four"}


def draw_evolution(snapshots: Snapshots, *, most: int = MAX_ITEMS, seed: int = 0) -> Figure:
    """Draw one column per snapshot and one row per orientation, coloured by its true kinds.

    Parameters
    ----------
    most : items to draw; more are sampled, the same ones in every panel.
    seed : of the sample and of the maps; the same seed gives the same picture.
    """
    if not snapshots.moments:
        raise InputError("There is no snapshot to draw. Add one with Snapshots.with_moment.")
    shown = snapshots.sampled(most, seed=seed)
    planes = maps([moment.vectors for moment in shown.moments], seed=seed)
    rows = [Kinds.of(name, truth, at) for at, (name, truth) in enumerate(shown.truths.items())]
    sheet = kinds_sheet(len(rows), len(planes), max(kinds.legend_width() for kinds in rows))
    order = np.random.default_rng(seed).permutation(shown.n_items)
    for column, moment in enumerate(shown.moments):
        _heading(sheet, column, moment)
        for row, kinds in enumerate(rows):
            panel = sheet.panel(row, column)
            _scatter(panel, planes[column], kinds, order)
            _accuracy(panel, moment, kinds.orientation)
    for row, kinds in enumerate(rows):
        draw_legend(sheet, row, kinds)
    _captions(sheet, snapshots, shown.n_items)
    return sheet.figure


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of one orientation: names, codes (-1: not known), colours and shapes of dots."""

    orientation: str
    names: Sequence[str]
    codes: NDArray[np.intp]
    colours: Sequence[str]

    @classmethod
    def of(cls, orientation: str, truth: NDArray[Any], palette: int = 0) -> Kinds:
        """The kinds in numeric or alphabetic order."""
        texts = truth.astype(np.str_)
        names = sorted(set(texts.tolist()) - {"", "-1"}, key=_number_or_text)
        place = {name: at for at, name in enumerate(names)}
        codes = np.array([place.get(text, -1) for text in texts.tolist()], dtype=np.intp)
        return cls(orientation, names, codes, colours(names, palette))

    def legend_width(self) -> float:
        """Inches that the legend takes beside the panels."""
        longest = max(map(len, [self.orientation, *self.shown_names()]), default=0)
        return 0.55 + 0.085 * min(longest, 24)

    def shown_names(self) -> list[str]:
        """Names for the legend, shortened where they are long."""
        return [textwrap.shorten(name, 24, placeholder="…") or name[:24] for name in self.names]


def _number_or_text(name: str) -> tuple[int, str]:
    """A key that puts 9 before 10, and numbers before words."""
    return (int(name), "") if name.isdecimal() else (sys.maxsize, name)


def kinds_sheet(rows: int, columns: int, legend: float) -> Sheet:
    """A sheet with a legend of this width at the right."""
    return Sheet(
        rows, columns, side=_SIDE, gap=0.2, line=0.42, left=_LEFT, top=1.36, right=legend,
        bottom=0.5,
    )  # fmt: skip


def _heading(sheet: Sheet, column: int, moment: Snapshot) -> None:
    left, top = sheet.corner(0, column)
    title = textwrap.shorten(moment.title, 36, placeholder="…")
    count = plural(moment.answers, "answer")
    sheet.write(left, top - 0.57, title, 11, weight="bold")
    sheet.write(left, top - 0.38, count, 9.5, color=FAINT)


def _accuracy(panel: Axes, moment: Snapshot, orientation: str) -> None:
    """Write the accuracy for this orientation; bold where it was asked about."""
    asked = moment.asked == orientation
    panel.set_title(
        f"{orientation}: {percent(moment.acc[orientation])} right",
        loc="left", fontsize=9.5, pad=4, color=INK if asked else FAINT,
        weight="bold" if asked else "normal",
    )  # fmt: skip
    if asked:
        panel.spines[:].set(color=INK, linewidth=1.1)


def _scatter(panel: Axes, plane: Plane, kinds: Kinds, order: NDArray[np.intp]) -> None:
    """Draw all items in random order, so that no kind covers the others."""
    size = float(np.clip(5500 / len(plane), 3.5, 30))
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.35 if size > 8 else 0.1}
    shapes = np.array([marker(max(code, 0)) for code in kinds.codes])
    inks = np.array([*kinds.colours, UNKNOWN])
    for shape in dict.fromkeys(shapes.tolist()):
        some = order[shapes[order] == shape]
        panel.scatter(
            plane[some, 0], plane[some, 1], s=size, c=inks[kinds.codes[some]], marker=shape,
            rasterized=len(plane) > 500, **look,
        )  # fmt: skip


def draw_legend(sheet: Sheet, row: int, kinds: Kinds) -> None:
    """Write the names of the kinds beside the row; only the commonest if there are many."""
    from matplotlib.lines import Line2D

    sizes = np.bincount(kinds.codes[kinds.codes >= 0], minlength=len(kinds.names))
    named = np.arange(len(sizes))
    if len(named) > MAX_NAMES:
        named = np.sort(np.argsort(-sizes, kind="stable")[: MAX_NAMES - 1])
    texts = kinds.shown_names()
    entries = [(texts[k], kinds.colours[k], marker(k)) for k in named.tolist()]
    if len(named) < len(sizes):
        entries.append((f"and {len(sizes) - len(named)} more", "none", "o"))
    if (kinds.codes < 0).any():
        entries.append(("not known", UNKNOWN, "o"))
    dots = [
        Line2D([], [], linestyle="", marker=shape, color=ink, markersize=6.5, label=text)
        for text, ink, shape in entries
    ]
    left, top = sheet.corner(row, sheet.columns)
    legend = sheet.figure.legend(
        handles=dots, title=kinds.orientation, loc="upper left", frameon=False, fontsize=9.5,
        bbox_to_anchor=sheet.at(left - 0.05, top - 0.08), alignment="left", labelcolor=INK,
        labelspacing=0.45 if len(entries) < 12 else 0.1, borderaxespad=0, handletextpad=0.4,
        handlelength=0.8,
    )  # fmt: skip
    legend.get_title().set(fontsize=10, weight="bold", color=INK)


def _captions(sheet: Sheet, snapshots: Snapshots, n_shown: int) -> None:
    name = snapshots.name or "One pile"
    count = len(snapshots.truths)
    words = "one orientation" if count == 1 else f"{_NUMBERS.get(count, count)} orientations"
    sheet.write(_LEFT, 0.42, f"{name}: one pile, {words}", 14)
    few = f"{n_shown:,} of {snapshots.n_items:,}" if n_shown < snapshots.n_items else f"{n_shown:,}"
    foot = f"Maps (t-SNE) of the learnt vectors of {few} items, coloured by their true kinds."
    note = f" {snapshots.note}." if snapshots.note else ""
    sheet.write(_LEFT, sheet.height - 0.2, foot + note, 8.5, color=FAINT)
