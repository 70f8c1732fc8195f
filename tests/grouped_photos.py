"""Small pictures in folders, whose folders are groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"red": (200, 40, 40), "green": (40, 180, 60), "blue": (40, 70, 200)}


def write_photos(folder: Path) -> Path:
    """Eight small pictures in each of three folders, two of which are inside another."""
    rng = np.random.default_rng(0)
    for name, colour in COLOURS.items():
        inside = folder / ("warm" if name == "red" else "cold") / name
        inside.mkdir(parents=True)
        for k in range(8):
            noise = rng.integers(-15, 15, (12, 12, 3))
            pixels = np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(inside / f"{name}-{k}.png")
    return folder
