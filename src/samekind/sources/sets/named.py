"""The table of all named sets. A new one is a function with a docstring and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from samekind.errors import UnknownName
from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets import drawn, frozen, tables, texts
from samekind.sources.sets import picture_sets as pictures
from samekind.sources.sets.avatars import avatars
from samekind.sources.sets.charts import charts
from samekind.sources.sets.fashion import fashion_mnist
from samekind.sources.sets.graphs import karate, sbm_edges
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.leaves import leaves
from samekind.sources.sets.sensors import sensors
from samekind.sources.sets.tickets import tickets
from samekind.sources.sets.tiles import tiles


def digits(seed: int = 0) -> LabelledSet:
    """The 1,797 handwritten digits of scikit-learn: 8 x 8 pixels as ready vectors.

    Always the same, whatever the seed.

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


WITHIN: dict[str, Callable[..., LabelledSet]] = {
    "tiles": tiles,
    "digits": digits,
    "avatars": avatars,
    "leaves": leaves,
    "charts": charts,
    "tickets": tickets,
    "sensors": sensors,
    "gaussian-mixtures": drawn.gaussian_mixtures,
    "gaussian-mixtures-close": drawn.gaussian_mixtures_close,
    "gaussian-mixtures-unequal": drawn.gaussian_mixtures_unequal,
    "sbm-graphs": drawn.sbm_graphs,
    "sbm-crossed": drawn.sbm_crossed,
    "sbm-edges": sbm_edges,
    "karate": karate,
    "cifar10-frozen": frozen.cifar10_frozen,
    "cifar20-frozen": frozen.cifar20_frozen,
    "fashion-frozen": frozen.fashion_frozen,
    "fruits-frozen": frozen.fruits_frozen,
    "faces-frozen": frozen.faces_frozen,
}
"""Sets that ship with the package or are drawn: functions ``(seed) -> LabelledSet``."""
PACKAGED: dict[str, Callable[..., LabelledSet]] = {
    "penguins": tables.penguins,
    "cars": tables.cars,
    "weather": tables.weather,
    "small-talk": texts.small_talk,
}
"""Sets in the packages of the extra ``sets``: functions ``(seed) -> LabelledSet``."""
FROM_FILES: dict[str, Callable[..., LabelledSet]] = {
    "cifar10": pictures.cifar10,
    "cifar10-2": pictures.cifar10_2,
    "cifar20": pictures.cifar20,
    "cifar100-4": pictures.cifar100_4,
    "fashion-mnist": fashion_mnist,
    "cards": pictures.cards,
    "fruits": pictures.fruits,
    "faces": pictures.faces,
    "colored-digits": pictures.colored_digits,
    "snippets": texts.snippets,
}
"""Sets in the user's files: functions ``(seed, data) -> LabelledSet``."""
SETS: dict[str, Callable[..., LabelledSet]] = {**WITHIN, **PACKAGED, **FROM_FILES}
"""Every named set. Nothing is downloaded."""


def open_set(name: str, *, seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """Open a set by its name.

    Parameters
    ----------
    seed : determines sets that are drawn; the others are always the same.
    data : folder with the files of sets that are not part of the package; None: the folder given
        by the environment variable SAMEKIND_DATA.
    """
    if name not in SETS:
        raise UnknownName("set", name, SETS)
    if name in FROM_FILES:
        return FROM_FILES[name](seed=seed, data=data)
    return SETS[name](seed=seed)
