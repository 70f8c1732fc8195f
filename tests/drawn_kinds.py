"""Small pictures and vectors of clearly different kinds, for methods that ask nobody anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.constraints import Constraints
from samekind.training.progress import Monitor, TrainingReport

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 12, "batch_size": 40,
    "device": "cpu",
}  # fmt: skip


def drawn(n: int = 80, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Stripes across, stripes down or a disc, in any colour: (n, 3, 12, 12) and their kinds."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(n) % k
    row, column = np.mgrid[:12, :12]
    images = rng.integers(0, 60, (n, 3, 12, 12))
    for image, kind, shift in zip(images, kinds, rng.integers(0, 4, n), strict=True):
        disc = (row - 5.5) ** 2 + (column - 5.5) ** 2 < 16
        shape = ((row + shift) // 2 % 2, (column + shift) // 2 % 2, disc)[kind]
        image += rng.integers(100, 190, (3, 1, 1)) * shape
    return images.astype(np.uint8), kinds


def clouds(n: int = 120, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Clouds of points (n, 8) that overlap a little, and which one each is of."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(n) % k
    return rng.normal(size=(n, 8)) + 4 * np.eye(k, 8)[kinds], kinds


def some_answers(kinds: np.ndarray, count: int) -> Constraints:
    rng = np.random.default_rng(1)
    pairs = [rng.choice(len(kinds), 2, replace=False) for _ in range(count)]
    links = [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in pairs]
    return Constraints.from_links(len(kinds), links)


def honoured(labels: np.ndarray, known: Constraints) -> bool:
    links = known.links(implied=True)
    return bool(np.array_equal(labels[links.a] == labels[links.b], links.same))


class Curve:
    """Keeps the parts of the loss of every step."""

    def __init__(self) -> None:
        self.told: list[TrainingReport] = []
        self.monitor = Monitor(report=self.told.append, every=1)

    def part(self, name: str) -> list[float]:
        return [told.parts[name] for told in self.told if name in told.parts]

    def fell(self, name: str, window: int = 5) -> float:
        """By how much a part has fallen from the first steps to the last ones."""
        values = self.part(name)
        assert len(values) >= 2 * window
        return float(np.mean(values[:window]) - np.mean(values[-window:]))
