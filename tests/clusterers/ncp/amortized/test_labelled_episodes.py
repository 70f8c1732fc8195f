"""Views of labelled images as new classes: which, when, and for which items."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes, View
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.errors import InputError

ALL: tuple[View, ...] = ("turn", "mirror", "invert")


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(side: int = 3) -> np.ndarray:
    """Two classes of six copies of one image without any symmetry."""
    one = np.arange(side * side, dtype=np.uint8).reshape(1, 1, side, side)
    return np.concatenate([np.repeat(one, 6, 0), np.repeat(one * 2 + 100, 6, 0)])


CLASSES = np.repeat([4, 7], 6)


def looks() -> dict[tuple[int, ...], tuple[int, int]]:
    """Pixels of every view of both classes, made by numpy, to (class, view)."""
    found = {}
    for kind in range(2):
        image = images()[6 * kind, 0]
        for view in range(16):
            seen = np.rot90(image[:, ::-1] if view & 4 else image, view % 4)
            seen = 255 - seen if view & 8 else seen
            found[tuple(seen.astype(int).ravel().tolist())] = (kind, view)
    assert len(found) == 32
    return found


def pixels(x: Tensor) -> tuple[int, ...]:
    return tuple((x * 255).round().int().flatten().tolist())


def drawn(views: tuple[View, ...], look_alikes: bool) -> list[set[tuple[int, int]]]:
    """The classes in view of each data set; every group is checked to be one of them."""
    source = LabelledEpisodes(
        images(), CLASSES, points=(12, 12), views=views, look_alikes=look_alikes, mean=0.0, std=1.0
    )
    known, found = looks(), []
    x, labels, mask = source.draw(200, chance())
    assert torch.equal(relabel(labels, mask), labels)
    for b in mask.any(1).nonzero()[:, 0].tolist():
        groups: dict[int, set[tuple[int, int]]] = {}
        for n in range(12):
            groups.setdefault(int(labels[b, n]), set()).add(known[pixels(x[b, n])])
        assert all(len(group) == 1 for group in groups.values())
        kinds = set.union(*groups.values())
        assert len(kinds) == len(groups)  # no class in view is two groups
        found.append(kinds)
    return found


def test_every_view_of_every_class_becomes_a_group() -> None:
    assert set.union(*drawn(ALL, True)) == {(kind, view) for kind in range(2) for view in range(16)}


def test_views_that_look_alike_are_kept_out_of_one_data_set() -> None:
    sets = drawn(ALL, False)
    assert set.union(*sets) == {(kind, view) for kind in range(2) for view in range(16)}
    for kinds in sets:
        families = [(kind, view % 2, view // 8) for kind, view in kinds]
        assert len(set(families)) == len(families)


@pytest.mark.parametrize(
    ("views", "expected"), [((), {0}), (("turn",), {0, 1, 2, 3}), (("invert",), {0, 8})]
)
def test_only_the_views_that_were_asked_for_come(
    views: tuple[View, ...], expected: set[int]
) -> None:
    assert {view for kinds in drawn(views, True) for _, view in kinds} == expected


def test_the_number_of_groups_grows_with_the_views() -> None:
    def most(**settings: object) -> int:
        return LabelledEpisodes(images(), CLASSES, **settings).max_groups  # type: ignore[arg-type]

    assert most() == 2
    assert most(views=ALL) == 2 * 4 and most(views=ALL, look_alikes=True) == 2 * 16
    assert most(views=ALL, max_groups=5) == 5


def test_wide_images_can_be_mirrored_but_not_turned() -> None:
    wide = np.arange(24, dtype=np.uint8).reshape(2, 1, 3, 4)
    source = LabelledEpisodes(
        wide, np.array([0, 1]), points=(6, 6), views=["mirror"], look_alikes=True, mean=0.0, std=1.0
    )
    x, _, mask = source.draw(20, chance())
    seen = {pixels(one) for one in x[mask]}
    assert seen == {
        tuple(look.astype(int).ravel().tolist())
        for image in wide[:, 0]
        for look in (image, image[:, ::-1])
    }
    with pytest.raises(InputError, match="square"):
        LabelledEpisodes(wide, np.array([0, 1]), views=["turn"])


def test_what_has_no_views_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="vectors"):
        LabelledEpisodes(np.zeros((4, 2)), np.arange(4), views=["turn"])
    with pytest.raises(InputError, match="uint8"):
        LabelledEpisodes(np.zeros((4, 1, 2, 2)), np.arange(4), views=["invert"])
    with pytest.raises(InputError, match="mirror and invert, got 'flip'"):
        LabelledEpisodes(images(), CLASSES, views=["flip"])  # type: ignore[list-item]


def test_distorted_images_are_different_images_of_the_same_classes() -> None:
    def darker(images: Tensor, generator: torch.Generator) -> Tensor:
        assert images.shape[1:] == (1, 3, 3)
        return images * torch.rand(len(images), 1, 1, 1, generator=generator)

    plain, other = (
        LabelledEpisodes(
            images(), CLASSES, points=(12, 12), distort=distort, mean=0.0, std=1.0
        ).draw(4, chance())
        for distort in (None, darker)
    )
    assert torch.equal(plain.labels, other.labels)
    ratio = other.x.sum((2, 3, 4)) / plain.x.sum((2, 3, 4))
    assert bool((ratio < 1).all())
    assert len(ratio.unique()) > 20
    assert torch.allclose(plain.x * ratio[..., None, None, None], other.x, atol=1e-5)


def test_moved_classes_have_other_means_and_the_same_members() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)).astype(np.float32) + np.repeat(
        [[0, 0], [40, 0], [0, 40]], 20, 0
    )
    kinds = np.repeat([0, 1, 2], 20)
    plain, moved = (
        LabelledEpisodes(rows.astype(np.float32), kinds, points=(30, 30), moved=part).draw(
            20, chance()
        )
        for part in (0.0, 0.5)
    )
    assert torch.equal(plain.labels, moved.labels)
    shift = moved.x - plain.x
    for b in range(20):
        for k in plain.labels[b].unique():
            mine = shift[b, plain.labels[b] == k]
            assert torch.allclose(mine, mine[:1].expand_as(mine), atol=1e-3)  # members stay
    assert float(shift.norm(dim=-1).max()) > 5
    assert float(shift.norm(dim=-1).max()) <= 0.5 * 40 * 2**0.5 + 1


def test_only_vectors_are_moved() -> None:
    with pytest.raises(InputError, match="Omit moved for images"):
        LabelledEpisodes(images(), CLASSES, moved=0.5)
