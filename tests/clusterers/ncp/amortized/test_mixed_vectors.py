"""The law of the shipped weights: every kind of data set it promises is in it."""

from __future__ import annotations

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode
from samekind.clusterers.ncp.amortized.mixed_vectors import MixedVectors


def drawn(n: int, batch: int = 300, **settings: float) -> Episode:
    data = MixedVectors(**settings)  # type: ignore[arg-type]
    return data.draw(batch, torch.Generator().manual_seed(0), (n, n))


def within(episode: Episode) -> Tensor:
    """(B, N, d) points less the mean of their group."""
    x, labels, _ = episode
    inside = torch.nn.functional.one_hot(labels).float()  # (B, N, K)
    mean = inside.mT @ x / inside.sum(1)[..., None].clamp_min(1)
    return x - inside @ mean


def test_data_sets_have_one_to_all_dimensions_and_many_have_two() -> None:
    episode = drawn(30)
    used = episode.x.abs().sum(1).gt(0).sum(1)
    assert used.min() == 1 and used.max() == 16
    assert 0.35 < (used == 2).float().mean() < 0.55


def test_numbers_of_groups_reach_from_one_to_many_and_sizes_from_equal_to_uneven() -> None:
    labels = drawn(200).labels
    count = labels.amax(1) + 1
    assert count.min() == 1 and count.max() >= 15 and 4 < count.float().mean() < 8
    share = torch.nn.functional.one_hot(labels).float().mean(1).amax(1) * count
    assert share[count > 2].min() < 1.5, "some have groups of nearly equal size"
    assert share[count > 2].max() > 3, "in others one group is most of it"


def test_groups_reach_from_overlapping_to_clear() -> None:
    def width_of_all(apart: tuple[float, float]) -> float:
        episode = drawn(100, apart=apart, heavy=0.0)  # type: ignore[arg-type]
        return float(episode.x.square().mean() / within(episode).square().mean())

    assert width_of_all((3.0, 3.0)) < 3 < 20 < width_of_all((40.0, 40.0))


def test_noise_is_round_stretched_or_heavy_as_asked_for() -> None:
    def extremes(**settings: float) -> Tensor:
        """Shares of the largest axis in the noise of planes with one group."""
        episode = drawn(400, plane=1.0, heavy=0.0, uneven=1.0, kinds=1, **settings)
        noise = within(episode)[episode.mask.any(1)][:, :, :2]
        axes = torch.linalg.eigvalsh(noise.mT @ noise)
        return axes[:, 1] / axes.sum(1)

    assert extremes(round=1.0).max() < 0.62
    assert extremes(round=0.0).max() > 0.9

    def tail(heavy: float) -> float:
        noise = within(drawn(400, plane=1.0, heavy=heavy, uneven=1.0, round=1.0))[:, :, 0]
        return float((noise.square().mean(1) ** -2 * noise.pow(4).mean(1)).mean())

    assert tail(0.0) < 3.3 and tail(1.0) > 4
