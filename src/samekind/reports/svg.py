"""SVG for a page: colours for light and dark mode, the page's font, reproducible bytes."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from samekind.reports.plots.canvas import FAINT, INK, PALETTES, PANEL, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = PALETTES[0][:7]
"""Colours of the systems that are drawn in colour, best first."""
OTHERS, GRID = "#b9b9b3", "#e4e4e0"
DASHES = ("", "7 2", "2 1.6", "7 2 2 2", "", "7 2", "2 1.6")
"""Lengths of strokes and gaps by place, in widths of the line; empty: a whole line."""
MARKERS = "os^Dvp*"
_VARIABLES = {
    INK: "ink", FAINT: "faint", PANEL: "panel", OTHERS: "others", GRID: "grid",
    **{colour: f"line{place}" for place, colour in enumerate(LINES, start=1)},
}  # fmt: skip
"""Names of the colours in the style of the page."""


def svg_figure(wide: float, high: float) -> Figure:
    """An empty drawing with a transparent background."""
    figure = new_figure(wide, high)
    figure.patch.set_alpha(0)
    return figure


def svg_text(figure: Figure, name: str) -> str:
    """The drawing as an element of a page; `name` makes its ids unique."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    wide, high = (72 * inches for inches in figure.get_size_inches())
    box = f'viewBox="0 0 {wide:g} {high:g}" style="--wide: {wide:.0f}px"'
    head = f'<svg {box} aria-hidden="true">'
    text = head + text[text.index(">") + 1 :]
    text = text.replace("xlink:href", "href")
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r"font: ((?:[a-z0-9]+ )*)([\d.]+)px [^;\"]+", _letters, text)
    text = re.sub(r"(\d+\.\d\d)\d+", r"\1", text)  # a hundredth of a point is enough
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def sample(place: int | None) -> str:
    """The line of a legend: its colour, strokes and marker; None: a line that is not in colour."""
    colour = f"var(--line{place + 1})" if place is not None else "var(--others)"
    dash = DASHES[place] if place is not None else ""
    strokes = f' stroke-dasharray="{_scaled(dash, 2)}"' if dash else ""
    wide = 2 if place is not None else 1.2
    dot = f'<path d="{_SHAPES[MARKERS[place]]}" fill="{colour}"/>' if place is not None else ""
    return (
        f'<svg viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6H33" fill="none" '
        f'stroke="{colour}" stroke-width="{wide}"{strokes}/>{dot}</svg>'
    )


def _letters(found: re.Match[str]) -> str:
    """The size and weight of a text; its letters are those of the page."""
    weight = "font-weight: bold; " if re.search(r"\b(bold|700)\b", found[1]) else ""
    return f"{weight}font-size: {found[2]}px"


def _scaled(dash: str, by: float) -> str:
    return " ".join(f"{float(part) * by:g}" for part in dash.split())


_SHAPES = {
    "o": "M13.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "s": "M13.8 2.8h6.4v6.4h-6.4z",
    "^": "M17 2L21 9.4H13z",
    "D": "M17 1.8L21.2 6L17 10.2L12.8 6z",
    "v": "M17 10L21 2.6H13z",
    "p": "M17 2L21 4.9L19.5 9.6H14.5L13 4.9z",
    "*": "M17 1.4L18.3 4.4L21.5 4.7L19 6.8L19.8 10L17 8.3L14.2 10L15 6.8L12.5 4.7L15.7 4.4z",
}
"""Markers of a legend, on the line's height."""
