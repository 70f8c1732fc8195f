"""Vectors of a frozen image network as they are, for weights that were trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.frozen.efficientnet import FEATURES, EfficientNetLite0
from samekind.items import Item


class Lite0Features:
    """EfficientNet-Lite0 without reduction: for ncp with weights=photos.

    Other encoders centre their vectors and turn them to the principal axes of the pile, so that
    their numbers mean something else for every pile. These stay as the network gives them.

    Parameters
    ----------
    models : folder that stores the converted network; None: the default cache folder.
    """

    name: str = "efficientnet-lite0-features"
    kinds: tuple[str, ...] = ("image",)
    width: int | None = EfficientNetLite0.width

    def __init__(self, *, models: Path | None = None) -> None:
        self._whole = EfficientNetLite0(models=models)

    @property
    def fingerprint(self) -> str:
        """That of the whole encoder: what one of them has read, the other need not read again."""
        return self._whole.fingerprint

    def prepare(self, image: Any) -> Any:
        """Scale an image to the network's size."""
        return self._whole.prepare(image)

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Features of the network and of the colours, each item by itself."""
        return self._whole.read(items)

    def fit(self, raw: Any) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """(n, 1280) the features of the network."""
        return np.asarray(raw, dtype=np.float32)[:, :FEATURES]
