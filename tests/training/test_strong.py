"""Strong views: each operation against an image library, and the chances against what was asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from samekind.errors import InputError
from samekind.training.augment import FAMILIES, Views
from samekind.training.loop import TwoViews
from samekind.training.operations import MIRRORED, NUMBER, OPERATIONS, operated, resized
from samekind.training.strong import (
    FIXMATCH_STRONG,
    FIXMATCH_WEAK,
    TCL,
    TCL_IMAGENET,
    Strong,
    StrongDraw,
    StrongFamily,
    WeakStrong,
)

Picture = Image.Image


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(n: int, height: int = 32, width: int = 32, seed: int = 0) -> Tensor:
    """Noisy colour pictures, uint8; the second is of one colour, the third of few levels."""
    draw = seeded(seed)
    coarse = torch.rand((n, 3, 5, 5), generator=draw) * 1.2 - 0.1
    fine = torch.nn.functional.interpolate(coarse, (height, width), mode="bilinear")
    fine = fine + torch.randn(fine.shape, generator=draw) * 0.05
    images = (fine.clamp(0.05, 1) * 255).round().to(torch.uint8)
    if n > 2:
        images[1] = 90
        images[2] = images[2] // 80 * 60
    return images


def as_picture(image: Tensor) -> Picture:
    return Image.fromarray(image.permute(1, 2, 0).numpy())


def as_levels(picture: Picture) -> Tensor:
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1).float()


def done(images: Tensor, name: str, value: float = 0.0) -> Tensor:
    n = len(images)
    return operated(images.float(), torch.full((n,), NUMBER[name]), torch.full((n,), value))


def moved(*numbers: float) -> Callable[[Picture], Picture]:
    return lambda picture: picture.transform(picture.size, Image.Transform.AFFINE, numbers)


# ---------------------------------------------------------------- operations


EXACT: list[tuple[str, float, Callable[[Picture], Picture]]] = [
    ("identity", 0.0, lambda picture: picture),
    ("autocontrast", 0.0, ImageOps.autocontrast),
    ("equalize", 0.0, ImageOps.equalize),
    *[("solarize", v, lambda p, v=v: ImageOps.solarize(p, v)) for v in (0.0, 77.3, 128.0, 256.0)],
    *[
        ("posterize", v, lambda p, v=v: ImageOps.posterize(p, int(v)))
        for v in (4.0, 5.9, 7.99, 8.0)
    ],
    *[("colour", v, lambda p, v=v: ImageEnhance.Color(p).enhance(v)) for v in (0.05, 0.6)],
    *[("contrast", v, lambda p, v=v: ImageEnhance.Contrast(p).enhance(v)) for v in (0.05, 0.6)],
    *[("brightness", v, lambda p, v=v: ImageEnhance.Brightness(p).enhance(v)) for v in (0.05, 0.6)],
    *[("sharpness", v, lambda p, v=v: ImageEnhance.Sharpness(p).enhance(v)) for v in (0.05, 0.6)],
    ("translate-x", 0.07, moved(1, 0, 0.07 * 32, 0, 1, 0)),
    ("translate-x", -0.07, moved(1, 0, -0.07 * 32, 0, 1, 0)),
    ("translate-y", 0.1, moved(1, 0, 0, 0, 1, 3.2)),
    ("translate-y", -0.03, moved(1, 0, 0, 0, 1, -0.96)),
    ("shear-x", 0.083, moved(1, 0.083, 0, 0, 1, 0)),
    ("shear-x", -0.083, moved(1, -0.083, 0, 0, 1, 0)),
    ("shear-y", 0.061, moved(1, 0, 0, 0.061, 1, 0)),
    ("shear-y", -0.061, moved(1, 0, 0, -0.061, 1, 0)),
]


@pytest.mark.parametrize(("name", "value", "wanted"), EXACT, ids=lambda v: str(v)[:12])
def test_operations_equal_those_of_an_image_library(
    name: str, value: float, wanted: Callable[[Picture], Picture]
) -> None:
    images = pictures(6)
    made = done(images, name, value)
    for row in range(6):
        library = as_levels(wanted(as_picture(images[row])))
        apart = (made[row] - library).abs()
        assert apart.max() <= 1
        # The library stretches with rounded factors: what should be whole falls one level short.
        assert (apart > 0).float().mean() < (0.05 if name == "autocontrast" else 0.01)


@pytest.mark.parametrize("degrees", [29.0, -12.5, 3.3])
def test_turning_equals_that_of_an_image_library_but_for_a_few_pixels_on_the_edge(
    degrees: float,
) -> None:
    images = pictures(4, seed=1)
    made = done(images, "rotate", degrees)
    for row in range(4):
        library = as_levels(as_picture(images[row]).rotate(degrees))
        assert (made[row] != library).float().mean() < 0.01


@pytest.mark.parametrize("quarters", [1, 2, -1])
@pytest.mark.parametrize("size", [32, 33])
def test_a_quarter_turn_moves_every_pixel_to_its_place(quarters: int, size: int) -> None:
    images = pictures(3, size, size)
    made = done(images, "rotate", 90.0 * quarters)
    assert torch.equal(made, images.float().rot90(quarters, dims=(2, 3)))


def test_equalizing_flattens_the_histogram() -> None:
    images = pictures(4, 64, 64)[3:]

    def uneven(levels: Tensor) -> float:
        """Largest distance of the share of pixels below a level from that of an even spread."""
        below = torch.stack([(levels < level).float().mean() for level in range(256)])
        return float((below - torch.arange(256) / 256).abs().max())

    made = done(images, "equalize")
    for channel in range(3):
        assert uneven(made[0, channel]) < 0.07 < 0.12 < uneven(images[0, channel])


def test_pictures_of_one_colour_stay_what_they_are_when_stretched_or_equalized() -> None:
    images = torch.full((1, 3, 16, 16), 90, dtype=torch.uint8)
    for name in ("autocontrast", "equalize", "sharpness", "identity"):
        assert torch.equal(done(images, name, 0.5), images.float())


def test_every_image_has_its_own_operation() -> None:
    images = pictures(1).repeat(14, 1, 1, 1)
    values = torch.tensor([low + 0.3 * (high - low) for low, high in OPERATIONS.values()])
    together = operated(images.float(), torch.arange(14), values)
    for row, name in enumerate(OPERATIONS):
        alone = done(images[row : row + 1], name, float(values[row]))
        assert torch.equal(together[row], alone[0]), name
    assert len({picture.numpy().tobytes() for picture in together}) == 14


@pytest.mark.parametrize("size", [20, 48])
def test_resizing_equals_the_bicubic_one_of_an_image_library(size: int) -> None:
    images = pictures(4, 32, 40) // 2 + 60  # beyond 0 and 255 it cuts off between its two passes
    made = resized(images, size)
    for row in range(4):
        library = as_picture(images[row]).resize((size, size), Image.Resampling.BICUBIC)
        assert (made[row] - as_levels(library)).abs().max() <= 1


# ---------------------------------------------------------------- chances


def drawn(n: int, family: StrongFamily) -> StrongDraw:
    strong = Strong(family)
    return strong.draw(strong.chances(n, "cpu", seeded()))


def test_all_operations_come_equally_often_in_every_round_and_independently() -> None:
    n = 28_000
    found = drawn(n, StrongFamily(32))
    assert found.operation.shape == (n, 4) and len(OPERATIONS) == 14
    for k in range(4):
        counts = torch.bincount(found.operation[:, k], minlength=14)
        assert len(counts) == 14 and (counts - n / 14).abs().max() < 5 * math.sqrt(n / 14)
    repeated = (found.operation[:, 0] == found.operation[:, 1]).float().mean()
    assert float(repeated) == pytest.approx(1 / 14, abs=0.01)  # with replacement
    assert abs(float(found.flip.float().mean()) - 0.5) < 0.015


def test_how_much_is_drawn_evenly_between_the_bounds_and_mirrored_where_said() -> None:
    found = drawn(60_000, StrongFamily(32))
    for name, (low, high) in OPERATIONS.items():
        value = found.value[found.operation == NUMBER[name]]
        assert value.min() >= low - 1e-5 and value.max() <= high + 1e-5
        if high > low:
            quarter = ((value - low) / (high - low) * 4).long().clamp(0, 3)
            assert (torch.bincount(quarter) / len(value) - 0.25).abs().max() < 0.02, name
    assert set(MIRRORED) == {name for name, (low, _) in OPERATIONS.items() if low < 0}


def test_the_hole_is_of_the_drawn_side_around_an_evenly_drawn_pixel() -> None:
    family = StrongFamily(32, n_ops=0, flip_p=0)
    assert family.hole == 11 and StrongFamily(224).hole == 75 and family.at(224).hole == 75
    found = drawn(22_000, family)
    sides = torch.bincount(found.side.long(), minlength=12)
    assert sides[0] == 0 and len(sides) == 12
    assert (sides[1:] - 2000).abs().max() < 250
    for start in (found.top, found.left):
        middle = (start + (found.side / 2).floor()).long()
        counts = torch.bincount(middle, minlength=32)
        assert len(counts) == 32 and (counts - 22_000 / 32).abs().max() < 150
    assert abs(float(torch.corrcoef(torch.stack([found.top, found.left]))[0, 1])) < 0.05


def test_the_hole_covers_its_part_inside_the_image_and_nothing_else() -> None:
    family = StrongFamily(32, n_ops=0, flip_p=0)
    images = torch.full((300, 3, 32, 32), 255, dtype=torch.uint8)
    strong = Strong(family)
    found = strong.draw(strong.chances(300, "cpu", seeded(3)))
    made = strong.render(images, found)
    for row in range(300):
        top, left, side = int(found.top[row]), int(found.left[row]), int(found.side[row])
        wanted = torch.ones(32, 32)
        wanted[max(top, 0) : top + side, max(left, 0) : left + side] = 0
        assert torch.equal(made[row], wanted.expand(3, 32, 32))
    assert (found.top < 0).any() and (found.top + found.side > 32).any()


def test_no_hole_and_no_operations_leave_the_image() -> None:
    images = pictures(5)
    still = Strong(StrongFamily(32, n_ops=0, flip_p=0, cutout=0))
    assert torch.equal(still(images, seeded()), images / 255)
    nothing = StrongDraw.nothing(5, 4, "cpu")
    assert torch.equal(Strong(StrongFamily(32)).render(images, nothing), images / 255)


def test_a_flip_mirrors_left_and_right() -> None:
    images = pictures(2)
    found = StrongDraw.nothing(2, 4, "cpu")._replace(flip=torch.tensor([True, False]))
    made = Strong(StrongFamily(32)).render(images, found)
    assert torch.equal(made[0], images[0].flip(2) / 255)
    assert torch.equal(made[1], images[1] / 255)


# ---------------------------------------------------------------- whole views


def test_rounds_follow_each_other() -> None:
    images = pictures(1)
    rounds = [("translate-x", 0.1), ("equalize", 0.0), ("rotate", 17.0), ("brightness", 0.5)]
    found = StrongDraw.nothing(1, 4, "cpu")._replace(
        operation=torch.tensor([[NUMBER[name] for name, _ in rounds]]),
        value=torch.tensor([[value for _, value in rounds]]),
    )
    x = images
    for name, value in rounds:
        x = done(x, name, value)
    assert torch.equal(Strong(StrongFamily(32)).render(images, found), x / 255)


def test_the_same_seed_gives_the_same_views_and_another_others() -> None:
    strong, images = Strong(StrongFamily(32)), pictures(1).repeat(64, 1, 1, 1)
    before = torch.get_rng_state()
    once, again, other = (strong(images, seeded(s)) for s in (1, 1, 2))
    assert torch.equal(once, again) and not torch.equal(once, other)
    assert torch.equal(before, torch.get_rng_state())
    assert len({view.numpy().tobytes() for view in once}) > 60  # each image its own draw


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_views_are_finite_in_range_and_channels_last(dtype: torch.dtype) -> None:
    images = torch.cat([pictures(200, 40, 28), torch.zeros(40, 3, 40, 28, dtype=torch.uint8)])
    images[-20:] = 255
    with torch.autocast("cpu", dtype=torch.bfloat16):
        made = Strong(StrongFamily(32), dtype=dtype)(images, seeded())
    assert made.shape == (240, 3, 32, 32) and made.dtype == dtype
    assert made.is_contiguous(memory_format=torch.channels_last)
    assert made.isfinite().all() and made.min() >= 0 and made.max() <= 1


def test_normalisation_comes_before_the_hole() -> None:
    mean, std = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
    plain, normal = StrongFamily(32), StrongFamily(32, mean=mean, std=std)
    images = pictures(8)
    strong = Strong(plain)
    found = strong.draw(strong.chances(8, "cpu", seeded()))
    without = found._replace(side=torch.zeros(8))
    wanted = strong.render(images, without) - torch.tensor(mean).view(3, 1, 1)
    wanted = wanted / torch.tensor(std).view(3, 1, 1)
    hole = (strong.render(torch.full_like(images, 255), found._replace(
        operation=torch.zeros_like(found.operation))) == 0)  # fmt: skip
    torch.testing.assert_close(Strong(normal).render(images, found), wanted * ~hole)


def test_the_weak_views_come_first_and_are_those_of_the_weak_family() -> None:
    views: TwoViews = WeakStrong(TCL.at(32), StrongFamily(32))
    assert isinstance(views, WeakStrong)
    images = pictures(6)
    made = views(images, seeded(4))
    assert made.shape == (12, 3, 32, 32)
    assert made.is_contiguous(memory_format=torch.channels_last)
    chance, weak, strong = seeded(4), Views(TCL.at(32)), Strong(StrongFamily(32))
    first = weak.draw(6, 32, 32, "cpu", chance)
    assert torch.equal(made[:6], weak.render(images, first))
    assert torch.equal(made[6:], strong(images, chance))
    assert torch.equal(views.plain(images), weak.plain(images))


def test_views_never_ask_the_device_for_a_number() -> None:
    with FakeTensorMode():
        views = WeakStrong(TCL.at(32), StrongFamily(32))
        images = torch.zeros(6, 3, 40, 32, dtype=torch.uint8)
        assert views(images).shape == (12, 3, 32, 32)


def test_the_pass_can_be_compiled_as_one_graph_and_gives_the_same_views() -> None:
    strong, images = Strong(StrongFamily(32)), pictures(8)
    chances = strong.chances(8, "cpu", seeded())
    whole = torch.compile(strong.of_chances, fullgraph=True, dynamic=False, backend="aot_eager")
    assert torch.equal(whole(images, chances), strong.of_chances(images, chances))


def test_the_family_of_tcl_is_as_published() -> None:
    assert TCL.jitter == (0.4, 0.4, 0.2, 0.1) and TCL.scale == (0.2, 1.0)
    assert (TCL.size, TCL.jitter_p, TCL.gray_p, TCL.blur_p) == (224, 0.8, 0.2, 0.0)
    assert TCL_IMAGENET.jitter == (0.8, 0.8, 0.4, 0.2) and TCL_IMAGENET.blur_p == 1.0


def test_wrong_images_and_families_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="uint8"):
        Strong(StrongFamily(32))(torch.zeros(2, 3, 32, 32))
    with pytest.raises(InputError, match=r"\(2, 1, 32, 32\)"):
        WeakStrong(TCL.at(32), StrongFamily(32))(torch.zeros(2, 1, 32, 32, dtype=torch.uint8))
    with pytest.raises(InputError, match="one size"):
        WeakStrong(TCL, StrongFamily(32))
    with pytest.raises(InputError, match="mean"):
        WeakStrong(FAMILIES["pcl"], StrongFamily(128))
    with pytest.raises(InputError, match="4 pixels"):
        Strong(StrongFamily(3))


# ---------------------------------------------------------------- views of FixMatch


def test_a_shift_is_a_crop_of_the_reflected_image() -> None:
    images = pictures(9)
    family = StrongFamily(32, n_ops=0, flip_p=0, cutout=0, shift=0.125)
    assert family.steps == 4
    down, across = torch.arange(-4, 5), torch.arange(4, -5, -1)
    found = StrongDraw.nothing(9, 0, "cpu")._replace(down=down, across=across)
    made = Strong(family).render(images, found)
    wide = torch.nn.functional.pad(images.float(), (4, 4, 4, 4), mode="reflect")
    for row in range(9):
        top, left = 4 + int(down[row]), 4 + int(across[row])
        assert torch.equal(made[row], wide[row, :, top : top + 32, left : left + 32] / 255)


def test_the_weak_view_of_fixmatch_is_flipped_half_of_the_time_and_shifted_evenly() -> None:
    found = drawn(18_000, FIXMATCH_WEAK)
    assert abs(float(found.flip.float().mean()) - 0.5) < 0.02
    for shift in (found.down, found.across):
        counts = torch.bincount(shift + 4, minlength=9)
        assert len(counts) == 9 and (counts - 2000).abs().max() < 220  # -4 to 4 of 32 pixels
    assert abs(float(torch.corrcoef(torch.stack([found.down, found.across]).float())[0, 1])) < 0.03
    images = torch.full((50, 3, 32, 32), 90, dtype=torch.uint8)
    assert torch.equal(Strong(FIXMATCH_WEAK)(images, seeded()), images / 255)  # nothing else


def test_the_strong_view_of_fixmatch_has_two_operations_half_of_them_left_out() -> None:
    found = drawn(28_000, FIXMATCH_STRONG)
    assert found.operation.shape == (28_000, 2)
    still = (found.operation == NUMBER["identity"]).float().mean()
    assert float(still) == pytest.approx(0.5 + 0.5 / 14, abs=0.01)
    assert float(found.down.abs().max()) == 4
    for name in ("shear-x", "shear-y", "translate-x", "translate-y"):
        value = found.value[found.operation == NUMBER[name]]
        assert 0.29 < float(value.max()) <= 0.3 and -0.3 <= float(value.min()) < -0.29
    turned = found.value[found.operation == NUMBER["rotate"]]
    assert 29 < float(turned.max()) <= 30
    assert (found.side == 16).all()


def test_the_hole_of_fixmatch_is_gray_before_the_mean_is_subtracted() -> None:
    mean, std = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
    family = replace(FIXMATCH_STRONG, mean=mean, std=std)
    images = torch.full((4, 3, 32, 32), 255, dtype=torch.uint8)
    strong = Strong(family)
    found = StrongDraw.nothing(4, 2, "cpu")._replace(side=torch.full((4,), 16.0))
    made = strong.render(images, found)
    for channel in range(3):
        level, whole = ((v - mean[channel]) / std[channel] for v in (0.5, 1.0))
        torch.testing.assert_close(made[:, channel, :16, :16], torch.full((4, 16, 16), level))
        torch.testing.assert_close(made[:, channel, 16:], torch.full((4, 16, 32), whole))


def test_the_views_of_fixmatch_can_be_compiled_and_never_wait_for_the_device() -> None:
    strong, images = Strong(FIXMATCH_STRONG), pictures(8)
    chances = strong.chances(8, "cpu", seeded())
    whole = torch.compile(strong.of_chances, fullgraph=True, dynamic=False, backend="aot_eager")
    assert torch.equal(whole(images, chances), strong.of_chances(images, chances))
    with FakeTensorMode():
        for family in (FIXMATCH_WEAK, FIXMATCH_STRONG):
            views = Strong(family)(torch.zeros(6, 3, 40, 32, dtype=torch.uint8))
            assert views.shape == (6, 3, 32, 32)
