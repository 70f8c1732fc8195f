"""Canvas: what all pictures share. Paper, ink, colours for every eye, and a file that is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.atomic_files import draft_name, put_in_place
from samekind.errors import ExportError, InputError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER, PANEL, FAINT, INK = "#ffffff", "#f7f7f5", "#70706c", "#22221f"
UNKNOWN = "#c8c8c4"
"""The colour of items whose kind is not known."""
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
"""After Okabe and Ito, and after Tol, each with two more: told apart with every kind of colour
vision. Two palettes, so that equal colours in two rows do not seem to mean the same."""
HUES = {
    "blue": "#0072b2", "cyan": "#56b4e9", "gray": "#8a8a86", "grey": "#8a8a86", "black": "#22221f",
    "green": "#009e73", "orange": "#e69f00", "pink": "#cc79a7", "purple": "#8c6bb1",
    "red": "#d55e00", "violet": "#8c6bb1", "yellow": "#e6b800", "brown": "#8c510a",
}  # fmt: skip
"""Kinds that are called like a colour are drawn in it: "red" in blue dots would be a riddle."""
MARKERS = "os^DvP"
"""Another shape for every ten kinds."""
FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 200


def colours(names: Sequence[str], palette: int = 0) -> list[str]:
    """One colour per kind; when there are more than colours, they come again."""
    if names and all(name.lower() in HUES for name in names):
        chosen = [HUES[name.lower()] for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    shades = PALETTES[palette % len(PALETTES)]
    return [shades[at % len(shades)] for at in range(len(names))]


def marker(place: int) -> str:
    """The shape of the dots of a kind, so that kinds of one colour can be told apart."""
    return MARKERS[place // len(PALETTES[0]) % len(MARKERS)]


def new_figure(width: float, height: float) -> Figure:
    """An empty picture of this size in inches; MissingExtra when matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise MissingExtra("Drawing pictures", "plots") from problem
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    FigureCanvasAgg(figure)  # no window and no global state: threads may draw side by side
    return figure


def check_picture(path: str | Path) -> Path:
    """The path of a picture that can be written; told before long work begins."""
    final = Path(path).expanduser()
    if final.suffix.lower().lstrip(".") not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(f"A picture cannot be written as {final.name!r}. End its name in {known}.")
    if final.exists():
        raise ExportError(f"{final} exists already. Choose another name.")
    if not final.parent.is_dir():
        raise ExportError(f"There is no folder {str(final.parent)!r}. Make it, or choose another.")
    return final


def write_picture(figure: Figure, path: str | Path) -> Path:
    """Write a picture under a new name, whole or not at all."""
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
    """Flat drawings have few colours: a palette of 256 shows them all in a third of the bytes."""
    from PIL import Image

    with Image.open(png) as full:
        small = full.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(png, format="PNG", optimize=True)


def percent(share: float) -> str:
    """0.947 as "95 %"; never 100 % while something is wrong, never 0 % while something is right.

    >>> percent(0.9974), percent(1.0)
    ('99.7 %', '100 %')
    """
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        return f"{min(99.9, max(0.1, 100 * share)):.1f} %"
    return f"{rounded} %"
