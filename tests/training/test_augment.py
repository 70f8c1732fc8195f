"""Views: known properties of each chance, and slow references written for one image at a time."""

from __future__ import annotations

import colorsys
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image, ImageEnhance
from torch import Tensor

from samekind.errors import InputError, UnknownName
from samekind.training.augment import FAMILIES, Draw, Family, Views, family_named, plain

STILL = Family(24, flip_p=0, jitter_p=0, gray_p=0, scale=(1, 1), ratio=(1, 1))
COLOURS = replace(STILL, jitter_p=1.0)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(n: int, height: int = 24, width: int = 24, seed: int = 0) -> Tensor:
    """Smooth colour pictures with some gray and some saturated ones, uint8."""
    coarse = torch.rand((n, 3, 5, 5), generator=seeded(seed)) * 1.4 - 0.2
    fine = torch.nn.functional.interpolate(coarse, (height, width), mode="bilinear")
    return (fine.clamp(0, 1) * 255).round().to(torch.uint8)


def as_picture(image: Tensor) -> Image.Image:
    return Image.fromarray(image.permute(1, 2, 0).numpy())


def changed(drawn: Draw, **columns: list[float] | list[list[int]] | list[bool]) -> Draw:
    return drawn._replace(**{name: torch.tensor(column) for name, column in columns.items()})


def still(n: int, height: int = 24, width: int = 24) -> Draw:
    return Draw.nothing(n, height, width, "cpu")


# ---------------------------------------------------------------- crops


def test_crops_have_the_area_and_ratio_of_the_family_and_lie_inside() -> None:
    drawn = Views(FAMILIES["pcl"]).draw(20_000, 200, 200, generator=seeded())
    share = drawn.height * drawn.width / 200**2
    ratio = drawn.width / drawn.height
    assert 0.07 < share.min() < 0.09 and 0.97 < share.max() <= 1
    assert ratio.min() > 0.72 and ratio.max() < 1.39
    # Large crops of extreme ratio do not fit and are drawn again: the mean lies below (.08 + 1) / 2.
    assert abs(float(share.mean()) - reference_share(200)) < 0.01
    assert abs(float(ratio.log().mean())) < 0.01
    assert (drawn.top >= 0).all() and (drawn.top + drawn.height <= 200).all()
    assert (drawn.left >= 0).all() and (drawn.left + drawn.width <= 200).all()
    for column in drawn[:4]:
        assert torch.equal(column, column.round())


def reference_share(side: int, n: int = 20_000) -> float:
    """Mean share of the area by the usual loop: up to ten tries, then the whole image."""
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(n):
        share = 1.0
        for _ in range(10):
            area = side * side * rng.uniform(0.08, 1.0)
            ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= side and 0 < h <= side:
                share = w * h / side**2
                break
        shares.append(share)
    return float(np.mean(shares))


def test_places_of_small_crops_are_spread_evenly() -> None:
    small = replace(FAMILIES["pcl"], scale=(0.25, 0.25), ratio=(1.0, 1.0))
    drawn = Views(small).draw(20_000, 8, 8, generator=seeded())
    assert (drawn.height == 4).all() and (drawn.width == 4).all()
    for place in (drawn.top, drawn.left):
        counts = torch.bincount(place.long(), minlength=5)
        assert len(counts) == 5 and (counts / 20_000 - 0.2).abs().max() < 0.02


@pytest.mark.parametrize(
    ("height", "width", "box"), [(40, 8, (14, 0, 11, 8)), (8, 40, (0, 14, 8, 11))]
)
def test_where_no_crop_fits_the_largest_of_an_allowed_ratio_is_taken_from_the_middle(
    height: int, width: int, box: tuple[int, int, int, int]
) -> None:
    whole = replace(FAMILIES["pcl"], scale=(1.0, 1.0))
    drawn = Views(whole).draw(3, height, width, generator=seeded())
    for row in range(3):
        assert tuple(int(column[row]) for column in drawn[:4]) == box


@pytest.mark.parametrize("size", [48, 24, 9])
def test_crop_and_resize_equal_those_of_an_image_library_also_where_they_shrink(size: int) -> None:
    images = pictures(6, 30, 37)
    boxes = [
        (0, 0, 30, 37),
        (3, 5, 8, 20),
        (29, 36, 1, 1),
        (10, 0, 20, 13),
        (7, 7, 23, 30),
        (1, 2, 3, 4),
    ]
    top, left, height, width = (list(map(float, side)) for side in zip(*boxes, strict=True))
    drawn = changed(still(6), top=top, left=left, height=height, width=width)
    made = Views(STILL.at(size)).render(images, drawn)
    for row, (t, h, w) in enumerate((b[0], b[2], b[3]) for b in boxes):
        x = boxes[row][1]
        cut = as_picture(images[row]).crop((x, t, x + w, t + h))
        wanted = np.asarray(cut.resize((size, size), Image.Resampling.BILINEAR)) / 255
        assert (
            np.abs(made[row].permute(1, 2, 0).numpy() - wanted).max() < 1.6 / 255
        )  # it rounds twice


def test_nothing_drawn_is_the_identity() -> None:
    images = pictures(4)
    busy = replace(FAMILIES["cc-imagenet"].at(24), mean=None, std=None)
    made = Views(busy).render(images, still(4))
    assert torch.allclose(made, images / 255, atol=2e-6)


# ---------------------------------------------------------------- flips, gray, blur


def test_half_of_the_views_are_flipped_and_each_chance_comes_as_often_as_said() -> None:
    drawn = Views(FAMILIES["cc-imagenet"]).draw(20_000, 32, 32, generator=seeded())
    assert abs(float(drawn.flip.float().mean()) - 0.5) < 0.015
    assert abs(float(drawn.gray.float().mean()) - 0.2) < 0.015
    assert abs(float((drawn.sigma > 0).float().mean()) - 0.5) < 0.015
    assert abs(float((drawn.hue != 0).float().mean()) - 0.8) < 0.015
    together = torch.stack(
        [drawn.flip.float(), drawn.gray.float(), (drawn.sigma > 0).float(), drawn.hue]
    )
    assert (torch.corrcoef(together) - torch.eye(4)).abs().max() < 0.03
    assert drawn.sigma.max() <= 2 and drawn.hue.abs().max() <= 0.2
    assert 0.19 < drawn.brightness.min() < 0.22 and 1.78 < drawn.brightness.max() < 1.81


def test_all_orders_of_the_colour_steps_come_equally_often() -> None:
    order = Views(FAMILIES["pcl"]).draw(24_000, 32, 32, generator=seeded()).order
    codes = (order * torch.tensor([64, 16, 4, 1])).sum(dim=1)
    kinds, counts = codes.unique(return_counts=True)
    assert len(kinds) == 24
    assert ((counts - 1000).abs() < 150).all()


def test_a_flip_mirrors_left_and_right() -> None:
    images = pictures(2)
    made = Views(STILL).render(images, changed(still(2), flip=[True, False]))
    assert torch.allclose(made[0], images[0].flip(2) / 255, atol=1e-6)
    assert torch.allclose(made[1], images[1] / 255, atol=1e-6)


def test_gray_gives_equal_channels_only_where_it_was_drawn() -> None:
    images = pictures(2)
    made = Views(replace(STILL, gray_p=0.2)).render(images, changed(still(2), gray=[True, False]))
    assert torch.equal(made[0, 0], made[0, 1]) and torch.equal(made[0, 0], made[0, 2])
    wanted = np.asarray(as_picture(images[0]).convert("L")) / 255
    assert np.abs(made[0, 0].numpy() - wanted).max() < 1.01 / 255
    assert torch.allclose(made[1], images[1] / 255, atol=1e-6)


def test_blur_equals_a_slow_convolution_with_a_mirrored_border() -> None:
    images, radius, sigmas = pictures(3), 5, [0.0, 0.4, 2.0]
    family = replace(STILL, blur_p=0.5, blur_radius=radius)
    made = Views(family).render(images, changed(still(3), sigma=sigmas)).numpy()
    assert np.abs(made[0] - images[0].numpy() / 255).max() < 1e-6
    for row in (1, 2):
        steps = np.arange(-radius, radius + 1)
        bell = np.exp(-(steps**2) / (2 * sigmas[row] ** 2))
        bell /= bell.sum()
        padded = np.pad(
            images[row].numpy() / 255, ((0, 0), (radius, radius), (radius, radius)), "reflect"
        )
        for channel in range(3):
            lines = np.array([np.convolve(line, bell, "valid") for line in padded[channel]])
            wanted = np.array([np.convolve(line, bell, "valid") for line in lines.T]).T
            assert np.abs(made[row, channel] - wanted).max() < 1e-5


# ---------------------------------------------------------------- colour


def slow_jitter(
    picture: NDArray[np.float64], factors: tuple[float, ...], places: list[int]
) -> NDArray[np.float64]:
    """One image (3, H, W), one step after the other, hue by the standard library pixel by pixel."""
    weights = np.array([0.299, 0.587, 0.114])
    x = picture
    for step in np.argsort(places):
        gray = np.tensordot(weights, x, axes=1)
        if step == 0:
            x = x * factors[0]
        elif step == 1:
            x = factors[1] * x + (1 - factors[1]) * gray.mean()
        elif step == 2:
            x = factors[2] * x + (1 - factors[2]) * gray[None]
        else:
            flat = [colorsys.rgb_to_hsv(*pixel) for pixel in x.reshape(3, -1).T]
            turned = [colorsys.hsv_to_rgb((h + factors[3]) % 1, s, v) for h, s, v in flat]
            x = np.array(turned).T.reshape(x.shape)
        x = x.clip(0, 1)
    return x


def test_jitter_equals_a_slow_reference_in_every_order() -> None:
    from itertools import permutations

    orders = [list(order) for order in permutations(range(4))]
    n = len(orders)
    images = pictures(n, 12, 12, seed=3)
    images[0, 1:] = images[0, :1]  # a gray picture has no hue
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.uniform(0.2, 1.8, (n, 3)), rng.uniform(-0.5, 0.5, n)]).astype(
        np.float32
    )
    brightness, contrast, saturation, hue = factors.T.tolist()
    drawn = changed(
        still(n, 12, 12),
        brightness=brightness,
        contrast=contrast,
        saturation=saturation,
        hue=hue,
        order=orders,
    )
    made = Views(COLOURS.at(12)).render(images, drawn).numpy()
    for row in range(n):
        wanted = slow_jitter(images[row].numpy() / 255, tuple(factors[row].tolist()), orders[row])
        assert np.abs(made[row] - wanted).max() < 1e-4, orders[row]


def test_without_hue_the_three_other_steps_keep_their_order() -> None:
    orders = [[0, 1, 2, 3], [3, 2, 0, 1], [2, 3, 1, 0], [1, 0, 3, 2]]
    images = pictures(4, 12, 12, seed=4)
    drawn = changed(
        still(4, 12, 12),
        brightness=[1.6] * 4,
        contrast=[0.3] * 4,
        saturation=[1.9] * 4,
        order=orders,
    )
    made = Views(replace(COLOURS.at(12), jitter=(0.8, 0.8, 0.9, 0.0))).render(images, drawn).numpy()
    for row in range(4):
        wanted = slow_jitter(images[row].numpy() / 255, (1.6, 0.3, 1.9, 0.0), orders[row])
        assert np.abs(made[row] - wanted).max() < 1e-5


@pytest.mark.parametrize(
    ("column", "enhance"),
    [
        ("brightness", ImageEnhance.Brightness),
        ("contrast", ImageEnhance.Contrast),
        ("saturation", ImageEnhance.Color),
    ],
)
@pytest.mark.parametrize("factor", [0.25, 1.7])
def test_single_colour_steps_equal_those_of_an_image_library(
    column: str, enhance: type, factor: float
) -> None:
    images = pictures(1)
    made = Views(COLOURS).render(images, changed(still(1), **{column: [factor]}))[0]
    wanted = np.asarray(enhance(as_picture(images[0])).enhance(factor)) / 255
    assert np.abs(made.permute(1, 2, 0).numpy() - wanted).max() < 2 / 255  # it rounds to 256 levels


@pytest.mark.parametrize("turns", [1.0, -1.0, 0.0])
def test_a_full_turn_of_the_hue_is_the_identity_and_a_third_moves_the_channels(
    turns: float,
) -> None:
    images = pictures(3)
    made = Views(COLOURS).render(images, changed(still(3), hue=[turns] * 3))
    assert torch.allclose(made, images / 255, atol=1e-5)
    third = Views(COLOURS).render(images, changed(still(3), hue=[1 / 3] * 3))
    assert torch.allclose(third, (images / 255).roll(1, dims=1), atol=1e-5)


# ---------------------------------------------------------------- the whole


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_makes_two_different_views_in_range(name: str) -> None:
    family = FAMILIES[name].at(32)
    made = Views(family)(pictures(6), seeded())
    assert made.shape == (12, 3, 32, 32) and made.dtype == torch.float32
    assert made.is_contiguous(memory_format=torch.channels_last)
    assert torch.isfinite(made).all()
    if family.mean is not None and family.std is not None:
        made = made * torch.tensor(family.std).view(3, 1, 1) + torch.tensor(family.mean).view(
            3, 1, 1
        )
    assert made.min() > -1e-5 and made.max() < 1 + 1e-5
    first, second = made[:6], made[6:]
    assert ((first - second).abs().mean(dim=(1, 2, 3)) > 1e-3).all()


def test_published_families_are_as_published() -> None:
    pcl, cc, imagenet = FAMILIES["pcl"], FAMILIES["cc"], FAMILIES["cc-imagenet"]
    assert (pcl.size, pcl.scale, pcl.ratio) == (128, (0.08, 1.0), (3 / 4, 4 / 3))
    assert (pcl.jitter, pcl.jitter_p, pcl.gray_p, pcl.blur_p) == (
        (0.4, 0.4, 0.4, 0.1),
        0.8,
        0.2,
        0.0,
    )
    assert pcl.mean == (0.485, 0.456, 0.406) and pcl.std == (0.229, 0.224, 0.225)
    assert (cc.size, cc.jitter, cc.blur_p, cc.mean) == (224, (0.4, 0.4, 0.4, 0.1), 0.0, None)
    assert (imagenet.jitter, imagenet.blur_p) == ((0.8, 0.8, 0.8, 0.2), 0.5)
    assert (2 * imagenet.blur_radius + 1, imagenet.blur_sigma) == (23, (0.1, 2.0))
    assert FAMILIES["cc-small"].size == 32
    with pytest.raises(UnknownName, match="cc-small"):
        family_named("cc-smal")


def test_the_generator_decides_and_the_global_one_is_left_alone() -> None:
    views, images = Views(FAMILIES["cc-small"]), pictures(5)
    before = torch.get_rng_state()
    once, again, other = (
        views(images, seeded(1)),
        views(images, seeded(1)),
        views(images, seeded(2)),
    )
    assert torch.equal(once, again) and not torch.equal(once, other)
    assert torch.equal(before, torch.get_rng_state())


def test_a_view_depends_on_its_own_image_and_its_own_chances_only() -> None:
    views, images = Views(FAMILIES["cc-imagenet"].at(24)), pictures(8)
    drawn = views.draw(8, 24, 24, generator=seeded())
    together = views.render(images, drawn)
    for row in range(8):
        alone = views.render(
            images[row : row + 1], Draw(*(column[row : row + 1] for column in drawn))
        )
        assert torch.allclose(together[row], alone[0], atol=1e-5)
    assert len(drawn.hue.unique()) > 4 and len(drawn.top.unique()) > 1


def test_plain_images_are_resized_and_normalised_without_chance() -> None:
    images = pictures(3, 20, 30)
    family = FAMILIES["pcl"].at(16)
    made = plain(images, family)
    assert torch.equal(made, plain(images, family)) and made.shape == (3, 3, 16, 16)
    resized = as_picture(images[1]).resize((16, 16), Image.Resampling.BILINEAR)
    wanted = (np.asarray(resized) / 255 - np.array(family.mean)) / np.array(family.std)
    assert np.abs(made[1].permute(1, 2, 0).numpy() - wanted).max() < 0.03


def test_autocast_does_not_coarsen_the_colours_and_half_floats_come_out_where_asked() -> None:
    images = pictures(3)
    views = Views(FAMILIES["pcl"].at(24))
    wanted = views(images, seeded())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(views(images, seeded()), wanted)
    coarse = Views(FAMILIES["pcl"].at(24), dtype=torch.bfloat16)(images, seeded())
    assert coarse.dtype == torch.bfloat16 and torch.allclose(coarse.float(), wanted, atol=0.02)


def test_the_pass_is_one_graph() -> None:
    views, images = Views(FAMILIES["cc-imagenet"].at(24)), pictures(4)
    drawn = views.draw(4, 24, 24, generator=seeded())
    graph = torch.compile(views.render, backend="aot_eager", fullgraph=True, dynamic=False)
    assert torch.allclose(graph(images, drawn), views.render(images, drawn), atol=1e-6)


@pytest.mark.parametrize(
    "images",
    [
        torch.zeros(2, 3, 8, 8),
        torch.zeros(2, 1, 8, 8, dtype=torch.uint8),
        torch.zeros(3, 8, 8, dtype=torch.uint8),
    ],
)
def test_other_arrays_are_refused_in_words(images: Tensor) -> None:
    with pytest.raises(InputError, match=r"uint8 images of shape \(B, 3, H, W\)"):
        Views(FAMILIES["cc-small"])(images)
