"""Small drawings of vectors, so that a person can see a row without columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.items import Preview
from samekind.sources.files.images import encoded

WIDTH, HEIGHT = 128, 96
MAX_GRID = 32


def looks_like_pictures(sample: NDArray[Any]) -> bool:
    """Whether rows (n, d) are probably small square pictures: side 4 to 32, non-negative, smooth.

    Smooth means that neighbouring pixels differ less than random ones.
    """
    side = round(sample.shape[1] ** 0.5)
    if side * side != sample.shape[1] or not 4 <= side <= MAX_GRID or sample.min() < 0:
        return False
    squares = sample.reshape(-1, side, side).astype(np.float64)
    steps = np.abs(np.diff(squares, axis=1)).mean() + np.abs(np.diff(squares, axis=2)).mean()
    shuffled = np.random.default_rng(0).permutation(sample.shape[1])
    mixed = squares.reshape(len(squares), -1)[:, shuffled].reshape(squares.shape)
    chance = np.abs(np.diff(mixed, axis=1)).mean() + np.abs(np.diff(mixed, axis=2)).mean()
    return bool(chance > 0 and steps < 0.8 * chance)


def grid(values: NDArray[Any]) -> Preview:
    """The row as a square picture, dark on light, enlarged without smoothing."""
    from PIL import Image

    side = round(len(values) ** 0.5)
    square = np.asarray(values, dtype=np.float64).reshape(side, side)
    low, high = min(0.0, float(square.min())), float(square.max())
    grey = 255 - 255 * (square - low) / (high - low if high > low else 1.0)
    image = Image.fromarray(np.rint(grey).astype(np.uint8)).convert("RGB")
    factor = max(1, 128 // side)
    return encoded(image.resize((side * factor, side * factor), Image.Resampling.NEAREST))


def bars(values: NDArray[Any]) -> Preview:
    """One bar per number, up and blue if positive, down and orange if negative.

    If there are too many numbers, neighbours are averaged.
    """
    from PIL import Image, ImageDraw

    numbers = np.nan_to_num(np.asarray(values, dtype=np.float64))
    heights = np.asarray([part.mean() for part in np.array_split(numbers, min(len(numbers), 64))])
    heights = heights / (np.abs(heights).max() or 1.0)
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    zero = HEIGHT / 2 if (heights < 0).any() else HEIGHT - 1
    width = WIDTH / len(heights)
    for place, height in enumerate(heights):
        top, bottom = sorted((zero, zero - height * (zero - 2)))
        box = (place * width, top, (place + 1) * width - 1, bottom)
        pen.rectangle(box, fill="#2563c9" if height >= 0 else "#d9822b")
    pen.line((0, zero, WIDTH, zero), fill="#888888")
    return encoded(image)
