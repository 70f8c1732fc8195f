"""Avatars: drawn faces that can be sorted by mood, hair, glasses or backdrop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from samekind.sources.sets.drawn_pictures import Colour, Pen, picture_set
from samekind.sources.sets.labelled import LabelledSet

TRAITS = {
    "mood": ("happy", "calm", "sad"),
    "hair": ("none", "short", "long", "bun"),
    "glasses": ("yes", "no"),
    "backdrop": ("plain", "stripes", "dots", "halves"),
}
DARK: Colour = (45, 38, 36)


def avatars(seed: int = 0) -> LabelledSet:
    """500 drawn faces as pictures: mood (3), hair (4), glasses (2), backdrop (4)."""
    return picture_set("avatars", TRAITS, _draw, 500, seed)


def _draw(pen: Pen, traits: Mapping[str, str]) -> None:
    _backdrop(pen, traits["backdrop"])
    skin = pen.colour(0.07, pen.around(0.42, 0.2), pen.around(0.75, 0.2))
    hair = pen.colour(pen.around(0.08, 0.06), pen.around(0.5, 0.3), pen.around(0.4, 0.3))
    x, y, size = pen.around(50, 6), pen.around(54, 4), pen.around(24, 3)
    if traits["hair"] == "long":
        pen.oval(x, y + size * 0.25, size * 1.3, size * 1.6, hair)
    if traits["hair"] == "bun":
        pen.oval(x, y - size * 1.35, size * 0.42, size * 0.42, hair)
    if traits["hair"] != "none":
        pen.oval(x, y - size * 0.25, size * 1.1, size * 1.15, hair)
    pen.oval(x, y + size * 0.1, size, size * 1.15, skin)
    if traits["hair"] != "none":
        pen.oval(x, y - size * 0.85, size * 0.9, size * 0.38, hair)
    for side in (-1, 1):
        pen.oval(x + side * size * 0.42, y - size * 0.1, size * 0.1, size * 0.13, DARK)
    if traits["glasses"] == "yes":
        _glasses(pen, x, y - size * 0.1, size)
    _mouth(pen, x, y + size * 0.62, size, traits["mood"])


def _backdrop(pen: Pen, kind: str) -> None:
    hue = float(pen.rng.uniform())
    light, strong = pen.colour(hue, 0.18, 0.95), pen.colour(hue, 0.45, 0.85)
    pen.box(0, 0, 100, 100, light)
    if kind == "stripes":
        for left in range(0, 100, 16):
            pen.box(left, 0, left + 8, 100, strong)
    elif kind == "dots":
        for x in range(8, 100, 17):
            for y in range(8, 100, 17):
                pen.oval(x, y, 4, 4, strong)
    elif kind == "halves":
        pen.box(0, 50, 100, 100, strong)


def _glasses(pen: Pen, x: float, y: float, size: float) -> None:
    angles = np.linspace(0, 2 * np.pi, 25)
    for side in (-1, 1):
        ring = [
            (
                x + side * size * 0.42 + size * 0.3 * float(np.cos(a)),
                y + size * 0.3 * float(np.sin(a)),
            )
            for a in angles
        ]
        pen.line(ring, 1.8, DARK)
    pen.line([(x - size * 0.12, y), (x + size * 0.12, y)], 1.8, DARK)


def _mouth(pen: Pen, x: float, y: float, size: float, mood: str) -> None:
    bend = {"happy": 0.24, "calm": 0.0, "sad": -0.24}[mood] * pen.around(1.0, 0.25)
    across = np.linspace(-1, 1, 15)
    line = [(x + size * 0.4 * float(t), y + size * bend * (0.5 - float(t) ** 2)) for t in across]
    pen.line(line, 2.4, (150, 50, 50))
