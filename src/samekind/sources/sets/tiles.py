"""The demo tiles: small drawn pictures that can be sorted in four natural ways.

Every tile shows one, two, four or nine copies of a shape in one colour and one pattern, so the same
tiles can be sorted by colour, by shape, by pattern or by count. They are drawn from a seed and
differ in position, size, rotation, hue and background; nothing is downloaded.
"""

from __future__ import annotations

import colorsys
import hashlib
import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.items import Collection
from samekind.sources.files.images import Picture
from samekind.sources.sets.labelled import LabelledSet

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 96
SCALE = 4
"""Drawn this many times larger and averaged down, for smooth edges."""
TRAITS: dict[str, tuple[str, ...]] = {
    "colour": ("red", "yellow", "green", "blue"),
    "shape": ("circle", "square", "triangle", "star"),
    "pattern": ("solid", "stripes", "dots", "outline"),
    "count": ("one", "two", "four", "nine"),
}
Kinds = tuple[int, int, int, int]
"""Colour, shape, pattern and count, as indices in `TRAITS`."""
Points = NDArray[np.float64]

_HSV = ((0.99, 0.86, 0.84), (0.13, 0.96, 0.97), (0.39, 0.88, 0.58), (0.605, 0.84, 0.80))
_RADIUS = (37.0, 22.0, 19.5, 13.2)
_PLACES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.0, 0.0),),
    ((-22.0, -3.0), (22.0, 3.0)),
    ((-21.5, -21.5), (21.5, -21.5), (-21.5, 21.5), (21.5, 21.5)),
    tuple((x, y) for y in (-29.5, 0.0, 29.5) for x in (-29.5, 0.0, 29.5)),
)


class TileItem(Picture):
    """One demo tile. It has only its pixels, not the kinds that it was drawn from."""

    def __init__(self, id: str, pixels: bytes) -> None:
        self.id = id
        self._pixels = pixels

    @property
    def stamp(self) -> str:
        return hashlib.blake2b(self._pixels, digest_size=8).hexdigest()

    def open(self) -> Image:
        from PIL import Image

        return Image.frombytes("RGB", (SIDE, SIDE), self._pixels)


def tiles(seed: int = 0) -> LabelledSet:
    """Draw the demo set: 384 tiles to sort and 128 held out, every kind equally often.

    Each of the 256 combinations is drawn once. Half of them (those with an even sum of indices) are
    drawn once more to sort, the other half once to hold out.

    >>> pile = tiles(seed=0)
    >>> len(pile.collection), len(pile.held_out), sorted(pile.orientations)
    (384, 128, ['colour', 'count', 'pattern', 'shape'])
    """
    rng = np.random.default_rng(seed)
    four = range(4)
    combinations: list[Kinds] = list(itertools.product(four, four, four, four))
    even = [kinds for kinds in combinations if sum(kinds) % 2 == 0]
    odd = [kinds for kinds in combinations if sum(kinds) % 2 == 1]
    pile = _shuffled(combinations + even, rng)
    apart = _shuffled(odd, rng)
    items = [
        TileItem(f"tile-{number:04d}", drawn_pixels(kinds, seed, number))
        for number, kinds in enumerate(pile + apart)
    ]
    return LabelledSet(
        "tiles",
        Collection("tiles", items[: len(pile)], location="tiles"),
        _orientations(pile),
        Collection("tiles (held out)", items[len(pile) :], location="tiles"),
        _orientations(apart),
    )


@lru_cache(maxsize=512)
def drawn_pixels(kinds: Kinds, seed: int, number: int) -> bytes:
    """Draw each tile once per process, however often the set is opened."""
    return draw(kinds, np.random.default_rng([seed, number])).tobytes()


def draw(kinds: Kinds, rng: np.random.Generator) -> Image:
    """Draw one tile of the given kinds; `rng` decides position, size, rotation and hues."""
    from PIL import Image, ImageDraw

    colour, shape, pattern, count = kinds
    ink = _ink(colour, rng)
    paper, gap = _tint(ink, rng.uniform(0.16, 0.26)), _tint(ink, 0.06)
    tile = Image.new("RGB", (SIDE * SCALE, SIDE * SCALE), paper)
    pen = ImageDraw.Draw(tile)
    size, turn = rng.uniform(0.92, 1.0), rng.uniform(-14, 14)
    middle = SIDE / 2 + rng.uniform(-1.5, 1.5, size=2)
    for place in _PLACES[count]:
        centre = middle + np.asarray(place) + rng.uniform(-1.0, 1.0, size=2)
        radius = _RADIUS[count] * size * rng.uniform(0.95, 1.0)
        corners = _corners(shape, turn + rng.uniform(-6, 6))
        pen.polygon(_flat(corners * radius + centre), fill=ink)
        if pattern:
            inner = corners * (radius - _rim(shape, pattern, radius)) + centre
            pen.polygon(_flat(inner), fill=gap)
        if TRAITS["pattern"][pattern] in ("stripes", "dots"):
            _fill(tile, inner, ink, TRAITS["pattern"][pattern], radius, turn)
    return tile.reduce(SCALE)


def _shuffled(kinds: Sequence[Kinds], rng: np.random.Generator) -> list[Kinds]:
    return [kinds[i] for i in rng.permutation(len(kinds))]


def _orientations(kinds: Sequence[Kinds]) -> dict[str, NDArray[np.str_]]:
    return {
        trait: np.asarray([names[kind[place]] for kind in kinds])
        for place, (trait, names) in enumerate(TRAITS.items())
    }


def _rgb(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, min(saturation, 1.0), min(value, 1.0))
    return round(red * 255), round(green * 255), round(blue * 255)


def _ink(colour: int, rng: np.random.Generator) -> tuple[int, int, int]:
    hue, saturation, value = _HSV[colour]
    return _rgb(
        hue + rng.uniform(-0.012, 0.012),
        saturation * rng.uniform(0.93, 1.05),
        value * rng.uniform(0.93, 1.05),
    )


def _tint(ink: tuple[int, int, int], strength: float) -> tuple[int, int, int]:
    """A pale tint of the ink: background and gaps share its hue, so that a tile has one colour."""
    red, green, blue = (round(250 - (250 - part) * strength) for part in ink)
    return red, green, blue


def _corners(shape: int, turn: float) -> Points:
    """Corners of a shape around the origin; all shapes have about the same area."""
    name = TRAITS["shape"][shape]
    if name == "star":
        angles, reach = np.arange(10) * 36.0, np.where(np.arange(10) % 2, 0.50, 1.08)
    elif name == "circle":
        angles, reach = np.arange(72) * 5.0, np.full(72, 0.93)
    elif name == "square":
        angles, reach = np.arange(4) * 90.0 + 45.0, np.full(4, 1.13)
    else:
        angles, reach = np.arange(3) * 120.0, np.full(3, 1.15)
    radians = np.radians(angles + turn)
    corners = np.stack([np.sin(radians), -np.cos(radians)], axis=1) * reach[:, None]  # (c, 2)
    corners[:, 1] += 0.16 if name == "triangle" else 0.0
    return corners


def _rim(shape: int, pattern: int, radius: float) -> float:
    """Width of the border along the radius; pointed shapes need more to look the same."""
    width = {"circle": 1.0, "square": 1.15, "triangle": 1.6, "star": 1.5}[TRAITS["shape"][shape]]
    bold = TRAITS["pattern"][pattern] == "outline"
    return width * (1.2 + 0.20 * radius if bold else 0.7 + 0.025 * radius)


def _fill(
    tile: Image,
    corners: Points,
    ink: tuple[int, int, int],
    pattern: str,
    radius: float,
    turn: float,
) -> None:
    """Draw stripes or dots over the area inside the corners."""
    from PIL import Image, ImageDraw

    low = np.floor(corners.min(axis=0) * SCALE).astype(int)
    wide, high = (np.ceil(corners.max(axis=0) * SCALE).astype(int) - low + 1).tolist()
    inside = Image.new("L", (wide, high), 0)
    ImageDraw.Draw(inside).polygon(_flat(corners - low / SCALE), fill=255)
    y, x = np.arange(high)[:, None] - high / 2, np.arange(wide) - wide / 2
    angle = np.radians(turn + 45)
    period = SCALE * (4.4 + 0.17 * radius)
    u = _wrapped((np.cos(angle) * x + np.sin(angle) * y) / period)  # (high, wide)
    if pattern == "stripes":
        inked = np.abs(u) < 0.26
    else:
        v = _wrapped((np.cos(angle) * y - np.sin(angle) * x) / period)
        inked = u**2 + v**2 < 0.31**2
    mask = np.where(inked, np.asarray(inside), 0).astype(np.uint8)
    tile.paste(ink, (int(low[0]), int(low[1])), Image.fromarray(mask))


def _wrapped(u: Points) -> Points:
    """Distances from the middle of the period that each value is in."""
    return u - np.floor(u) - 0.5


def _flat(points: Points) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in points * SCALE]
