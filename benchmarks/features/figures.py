"""Drawn figures with five independent groupings: direction, pose, colour, shape and texture.

Small pictures as in games: a figure on a ground with a little noise. Position, size, shades and
the two other colours vary freely, so that no grouping is given away by another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

SIDE = 64
Colour = tuple[int, ...]
DIRECTIONS = ("left", "right", "front", "back")
POSES = ("stands", "walks", "waves", "kneels")
COLOURS = {
    "red": (200, 50, 45),
    "green": (60, 160, 70),
    "blue": (55, 90, 200),
    "ochre": (205, 160, 50),
}
SHAPES = ("box", "pear", "cone")
TEXTURES = ("plain", "stripes", "dots")
GROUPINGS = {
    "direction": DIRECTIONS,
    "pose": POSES,
    "colour": tuple(COLOURS),
    "shape": SHAPES,
    "texture": TEXTURES,
}


@dataclass(frozen=True)
class Figure:
    """What one picture shows, each as a place in its tuple."""

    direction: int
    pose: int
    colour: int
    shape: int
    texture: int


def draw_figures(n: int, seed: int = 0) -> tuple[list[Image.Image], list[Figure]]:
    """Draw `n` figures with independent groupings."""
    rng = np.random.default_rng(seed)
    figures = [
        Figure(*(int(rng.integers(len(kinds))) for kinds in GROUPINGS.values())) for _ in range(n)
    ]
    return [draw(figure, rng) for figure in figures], figures


def draw(figure: Figure, rng: np.random.Generator) -> Image.Image:
    """Draw one figure."""
    ground = tuple(int(v) for v in rng.integers(150, 235, size=3))
    image = Image.new("RGB", (SIDE, SIDE), ground)
    pen = ImageDraw.Draw(image)
    size = float(rng.uniform(0.85, 1.15))
    x, y = SIDE / 2 + rng.uniform(-5, 5), SIDE / 2 + 4 + rng.uniform(-4, 4)
    skin = _shade((225, 185, 150), rng)
    trousers = tuple(int(v) for v in rng.integers(20, 120, size=3))
    cloth = _shade(tuple(COLOURS.values())[figure.colour], rng)
    low = 6 * size if POSES[figure.pose] == "kneels" else 0.0
    _legs(pen, figure, x, y + low, size, trousers)
    _body(image, figure, x, y + low, size, cloth)
    _arms(pen, figure, x, y + low, size, skin)
    _head(pen, figure, x, y + low - 17 * size, size, skin, rng)
    noise = rng.normal(0, 6, size=(SIDE, SIDE, 3))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def _shade(colour: Colour, rng: np.random.Generator) -> Colour:
    return tuple(int(np.clip(value + rng.normal(0, 14), 0, 255)) for value in colour)


def _facing(figure: Figure) -> int:
    return {"left": -1, "right": 1}.get(DIRECTIONS[figure.direction], 0)


def _legs(
    pen: ImageDraw.ImageDraw,
    figure: Figure,
    x: float,
    y: float,
    size: float,
    colour: Colour,
) -> None:
    pose, width = POSES[figure.pose], max(2, round(4 * size))
    length = (6 if pose == "kneels" else 14) * size
    for side in (-1, 1):
        stride = 7 * size if pose == "walks" else 1.0 * size
        top = (x + 3 * side * size, y + 8 * size)
        pen.line([top, (top[0] + side * stride, y + 8 * size + length)], fill=colour, width=width)
        if pose == "kneels":
            foot = (top[0] + (7 * size * (_facing(figure) or side)), y + 8 * size + length)
            pen.line([(top[0], y + 8 * size + length), foot], fill=colour, width=width)


def _body(
    image: Image.Image, figure: Figure, x: float, y: float, size: float, colour: Colour
) -> None:
    mask = Image.new("L", image.size, 0)
    pen = ImageDraw.Draw(mask)
    w, h = (7 if _facing(figure) else 9) * size, 10 * size
    shape = SHAPES[figure.shape]
    if shape == "box":
        pen.rectangle([x - w, y - h, x + w, y + h], fill=255)
    elif shape == "pear":
        pen.ellipse([x - 0.7 * w, y - h, x + 0.7 * w, y + 0.3 * h], fill=255)
        pen.ellipse([x - 1.15 * w, y - 0.5 * h, x + 1.15 * w, y + h], fill=255)
    else:
        pen.polygon([(x - 1.3 * w, y - h), (x + 1.3 * w, y - h), (x, y + 1.2 * h)], fill=255)
    cloth = Image.new("RGB", image.size, colour)
    dark = tuple(int(0.45 * value) for value in colour)
    brush, texture = ImageDraw.Draw(cloth), TEXTURES[figure.texture]
    if texture == "stripes":
        for row in range(0, SIDE, 5):
            brush.line([(0, row), (SIDE, row)], fill=dark, width=2)
    elif texture == "dots":
        for row in range(0, SIDE, 5):
            for column in range((row // 5 % 2) * 3, SIDE, 6):
                brush.ellipse([column, row, column + 2, row + 2], fill=dark)
    image.paste(cloth, mask=mask)


def _arms(
    pen: ImageDraw.ImageDraw,
    figure: Figure,
    x: float,
    y: float,
    size: float,
    colour: Colour,
) -> None:
    pose, facing, width = POSES[figure.pose], _facing(figure), max(2, round(3 * size))
    for side in (-1, 1):
        shoulder = (x + 8 * side * size, y - 8 * size) if not facing else (x, y - 6 * size)
        angle = {"waves": -1.0 if side > 0 else 0.9, "walks": 0.9, "kneels": 0.3}.get(pose, 1.3)
        lean = side if not facing else (side if pose == "walks" else facing)
        hand = (
            shoulder[0] + lean * 13 * size * math.cos(angle),
            shoulder[1] + 13 * size * math.sin(angle),
        )
        pen.line([shoulder, hand], fill=colour, width=width)


def _head(
    pen: ImageDraw.ImageDraw,
    figure: Figure,
    x: float,
    y: float,
    size: float,
    skin: Colour,
    rng: np.random.Generator,
) -> None:
    r, facing = 7 * size, _facing(figure)
    hair = tuple(int(v) for v in rng.integers(20, 130, size=3))
    pen.ellipse([x - r, y - r, x + r, y + r], fill=skin)
    direction = DIRECTIONS[figure.direction]
    if direction == "back":
        pen.ellipse([x - r, y - r, x + r, y + 0.7 * r], fill=hair)
        return
    pen.pieslice([x - r, y - r, x + r, y + r], 180, 360, fill=hair)
    dark = (25, 25, 30)
    if direction == "front":
        for side in (-1, 1):
            pen.ellipse([x + side * 3 * size - 1, y, x + side * 3 * size + 1, y + 2], fill=dark)
    else:
        pen.ellipse([x + facing * 4 * size - 1, y, x + facing * 4 * size + 1, y + 2], fill=dark)
        nose = [(x + facing * r, y - 1), (x + facing * (r + 3), y + 2), (x + facing * r, y + 3)]
        pen.polygon(nose, fill=skin)
        pen.rectangle([x - facing * r - 2, y - 2, x - facing * r + 2, y + 4], fill=hair)
