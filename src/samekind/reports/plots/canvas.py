"""Canvas: colours, sheets of panels, and atomic files for all pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.atomic_files import draft_name, put_in_place
from samekind.errors import ExportError, InputError, MissingExtra
from samekind.user_paths import expanded, is_there

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER, PANEL, FAINT, INK = "#ffffff", "#f7f7f5", "#70706c", "#22221f"
UNKNOWN = "#c8c8c4"
"""Items of unknown kind."""
PALETTES = (
    (
        "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7",
        "#56b4e9", "#8c6bb1", "#5b5b57", "#7a4a12", "#a6b727",
    ),
    (
        "#332288", "#cc6677", "#44aa99", "#bfa52b", "#882255",
        "#66ccee", "#117733", "#aa4499", "#9a9a95", "#dd8452",
    ),
)  # fmt: skip
"""After Okabe and Ito, and after Tol, each with two more colours: distinguishable with every kind
of colour vision. Rows of panels alternate, so that equal colours do not suggest equal kinds."""
HUES = {
    "blue": "#0072b2", "cyan": "#56b4e9", "gray": "#8a8a86", "grey": "#8a8a86", "black": "#22221f",
    "green": "#009e73", "orange": "#e69f00", "pink": "#cc79a7", "purple": "#8c6bb1",
    "red": "#d55e00", "violet": "#8c6bb1", "yellow": "#e6b800", "brown": "#8c510a",
}  # fmt: skip
"""Kinds named after a colour are drawn in it."""
MARKERS = "os^DvP"
"""One shape for every ten kinds."""
FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 200


def colours(names: Sequence[str], palette: int = 0) -> list[str]:
    """One colour per kind; they repeat when there are more kinds than colours."""
    if names and all(name.lower() in HUES for name in names):
        chosen = [HUES[name.lower()] for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    shades = PALETTES[palette % len(PALETTES)]
    return [shades[at % len(shades)] for at in range(len(names))]


def marker(place: int) -> str:
    """The shape of the dots of a kind, which distinguishes kinds of one colour."""
    return MARKERS[place // len(PALETTES[0]) % len(MARKERS)]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches. Raises MissingExtra without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise MissingExtra("Drawing pictures", "plots") from problem
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    FigureCanvasAgg(figure)  # no window and no global state: safe in threads
    return figure


def style_panel(axes: Axes) -> None:
    """Give a panel the look of all plots: pale, with white lines and without a frame."""
    axes.set_facecolor(PANEL)
    axes.grid(color="white", linewidth=1.2)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, colors=FAINT, labelsize=9)


def check_picture(path: str | Path) -> Path:
    """The path of a picture, if it can be written; fails early, before any long work."""
    final = expanded(path)
    if final.suffix.lower().lstrip(".") not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(f"Expected a picture file ending in {known}, got {final.name!r}.")
    if is_there(final, ExportError):
        raise ExportError(f"{final} exists already. Choose another name.")
    if not final.parent.is_dir():
        raise ExportError(f"There is no folder {str(final.parent)!r}. Make it, or choose another.")
    return final


def write_picture(figure: Figure, path: str | Path) -> Path:
    """Write a picture atomically under a new name."""
    final = check_picture(path)
    draft = draft_name(final)
    form = final.suffix.lower().lstrip(".")
    try:
        figure.savefig(draft, format=form, dpi=DOTS_PER_INCH)
        if form == "png":
            _shrink(draft)
        put_in_place(draft, final)
    except FileExistsError as problem:
        raise ExportError(f"{final} exists already. Choose another name.") from problem
    except OSError as problem:
        raise ExportError(
            f"{final} cannot be written: {problem.strerror}. Choose another place."
        ) from problem
    finally:
        draft.unlink(missing_ok=True)
    return final


def _shrink(png: Path) -> None:
    """Reduce a PNG to a palette of 256 colours, which is enough for drawings."""
    from PIL import Image

    with Image.open(png) as full:
        small = full.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(png, format="PNG", optimize=True)


class Sheet:
    """A figure of square panels, measured in inches from its top left corner.

    Parameters
    ----------
    side, gap, line : width of a panel, and the space between columns and between rows.
    left, top, right, bottom : margins.
    """

    def __init__(
        self, rows: int, columns: int, *, side: float, gap: float, line: float, left: float,
        top: float, right: float, bottom: float,
    ) -> None:  # fmt: skip
        self.columns, self.side, self.gap, self.line = columns, side, gap, line
        self.left, self.top = left, top
        self.width = left + columns * (side + gap) + right
        self.height = top + rows * (side + line) - line + bottom
        self.figure = new_figure(self.width, self.height)

    def panel(self, row: int, column: int) -> Axes:
        """The empty panel of a row and a column."""
        left, top = self.corner(row, column)
        box = (*self.at(left, top + self.side), self.side / self.width, self.side / self.height)
        axes = self.figure.add_axes(box)
        axes.set(facecolor=PANEL, xticks=[], yticks=[], xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
        axes.spines[:].set(color="#deded9", linewidth=0.8)
        return axes

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """Left and top of a panel in inches."""
        return self.left + column * (self.side + self.gap), self.top + row * (self.side + self.line)

    def at(self, left: float, top: float) -> tuple[float, float]:
        """A position in inches as fractions of the figure."""
        return left / self.width, 1 - top / self.height

    def write(self, left: float, top: float, text: str, size: float, **look: Any) -> None:
        """Write text whose baseline begins there."""
        x, y = self.at(left, top)
        self.figure.text(x, y, text, fontsize=size, **{"color": INK, **look})


def percent(share: float) -> str:
    """0.947 as "95 %"; never 100 % while something is wrong, never 0 % while something is right.

    >>> percent(0.9974), percent(1.0)
    ('99.7 %', '100 %')
    """
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        return f"{min(99.9, max(0.1, 100 * share)):.1f} %"
    return f"{rounded} %"
