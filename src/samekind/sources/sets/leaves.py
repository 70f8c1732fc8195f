"""Leaves: drawn leaves that can be sorted by form, edge, colour or by how they are veined."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from samekind.sources.sets.drawn_pictures import Pen, picture_set
from samekind.sources.sets.labelled import LabelledSet

TRAITS = {
    "form": ("round", "lance", "heart", "lobed"),
    "edge": ("smooth", "toothed"),
    "season": ("spring", "summer", "autumn"),
    "veins": ("one", "many"),
}
Points = NDArray[np.float64]
HUES = {"spring": (0.24, 0.55, 0.85), "summer": (0.36, 0.7, 0.5), "autumn": (0.07, 0.8, 0.75)}


def leaves(seed: int = 0) -> LabelledSet:
    """480 drawn leaves as pictures: form (4), edge (2), season (3), veins (2)."""
    return picture_set("leaves", TRAITS, _draw, 480, seed)


def _draw(pen: Pen, traits: Mapping[str, str]) -> None:
    pen.box(0, 0, 100, 100, pen.colour(pen.around(0.12, 0.1), 0.06, 0.95))
    body = pen.colour(*HUES[traits["season"]], spread=0.04)
    vein = pen.colour(HUES[traits["season"]][0], 0.3, 0.95)
    angles = np.linspace(0, 2 * np.pi, 181)
    reach = _reach(traits["form"], angles)
    if traits["edge"] == "toothed":
        reach = reach * (1 + 0.09 * np.abs((angles * 14 / np.pi) % 2 - 1))
    size, turn = pen.around(33, 4), pen.around(0.0, 0.35)
    middle = np.array([pen.around(50, 5), pen.around(50, 5)])
    points = np.stack([reach[0] * np.sin(angles), -reach[1] * np.cos(angles)], axis=1)
    placed = middle + size * points @ _rotation(turn)
    pen.shape(_pairs(placed), body)
    stem = middle + size * np.array([[0.0, 1.35], [0.0, -0.8]]) @ _rotation(turn)
    pen.line(_pairs(stem), 1.8, vein)
    if traits["veins"] == "many":
        for along in (-0.45, -0.1, 0.25, 0.6):
            for side in (-1, 1):
                ends = np.array([[0.0, along], [side * 0.42, along - 0.28]])
                line = middle + size * ends @ _rotation(turn)
                pen.line(_pairs(line), 1.2, vein)


def _reach(form: str, angles: Points) -> Points:
    """(2, n) distance of the edge across and along the leaf, at angles from its tip."""
    one = np.ones_like(angles)
    if form == "round":
        return np.stack([0.85 * one, 0.85 * one])
    if form == "lance":
        return np.stack([0.38 * one, 1.1 * one])
    if form == "heart":
        dent = 1 - 0.45 * np.exp(-(((angles - np.pi) / 0.35) ** 2))
        return np.stack([0.85 * one, dent])
    lobes = 0.72 + 0.28 * np.cos(5 * angles)
    return np.stack([lobes, lobes])


def _pairs(points: Points) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in points]


def _rotation(angle: float) -> Points:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
