"""Tiny self-supervised trainings on drawn pictures."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.training.selflearn import SelfLearner, SelfSetting

TINY = SelfSetting(
    "simclr", groups=3, channels=2, size=8, batch_size=8, device="cpu", hidden=16, boost=0.5
)


def striped(n: int = 96, seed: int = 2) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Gray pictures of stripes across, stripes down, and checks, of any brightness.

    Patterns and not colours: strong views take the cast of a colour away.
    """
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    row, column = np.mgrid[:8, :8]
    pictures = np.empty((n, 3, 8, 8))
    for i, kind in enumerate(kinds):
        a, b = rng.integers(0, 4, 2)
        across, down = (row + a) // 2, (column + b) // 2
        wave = (across, down, across + down)[kind] % 2
        bright, deep = rng.uniform(90, 160), rng.uniform(40, 80)
        pictures[i] = bright + (2 * wave - 1) * deep + rng.normal(0, 10, (3, 8, 8))
    return pictures.clip(0, 255).astype(np.uint8), kinds


def weights(learner: SelfLearner) -> dict[str, torch.Tensor]:
    return {name: t.clone() for name, t in learner._state().tensors.items()}


def assert_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    different = [name for name in one if not torch.equal(one[name], other[name])]
    assert not different, different[:3]
