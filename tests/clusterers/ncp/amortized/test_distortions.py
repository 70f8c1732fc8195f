"""Distorted images: what may change, and what may not."""

from __future__ import annotations

import pytest
import torch

from samekind.clusterers.ncp.amortized.distortions import Distortion, Photos, Strokes

STILL = Strokes(turn=0, slant=0, stretch=1, shift=0, bend=0, stroke=0, noise=0)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def signs(count: int = 6) -> torch.Tensor:
    """Copies of a light bar on a dark ground."""
    image = torch.zeros(count, 1, 28, 28)
    image[:, :, 6:22, 12:15] = 1.0
    return image


@pytest.mark.parametrize("distort", [Strokes(), Photos()])
def test_every_image_is_distorted_by_itself_within_the_same_range(distort: Distortion) -> None:
    found = distort(signs(), chance())
    assert found.shape == signs().shape
    assert found.min() >= 0
    assert found.max() <= 1
    assert len({tuple(one.flatten().tolist()) for one in found}) == len(found)
    assert torch.equal(found, distort(signs(), chance()))
    assert not torch.equal(found, distort(signs(), chance(1)))


def test_without_any_amount_a_sign_stays_as_it_is() -> None:
    assert torch.allclose(STILL(signs(), chance()), signs(), atol=1e-5)


def test_strokes_become_thicker_and_thinner() -> None:
    ink = Strokes(turn=0, slant=0, stretch=1, shift=0, bend=0, noise=0)(signs(40), chance())
    amount = ink.sum((1, 2, 3)) / signs(1).sum()
    assert amount.min() < 0.9
    assert amount.max() > 1.4


def test_photos_are_mirrored_and_keep_their_colours_about() -> None:
    image = torch.zeros(60, 3, 32, 32)
    image[..., :16] = 0.8  # light on the left
    found = Photos(turn=0, part=1.0, light=0.0)(image, chance())
    left = found[..., :16].mean((1, 2, 3)) > found[..., 16:].mean((1, 2, 3))
    assert 15 < int(left.sum()) < 45
    assert torch.allclose(found.mean((1, 2, 3)), torch.full((60,), 0.4), atol=0.02)
