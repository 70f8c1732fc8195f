"""Small piles that tests share: items that are only names, and points with two orientations."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.items import Collection, Item, Preview


class Point(Item):
    """An item that is only a name; its vector is given beside it."""

    kind = "row"

    def __init__(self, id: str, stamp: str | None = None) -> None:
        self.id = id
        self._stamp = stamp

    @property
    def stamp(self) -> str:
        return self._stamp or self.id

    def load(self) -> Any:
        return self.id

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


def points(n: int, prefix: str = "p") -> Collection:
    return Collection("points", [Point(f"{prefix}{i}", f"stamp-{i}") for i in range(n)])


def clouds(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four clouds; the kinds are their columns, so a default clustering does not give them."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 4
    X = rng.normal(scale=0.4, size=(n, 6))
    X[:, 0] += 4.0 * (place // 2)
    X[:, 1] += 3.0 * (place % 2)
    return X.astype(np.float32), place % 2
