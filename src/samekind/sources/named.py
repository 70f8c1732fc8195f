"""The named sets that come with the package: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.errors import UnknownName
from samekind.sources.labelled import LabelledSet
from samekind.sources.rows import RowCollection, Rows
from samekind.sources.tiles import tiles


def digits(seed: int = 0) -> LabelledSet:
    """The 1,797 handwritten digits of scikit-learn: 8 x 8 pixels as ready vectors.

    They are always the same, whatever the seed.

    >>> digits().collection.matrix.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    keys = [f"digit-{number:04d}" for number in range(len(pixels))]
    rows = Rows(pixels.astype(np.float32), keys=keys, picture=True)
    parity = np.where(digit % 2, "odd", "even")
    return LabelledSet(
        "digits",
        RowCollection("digits", rows, location="digits", ready=True),
        {"digit": digit, "parity": parity},
    )


SETS: dict[str, Callable[..., LabelledSet]] = {"tiles": tiles, "digits": digits}
"""Every named set. A new one is a function ``(seed) -> LabelledSet`` and one entry here."""


def open_set(name: str, *, seed: int = 0) -> LabelledSet:
    """A named set by its name."""
    if name not in SETS:
        raise UnknownName("set", name, SETS)
    return SETS[name](seed=seed)
