"""Posterior: the most probable groupings, the distribution of their number, and all pairs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.errors import InputError
from samekind.questions.wording import plural
from samekind.reports.plots.canvas import FAINT, INK, PANEL, PAPER, Sheet, colours, marker
from samekind.reports.plots.maps import Plane, maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
MAX_ITEMS = 600
"""More items would make the matrix of pairs and the rings unreadable."""
SHOWN = 5
"""Groupings per row."""
MAX_GROUPS = 40
"""Groups with a colour and shape of their own."""
_LEFT = 0.3  # inches


@dataclass(frozen=True, eq=False)
class Belief:
    """A distribution over groupings.

    Parameters
    ----------
    title : heading of the row.
    labels : (P, n) different groupings, any numbers as labels.
    weights : (P,) the share of each; they are scaled to add up to one.
    links : the answers so far, as (item, item, same).

    >>> belief = Belief("two ways", np.array([[0, 0, 1], [0, 1, 2]]), np.array([3.0, 1.0]))
    >>> belief.group_counts().tolist()
    [0.0, 0.0, 0.75, 0.25]
    >>> float(belief.together()[0, 1])
    0.75
    """

    title: str
    labels: Ints
    weights: Floats
    links: Sequence[tuple[int, int, bool]] = field(default=())

    def __post_init__(self) -> None:
        if self.labels.ndim != 2 or self.weights.shape != self.labels.shape[:1]:
            raise InputError(
                "Expected (P, n) groupings and (P,) weights, got labels of shape "
                f"{self.labels.shape} and weights of shape {self.weights.shape}."
            )
        if not len(self.weights) or (self.weights < 0).any() or not self.weights.sum() > 0:
            raise InputError("The weights of groupings must not be negative, nor all be zero.")
        order = np.argsort(-self.weights, kind="stable")
        object.__setattr__(self, "labels", self.labels[order])
        object.__setattr__(self, "weights", self.weights[order] / self.weights.sum())

    @property
    def n_items(self) -> int:
        """How many items are grouped."""
        return int(self.labels.shape[1])

    def group_counts(self) -> Floats:
        """Probability of 0, 1, 2, ... groups."""
        counts = np.array([len(np.unique(row)) for row in self.labels])
        found = np.zeros(int(counts.max()) + 1)
        np.add.at(found, counts, self.weights)
        return found

    def together(self) -> Floats:
        """(n, n) probability that two items are in one group."""
        found = np.zeros((self.n_items, self.n_items))
        for row, weight in zip(self.labels, self.weights, strict=True):
            found += weight * (row[:, None] == row)
        return found


def draw_posterior(
    vectors: NDArray[Any],
    beliefs: Sequence[Belief],
    *,
    truth: Ints | None = None,
    name: str = "",
    note: str = "",
    seed: int = 0,
) -> Figure:
    """Draw one row per belief: its most probable groupings, the number of groups, and all pairs.

    Colours follow the first grouping of each row. Items that another grouping places differently
    have a dark ring. Two-dimensional vectors are drawn as they are, others as a map (t-SNE).

    Parameters
    ----------
    truth : (n,) true kinds; the grouping that is equal to them is framed.
    """
    _check(vectors, beliefs)
    plane = _plane(vectors, seed)
    sheet = Sheet(
        len(beliefs), SHOWN + 2, side=1.9, gap=0.16, line=0.86, left=_LEFT, top=1.24,
        right=_LEFT - 0.16, bottom=0.62,
    )  # fmt: skip
    base = Clustering.first(beliefs[0].labels[0], plane)
    inks = np.array(colours([str(k) for k in range(MAX_GROUPS)]))
    counts = [belief.group_counts() for belief in beliefs]
    order, pairs = _matrix_order(base.labels, beliefs[0].together()), len(plane)
    for row, belief in enumerate(beliefs):
        sheet.write(_LEFT, sheet.corner(row, 0)[1] - 0.36, belief.title, 11.5, weight="bold")
        first = base.followed_by(belief.labels[0], plane)
        shown = [first.followed_by(one, plane).labels for one in belief.labels[:SHOWN]]
        for column, labels in enumerate(shown):
            panel = sheet.panel(row, column)
            _links(panel, plane, belief.links)
            _dots(panel, plane, labels, labels != shown[0], inks)
            _title(panel, float(belief.weights[column]), len(np.unique(labels)))
            if truth is not None and _same_grouping(labels, truth):
                panel.spines[:].set(color=INK, linewidth=1.4)
        _bars(sheet.panel(row, SHOWN), counts, row, truth)
        matrix = belief.together()[np.ix_(order, order)]
        _matrix(sheet.panel(row, SHOWN + 1), matrix, inks[_colour(base.labels[order])])
    _captions(sheet, name, note, pairs, truth is not None, any(b.links for b in beliefs))
    return sheet.figure


def _check(vectors: NDArray[Any], beliefs: Sequence[Belief]) -> None:
    if not beliefs:
        raise InputError("There is no belief to draw. Give at least one.")
    odd = [belief for belief in beliefs if belief.n_items != len(vectors)]
    if odd:
        raise InputError(
            f"Expected {odd[0].n_items} vectors for {odd[0].title!r}, got {len(vectors)}."
        )
    if len(vectors) > MAX_ITEMS:
        raise InputError(
            f"Expected at most {MAX_ITEMS} items, got {len(vectors):,}. Draw a sample."
        )


def _plane(vectors: NDArray[Any], seed: int) -> Plane:
    if vectors.shape[1] != 2:
        return maps([vectors], seed=seed)[0]
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-12)
    return np.asarray((vectors - (low + high) / 2) / half, dtype=np.float64)


def _matrix_order(labels: Ints, together: Floats) -> Ints:
    """Groups one after the other, neighbours beside each other: by average linkage."""
    if len(labels) < 3:
        return np.argsort(labels, kind="stable")
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    far = squareform(np.clip(1 - together, 0, 1), checks=False)
    leaves = leaves_list(linkage(far, "average"))
    first = {number: at for at, number in reversed(list(enumerate(labels[leaves].tolist())))}
    return np.asarray(sorted(leaves.tolist(), key=lambda item: first[int(labels[item])]))


def _same_grouping(labels: Ints, truth: Ints) -> bool:
    pairs = set(zip(labels.tolist(), truth.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(truth.tolist()))


def _colour(numbers: Ints) -> Ints:
    return np.asarray((numbers - 1) % MAX_GROUPS)


def _dots(
    panel: Axes, plane: Plane, labels: Ints, moved: NDArray[np.bool_], inks: NDArray[Any]
) -> None:
    size = float(np.clip(1400 / len(plane), 7, 34))
    place = _colour(labels)
    for number in np.unique(place).tolist():
        for ringed in (False, True):
            some = (place == number) & (moved == ringed)
            panel.scatter(
                plane[some, 0], plane[some, 1], s=size, color=inks[number], marker=marker(number),
                edgecolors=INK if ringed else PAPER, linewidths=1.1 if ringed else 0.4,
                zorder=4 if ringed else 3,
            )  # fmt: skip


def _links(panel: Axes, plane: Plane, links: Sequence[tuple[int, int, bool]]) -> None:
    """Draw the answers: lines for the same kind, dotted lines for different kinds."""
    for a, b, same in links:
        panel.plot(
            *plane[[a, b]].T, color=INK, linewidth=1.2,
            linestyle="-" if same else (0, (1, 1.6)), zorder=2, solid_capstyle="round",
        )  # fmt: skip


def _title(panel: Axes, probability: float, groups: int) -> None:
    panel.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12))
    panel.set_title(_probability(probability), loc="left", fontsize=10, pad=4, color=INK)
    word = plural(groups, "group")
    panel.set_title(word, loc="right", fontsize=9, pad=4, color=FAINT)


def _probability(value: float) -> str:
    """0.62 as "p = .62"; small values as a bound.

    >>> _probability(0.6214), _probability(1.0), _probability(0.0004)
    ('p = .62', 'p = 1.00', 'p < .001')
    """
    if value < 0.001:
        return "p < .001"
    text = f"{value:.3f}" if value < 0.0095 else f"{value:.2f}"
    return f"p = {text if value >= 0.995 else text.removeprefix('0')}"


def _bars(panel: Axes, counts: Sequence[Floats], row: int, truth: Ints | None) -> None:
    """Draw the distribution of the number of groups; outlined: that of the first row."""
    from matplotlib.patheffects import withStroke

    rim = [withStroke(linewidth=2, foreground=PANEL)]  # figures stay readable on outlines
    seen = [np.flatnonzero(count > 0.004) for count in counts]
    low = min(int(found.min()) for found in seen)
    high = max(int(found.max()) for found in seen)
    low, high = max(1, min(low, high - 3)), max(high, low + 3)
    numbers, size = np.arange(low, high + 1), 8.0 if high - low < 8 else 6.5
    heights = [
        np.pad(count, (0, max(0, high + 1 - len(count))))[low : high + 1] for count in counts
    ]
    panel.bar(numbers, heights[row], width=0.72, color=PALE_INK, zorder=2)
    if row:
        panel.bar(numbers, heights[0], width=0.72, fill=False, edgecolor=FAINT, zorder=3)
    for number, height in zip(numbers.tolist(), heights[row].tolist(), strict=True):
        if height >= 0.015:
            text = f"{height:.2f}".removeprefix("0")
            panel.text(
                number, height + 0.02, text, ha="center", fontsize=size, color=INK, zorder=4,
                path_effects=rim,
            )  # fmt: skip
    tallest = max(float(part.max()) for part in heights)
    panel.set(xlim=(low - 0.6, high + 0.6), ylim=(0, tallest * 1.16))
    step = max(1, -(-len(numbers) // 14))
    shown = numbers[::step]
    panel.set_xticks(shown, [str(k) for k in shown], fontsize=size, color=FAINT)
    panel.tick_params(length=0, pad=3)
    real = None if truth is None else str(len(np.unique(truth)))
    for tick in panel.xaxis.get_major_ticks():
        if tick.label1.get_text() == real:
            tick.label1.set(color=INK, weight="bold")
    panel.set_title("number of groups", loc="left", fontsize=10, pad=4, color=INK)


PALE_INK = "#8fa9bf"
"""Bars: a colour that no group has."""


def _matrix(panel: Axes, matrix: Floats, strip: NDArray[Any]) -> None:
    """Draw the probability of each pair; a strip shows the groups of the first grouping."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    shades = LinearSegmentedColormap.from_list("paper-ink", [PAPER, "#9db4c8", "#173a5e"])
    n = len(matrix)
    panel.imshow(matrix, cmap=shades, vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    wide = n * 0.045
    for at, ink in enumerate(strip.tolist()):
        panel.add_patch(Rectangle((-0.5 - wide, at - 0.5), wide, 1, color=ink, linewidth=0))
    panel.set(xlim=(-0.5 - wide, n - 0.5), ylim=(n - 0.5, -0.5))
    panel.set_title("pairs in one group", loc="left", fontsize=10, pad=4, color=INK)


def _captions(
    sheet: Sheet, name: str, note: str, n: int, with_truth: bool, with_links: bool
) -> None:
    title = textwrap.shorten(name, 60, placeholder="…") or f"{n} items"
    sheet.write(_LEFT, 0.48, f"{title}: how they may be grouped", 14)
    foot = "p: share of the posterior samples. Rings: placed otherwise than in the first grouping."
    if with_links:
        foot += " Lines: answered same; dotted: answered different. Outlined bars: before."
    if with_truth:
        foot += " Dark frame, bold number: the truth."
    sheet.write(_LEFT, sheet.height - 0.3, foot, 8.5, color=FAINT)
    if note:
        sheet.write(_LEFT, sheet.height - 0.12, f"{note}.", 8.5, color=FAINT)
