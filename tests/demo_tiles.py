"""The demo tiles as tests use them: cheap vectors, and what each tile is."""

from __future__ import annotations

import numpy as np

from samekind.sources import open_labelled


class Tiles:
    """The tiles with their mean colours as vectors; per orientation, the kind of each id."""

    def __init__(self) -> None:
        labelled = open_labelled("tiles")
        self.collection = labelled.collection
        pictures = (item.load().resize((8, 8)) for item in self.collection)
        rows = [np.asarray(one, dtype=np.float32).mean(axis=(0, 1)) / 255 for one in pictures]
        self.X = np.array(rows)
        self.kinds = {
            name: {self.collection.id(k): str(kind) for k, kind in enumerate(kinds)}
            for name, kinds in labelled.orientations.items()
        }
