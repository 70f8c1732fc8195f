"""Charts: drawn small charts that can be sorted by kind, palette or trend."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from samekind.sources.sets.drawn_pictures import Pen, picture_set
from samekind.sources.sets.labelled import LabelledSet

TRAITS = {
    "chart": ("bars", "line", "points", "area"),
    "palette": ("blue", "orange", "green", "grey"),
    "trend": ("rising", "falling", "level"),
}
HUES = {
    "blue": (0.6, 0.7, 0.75),
    "orange": (0.07, 0.8, 0.9),
    "green": (0.37, 0.6, 0.6),
    "grey": (0.6, 0.03, 0.45),
}
N_VALUES = 7


def charts(seed: int = 0) -> LabelledSet:
    """480 drawn charts as pictures: chart (4), palette (4), trend (3)."""
    return picture_set("charts", TRAITS, _draw, 480, seed)


def _draw(pen: Pen, traits: Mapping[str, str]) -> None:
    ink = pen.colour(*HUES[traits["palette"]], spread=0.025)
    frame = (70, 70, 75)
    left, right = pen.around(14, 3), pen.around(92, 3)
    top, bottom = pen.around(12, 3), pen.around(86, 3)
    slope = {"rising": 0.5, "falling": -0.5, "level": 0.0}[traits["trend"]]
    steps = np.linspace(-0.5, 0.5, N_VALUES)
    shares = pen.around(0.5, 0.08) + slope * steps * pen.around(1.2, 0.3)
    shares = np.clip(shares + pen.rng.normal(0, 0.07, N_VALUES), 0.06, 0.98)
    xs = left + (steps + 0.5) * (right - left) * 0.86 + (right - left) * 0.07
    points = [
        (float(x), float(bottom - share * (bottom - top)))
        for x, share in zip(xs, shares, strict=True)
    ]
    if traits["chart"] == "bars":
        half = (right - left) / N_VALUES * 0.32
        for x, y in points:
            pen.box(x - half, y, x + half, bottom, ink)
    elif traits["chart"] == "line":
        pen.line(points, 2.6, ink)
    elif traits["chart"] == "area":
        pen.shape([(points[0][0], bottom), *points, (points[-1][0], bottom)], ink)
    else:
        for x, y in points:
            for _ in range(2):
                pen.oval(pen.around(x, 3), pen.around(y, 5), 2.4, 2.4, ink)
    pen.line([(left, top), (left, bottom), (right, bottom)], 1.4, frame)
