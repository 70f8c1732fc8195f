"""Picks: the items that different strategies would ask about, on one map."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.reports.plots.canvas import FAINT, INK, UNKNOWN, Sheet, marker, percent
from samekind.reports.plots.evolution import MAX_ITEMS, Kinds, draw_legend, kinds_sheet
from samekind.reports.plots.maps import Plane, maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Picks:
    """One pile, and the items that several ways of choosing pick from it.

    Parameters
    ----------
    vectors : (n, d) where the items lie. labels : (n,) the groups before any answer.
    orientation, truth : what the person has in mind, and (n,) the true kind of each item.
    chosen : the picked items by the name of the choice, in the order of picking.
    standing : the items that stand for the groups in the questions.
    """

    vectors: NDArray[Any]
    labels: Ints
    orientation: str
    truth: NDArray[Any]
    chosen: Mapping[str, Sequence[int]]
    standing: Sequence[int] = field(default=())
    name: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        n = len(self.vectors)
        if not self.chosen:
            raise InputError("There is no choice to draw. Give at least one, with its items.")
        if self.labels.shape != (n,) or self.truth.shape != (n,):
            raise InputError(
                f"Expected one group and one kind for each of {n} vectors, got groups of shape "
                f"{self.labels.shape} and kinds of shape {self.truth.shape}."
            )
        for name, items in self.chosen.items():
            if len(items) and not 0 <= min(items) <= max(items) < n:
                raise InputError(f"{name!r} picks items that are not there (0 to {n - 1} are).")

    @property
    def misplaced(self) -> NDArray[np.bool_]:
        """(n,) items in a group most of which is of another kind: where an answer can help."""
        kinds, kind = np.unique(self.truth, return_inverse=True)
        groups, group = np.unique(self.labels, return_inverse=True)
        shared = np.zeros((len(groups), len(kinds)), dtype=np.intp)
        np.add.at(shared, (group, kind), 1)
        return np.asarray(shared.argmax(axis=1)[group] != kind)

    def summary(self, choice: str) -> str:
        """The number of misplaced items and of kinds among the picks of a choice."""
        items = np.array(self.chosen[choice], dtype=np.intp)
        wrong, kinds = int(self.misplaced[items].sum()), len(np.unique(self.truth[items]))
        return f"{wrong} of {len(items)} misplaced, {kinds} of {len(np.unique(self.truth))} kinds"


def draw_picks(picks: Picks, *, most: int = MAX_ITEMS, seed: int = 0) -> Figure:
    """Draw one map of the items for each choice; the picked items have a dark ring.

    Parameters
    ----------
    most : other items to draw; more are sampled, the same ones in every panel.
    seed : of the sample and of the map; the same seed gives the same picture.
    """
    drawn = _sampled(picks, most, seed)
    (plane,) = maps([picks.vectors[drawn]], seed=seed)
    kinds = Kinds.of(picks.orientation, picks.truth[drawn])
    sheet = kinds_sheet(1, len(picks.chosen), kinds.legend_width())
    order = np.random.default_rng(seed).permutation(len(drawn))
    place = {int(item): at for at, item in enumerate(drawn.tolist())}
    standing = [place[int(item)] for item in picks.standing]
    for column, (title, items) in enumerate(picks.chosen.items()):
        left, top = sheet.corner(0, column)
        heading = textwrap.shorten(title, 36, placeholder="…")
        sheet.write(left, top - 0.3, heading, 10, weight="bold")
        sheet.write(left, top - 0.1, picks.summary(title), 9.5, color=FAINT)
        chosen = np.array([place[int(item)] for item in items], dtype=np.intp)
        _panel(sheet.panel(0, column), plane, kinds, order, chosen, standing)
    draw_legend(sheet, 0, kinds)
    _captions(sheet, picks, len(drawn))
    return sheet.figure


def _sampled(picks: Picks, most: int, seed: int) -> Ints:
    """Positions to draw: a sample of the items, and all picked and central ones."""
    n = len(picks.vectors)
    some = np.arange(n)
    if n > most:
        some = np.random.default_rng(seed).choice(n, most, replace=False)
    named = [np.asarray(items, dtype=np.intp) for items in picks.chosen.values()]
    return np.unique(np.concatenate([some, *named, np.asarray(picks.standing, dtype=np.intp)]))


def _panel(
    panel: Axes, plane: Plane, kinds: Kinds, order: Ints, chosen: Ints, standing: Sequence[int]
) -> None:
    """Draw all items pale, the picked ones over them, and crosses on exemplars."""
    inks = np.array([*kinds.colours, UNKNOWN])
    shapes = np.array([marker(max(code, 0)) for code in kinds.codes])
    small = float(np.clip(5500 / len(plane), 3.5, 24))
    for items, size, look in (
        (order, small, {"alpha": 0.28, "linewidths": 0}),
        (chosen, 40.0, {"edgecolors": INK, "linewidths": 1.0, "zorder": 3}),
    ):
        for shape in dict.fromkeys(shapes[items].tolist()):
            some = items[shapes[items] == shape]
            panel.scatter(
                plane[some, 0], plane[some, 1], s=size, c=inks[kinds.codes[some]], marker=shape,
                rasterized=len(items) > 500, **look,
            )  # fmt: skip
    if len(standing):
        for width, ink in ((3.2, "white"), (1.5, INK)):  # a white rim keeps crosses readable
            panel.scatter(
                plane[standing, 0], plane[standing, 1], s=42, c=ink, marker="x", linewidths=width,
                zorder=4,
            )  # fmt: skip


def _captions(sheet: Sheet, picks: Picks, n_drawn: int) -> None:
    n, most = len(picks.vectors), max(len(items) for items in picks.chosen.values())
    title = f"{picks.name or 'One pile'}: which {most} items would be asked about"
    sheet.write(0.3, 0.66, title, 14)
    few = f"{n_drawn:,} of {n:,}" if n_drawn < n else f"{n:,}"
    cross = " Crosses: items that stand for the groups." if len(picks.standing) else ""
    foot = f"Map (t-SNE) of {few} items, coloured by their true kinds. Rings: picked.{cross} "
    share = percent(float(picks.misplaced.mean()))
    foot += f"Misplaced: in a group most of which is of another kind ({share} of all)."
    sheet.write(0.3, sheet.height - 0.3, foot, 8.5, color=FAINT)
    if picks.note:
        sheet.write(0.3, sheet.height - 0.12, f"{picks.note}.", 8.5, color=FAINT)
