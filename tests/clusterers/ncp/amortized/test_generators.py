"""Generators: what they draw is what they promise, and it follows the seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samekind.clusterers.ncp.amortized.generators import (
    Episode,
    GaussianMixtures,
    Generator,
    centred,
)
from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.priors import CRP, MFM
from samekind.errors import InputError


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def labelled(n: int = 40) -> LabelledEpisodes:
    """Items whose value says which they are: class k holds 100 k, 100 k + 1, ..."""
    classes = np.repeat(np.arange(5), n)
    return LabelledEpisodes(
        100.0 * classes[:, None] + np.tile(np.arange(n), 5)[:, None], classes, points=(4, 20)
    )


GENERATORS: list[Generator] = [
    GaussianMixtures(),
    GaussianMixtures.pytorch_like(),
    GaussianMixtures.tf2_like(),
    GaussianMixtures(
        16, MFM(), (3, 30), 12, (2.0, 8.0), (0.6, 1.0), (0.3, 3.0), "axis", (2, 16), True, "whole"
    ),
    labelled(),
]


@pytest.mark.parametrize("generator", GENERATORS, ids=range(5))
def test_episodes_are_padded_masked_and_named_in_order(generator: Generator) -> None:
    low, high = generator.points
    x, labels, mask = generator.draw(50, chance())
    assert x.shape[:2] == labels.shape == mask.shape == (50, high)
    sizes = mask.sum(1)
    used = sizes > 0
    assert int(sizes[used].min()) >= low and int(sizes.max()) <= high and int(used.sum()) > 40
    assert torch.equal(mask, torch.arange(high) < sizes[:, None])
    assert torch.equal(relabel(labels, mask), labels) and int(labels.max()) < generator.max_groups
    assert bool(torch.isfinite(x).all())
    again = generator.draw(50, chance())
    assert torch.equal(x, again.x) and torch.equal(labels, again.labels)
    assert not torch.equal(x, generator.draw(50, chance(1)).x)


@pytest.mark.parametrize("generator", GENERATORS, ids=range(5))
def test_sizes_can_be_narrowed(generator: Generator) -> None:
    episode = generator.draw(30, chance(), (6, 7))
    assert episode.labels.shape == (30, 7)
    assert set(episode.mask.sum(1).tolist()) <= {0, 6, 7}


def test_points_lie_around_their_centres_with_the_scales_asked_for() -> None:
    generator = GaussianMixtures(3, CRP(0.5), (200, 200), 16, spread=10.0, scale=2.0)
    x, labels, mask = generator.draw(60, chance())
    within, centres = [], []
    for b in range(60):
        for k in range(int(labels[b].max()) + 1):
            mine = x[b][(labels[b] == k) & mask[b]]
            if len(mine) > 30:
                within.append(mine.std(0))
                centres.append(mine.mean(0))
    assert float(torch.cat(within).mean()) == pytest.approx(2.0, abs=0.05)
    assert float(torch.cat(centres).std()) == pytest.approx(10.0, abs=1.5)


def test_scales_differ_by_axis_and_turning_makes_axes_depend_on_each_other() -> None:
    base = dict(
        dim=2, prior=CRP(1e-6), points=(400, 400), scale=(0.2, 5.0), scales="axis", spread=0.0
    )
    plain, turned = (
        GaussianMixtures(**base, rotate=turn).draw(40, chance()).x for turn in (False, True)
    )
    spread = plain.std(1)
    assert float((spread[:, 0] / spread[:, 1]).log().abs().max()) > 1

    def related(x: torch.Tensor) -> float:
        return float(torch.stack([torch.corrcoef(row.T)[0, 1].abs() for row in x]).mean())

    assert related(plain) < 0.1 < 0.3 < related(turned)


@pytest.mark.parametrize("how", ["none", "median", "mean", "standard", "whole"])
def test_centring_ignores_the_padding(how: str) -> None:
    x = torch.randn(2, 6, 3, generator=chance()) * 4 + 7
    mask = torch.arange(6) < torch.tensor([[6], [4]])
    alone = centred(x[1:, :4], mask[1:, :4], how)
    x[1, 4:] = 1e6
    together = centred(x, mask, how)
    assert torch.allclose(together[1, :4], alone[0], atol=1e-5) and not together[1, 4:].any()
    if how == "median":
        assert torch.equal(alone[0].median(0).values, torch.zeros(3))
    elif how != "none":
        assert torch.allclose(alone.mean(1), torch.zeros(1, 3), atol=1e-5)
    if how == "standard":
        assert torch.allclose(alone.std(1, correction=0), torch.ones(1, 3), atol=1e-4)
    constant = centred(torch.full((1, 5, 2), 3.0), torch.ones(1, 5, dtype=torch.bool), how)
    assert bool(torch.isfinite(constant).all())


def test_faded_axes_have_centres_that_lie_closer() -> None:
    x = GaussianMixtures(4, points=(50, 50), fade=0.5, scale=1e-3).draw(200, chance()).x
    spread = x.flatten(0, 1).std(0)
    assert (spread[1:] / spread[:-1]).tolist() == pytest.approx([0.5] * 3, rel=0.15)


def test_a_data_set_with_too_many_groups_is_blanked() -> None:
    _, labels, mask = GaussianMixtures(prior=CRP(50.0), points=(20, 20), max_groups=3).draw(
        30, chance()
    )
    assert not mask.any() and not labels.any()


def test_inactive_axes_are_zero() -> None:
    x, _, mask = GaussianMixtures(8, active=(3, 3)).draw(5, chance())
    assert not x[..., 3:].any() and bool(x[..., :3][mask].all())


def test_labelled_episodes_have_one_class_per_group_and_no_item_twice() -> None:
    x, labels, mask = labelled().draw(60, chance())
    for row, label, there in zip(x[..., 0], labels, mask, strict=True):
        values = row[there].numpy()
        assert len(set(values)) == len(values)
        groups = {(int(k), int(v // 100)) for k, v in zip(label[there], values, strict=True)}
        assert len(groups) == len({k for k, _ in groups}) == len({c for _, c in groups})
    everything = x[mask][:, 0]
    assert len(torch.unique(everything)) > 150, "every item gets its turn"


def test_bytes_are_normalised_and_images_keep_their_shape() -> None:
    images = np.zeros((20, 1, 4, 4), dtype=np.uint8)
    images[:10] = 255
    episode = LabelledEpisodes(images, np.repeat([3, 8], 10), mean=0.5, std=0.5).draw(2, chance())
    assert isinstance(episode, Episode) and episode.x.shape[2:] == (1, 4, 4)
    assert set(torch.unique(episode.x).tolist()) <= {-1.0, 1.0}


def test_what_cannot_be_drawn_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="at least 1"):
        GaussianMixtures().draw(3, chance(), (5, 4))
    with pytest.raises(InputError, match="one class for each of"):
        LabelledEpisodes(np.zeros((3, 2)), np.zeros(4, dtype=int))
    with pytest.raises(InputError, match="Expected centre to be"):
        centred(torch.zeros(1, 2, 2), torch.ones(1, 2, dtype=torch.bool), "middle")
