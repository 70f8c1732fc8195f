"""Colour histograms: what networks for object recognition learn to ignore."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS = 5
WIDTH = LEVELS**3
SIDE = 64
"""Images are averaged down to this size first, so that grain does not matter."""


def colours(image: Any) -> NDArray[np.float32]:
    """A histogram of 125 colours, as square roots, so that small coloured objects count.

    Each pixel is spread over the nearest of 5 x 5 x 5 colours, so that a small change of light
    changes the histogram only slightly.

    >>> from PIL import Image
    >>> shares = colours(Image.new("RGB", (8, 8), (255, 0, 0))) ** 2
    >>> int(shares.argmax()) == 4 * 25, float(shares.sum())
    (True, 1.0)
    """
    from PIL import Image

    small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    places = np.asarray(small, dtype=np.float32).reshape(-1, 3) * ((LEVELS - 1) / 255)
    low = np.minimum(places.astype(np.intp), LEVELS - 2)
    far = places - low  # (pixels, 3) how far towards the higher level, 0 to 1
    shares = np.zeros(WIDTH)
    for corner in product((0, 1), repeat=3):
        weight = np.where(corner, far, 1 - far).prod(axis=1)
        level = low + corner
        colour = (level[:, 0] * LEVELS + level[:, 1]) * LEVELS + level[:, 2]
        shares += np.bincount(colour, weights=weight, minlength=WIDTH)
    roots: NDArray[np.float32] = np.sqrt(shares / shares.sum()).astype(np.float32)
    return roots
