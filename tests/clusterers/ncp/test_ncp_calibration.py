"""Calibration: real vectors and training draws come out alike, wherever they began."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samekind.clusterers.ncp.amortized.calibration import (
    Calibrated,
    Calibration,
    calibrated,
    principal_axes,
)
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.mixed_vectors import general_vectors
from samekind.errors import InputError


def distances(x: np.ndarray) -> np.ndarray:
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


@pytest.mark.parametrize("d", [1, 2, 3, 8, 16])
def test_rotations_find_the_axes_that_a_library_finds(d: int) -> None:
    chance = torch.Generator().manual_seed(d)
    x = torch.randn(20, 30, d, generator=chance, dtype=torch.float64)
    x = x * torch.rand(20, 1, d, generator=chance, dtype=torch.float64)
    covariance = x.mT @ x / 30
    values, axes = principal_axes(covariance, sweeps=8)
    assert torch.allclose(values, torch.linalg.eigvalsh(covariance).flip(1), atol=1e-9)
    assert torch.allclose(axes.mT @ axes, torch.eye(d, dtype=x.dtype).expand(20, d, d), atol=1e-9)
    assert torch.allclose(axes.mT @ covariance @ axes, torch.diag_embed(values), atol=1e-9)


@pytest.mark.parametrize("d", [2, 8, 20])
def test_training_and_use_see_the_same_numbers_up_to_mirroring(d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(40, d)) * np.geomspace(1, 30, d) + 5
    used = Calibration.of(X, 8)(X)
    padded = torch.zeros(1, 50, d, dtype=torch.float64)
    padded[0, :40] = torch.from_numpy(X)
    mask = torch.arange(50)[None] < 40
    trained = calibrated(padded, mask, 8)[0].numpy()
    assert not trained[40:].any()
    np.testing.assert_allclose(np.abs(trained[:40]), np.abs(used), atol=2e-2)


def test_place_turn_and_scale_of_the_vectors_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [5, 4, 3, 2, 1]
    turn, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    moved = 1e-3 * X @ turn + 70
    one, other = Calibration.of(X, 8)(X), Calibration.of(moved, 8)(moved)
    np.testing.assert_allclose(distances(one), distances(other), atol=1e-3)
    assert np.square(one).mean() == pytest.approx(1, rel=1e-4)


def test_more_dimensions_than_items_and_huge_numbers_stay_finite() -> None:
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(5, 3000)), 1e300 * rng.normal(size=(20, 3)), np.zeros((4, 3))):
        found = Calibration.of(X, 8)
        assert np.isfinite(found(X)).all() and 0 <= found.kept <= 1 + 1e-9
        assert found(X).shape == (len(X), 8)


def test_kept_says_how_much_of_the_variance_lies_on_the_axes() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 16))
    assert Calibration.of(X, 8).kept == pytest.approx(0.5, abs=0.08)
    assert Calibration.of(X[:, :3], 8).kept == pytest.approx(1.0)


def test_draws_are_calibrated_and_keep_labels_and_padding() -> None:
    data = general_vectors((4, 40), 5, 8)
    episode = data.draw(16, torch.Generator().manual_seed(0))
    assert episode.x.shape == (16, 40, 8) and torch.isfinite(episode.x).all()
    assert not episode.x[~episode.mask].any()
    total = episode.x.square().sum((1, 2)) / episode.mask.sum(1).clamp_min(1) / 8
    assert torch.allclose(total[episode.mask.any(1)], torch.ones(1), atol=1e-3)
    again = data.generator.draw(16, torch.Generator().manual_seed(0))
    assert torch.equal(again.labels, episode.labels) and data.max_groups == 5


def test_pictures_cannot_be_calibrated() -> None:
    class Pictures(GaussianMixtures):
        def draw(self, batch, generator, points=None):
            episode = super().draw(batch, generator, points)
            return episode._replace(x=episode.x[..., None])

    with pytest.raises(InputError, match=r"shape \(B, N, d\)"):
        Calibrated(Pictures()).draw(2, torch.Generator())
