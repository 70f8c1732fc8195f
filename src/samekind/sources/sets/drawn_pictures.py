"""Sets of small drawn pictures with several traits, for suites that nothing was tuned on.

A set is a table of traits and a function that draws one picture of given traits; everything else
about a picture (place, size, colours that are no trait) is drawn at random.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from samekind.items import Collection
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.tiles import SCALE, SIDE, TileItem

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]
Traits = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Pen:
    """Draws in units of a picture of 100 x 100, with randomness of its own."""

    on: ImageDraw
    rng: np.random.Generator

    def around(self, middle: float, spread: float) -> float:
        """A random number around a middle."""
        return float(middle + spread * self.rng.uniform(-1, 1))

    def oval(self, x: float, y: float, width: float, height: float, fill: Colour) -> None:
        """A filled oval around a point."""
        self.on.ellipse(_scaled(x - width, y - height, x + width, y + height), fill=fill)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A filled rectangle."""
        self.on.rectangle(_scaled(left, top, right, bottom), fill=fill)

    def line(self, points: list[tuple[float, float]], width: float, fill: Colour) -> None:
        """A line through points."""
        flat = [c for point in points for c in _scaled(*point)]
        self.on.line(flat, fill=fill, width=max(1, round(_scaled(width)[0])), joint="curve")

    def shape(self, points: list[tuple[float, float]], fill: Colour) -> None:
        """A filled polygon."""
        self.on.polygon([c for point in points for c in _scaled(*point)], fill=fill)

    def colour(self, hue: float, saturation: float, value: float, spread: float = 0.03) -> Colour:
        """A colour near the given one."""
        near = [self.around(part, spread) for part in (hue, saturation, value)]
        red, green, blue = colorsys.hsv_to_rgb(near[0] % 1, *np.clip(near[1:], 0, 1).tolist())
        return round(255 * red), round(255 * green), round(255 * blue)


Draw = Callable[[Pen, Mapping[str, str]], None]
"""Draws one picture of the given traits."""


def picture_set(name: str, traits: Traits, draw: Draw, n: int, seed: int) -> LabelledSet:
    """Draw `n` pictures; the values of all traits are drawn independently of each other."""
    rng = np.random.default_rng([seed, n, len(traits)])
    kinds = {trait: rng.choice(values, n) for trait, values in traits.items()}
    items = []
    for k in range(n):
        values = tuple(str(column[k]) for column in kinds.values())
        pixels = _pixels(name, draw, values, tuple(traits), seed, k)
        items.append(TileItem(f"{name}-{k:04d}", pixels))
    return LabelledSet(name, Collection(name, items, location=name), kinds)


@lru_cache(maxsize=2048)
def _pixels(
    name: str, draw: Draw, values: tuple[str, ...], traits: tuple[str, ...], seed: int, number: int
) -> bytes:
    """Draw each picture once per process, however often its set is opened."""
    from PIL import Image, ImageDraw

    rng = np.random.default_rng([seed, number, len(name)])
    picture = Image.new("RGB", (SIDE * SCALE, SIDE * SCALE), (255, 255, 255))
    draw(Pen(ImageDraw.Draw(picture), rng), dict(zip(traits, values, strict=True)))
    return picture.reduce(SCALE).tobytes()


def _scaled(*parts: float) -> list[float]:
    return [part * SIDE * SCALE / 100 for part in parts]
