"""Drawn pictures: every trait can be seen, and nothing but the traits tells them."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from PIL import Image, ImageDraw

from samekind.sources.sets import avatars, charts, leaves
from samekind.sources.sets.drawn_pictures import Pen
from samekind.sources.sets.tiles import SCALE, SIDE

SETS = (avatars, leaves, charts)


def drawn(module: ModuleType, traits: dict[str, str]) -> np.ndarray:
    """(96, 96, 3) a picture of these traits, with the same randomness every time."""
    picture = Image.new("RGB", (SIDE * SCALE, SIDE * SCALE))
    module._draw(Pen(ImageDraw.Draw(picture), np.random.default_rng(0)), traits)
    return np.asarray(picture.reduce(SCALE), dtype=int)


@pytest.mark.parametrize("module", SETS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_value_of_a_trait_looks_different(module: ModuleType) -> None:
    usual = {trait: values[0] for trait, values in module.TRAITS.items()}
    for trait, values in module.TRAITS.items():
        pictures = [drawn(module, {**usual, trait: value}) for value in values]
        for k, one in enumerate(pictures):
            for other in pictures[:k]:
                changed = (np.abs(one - other).max(axis=2) > 40).sum()
                assert changed > 40, f"{trait}: {values[k]} cannot be told from another"
