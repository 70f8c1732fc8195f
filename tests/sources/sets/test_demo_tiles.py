"""The demo tiles: fixed by a seed, balanced, and silent about their kinds."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from samekind.sources import LabelledSet, open_labelled, open_source
from samekind.sources.sets.tiles import SIDE, TRAITS, draw, drawn_pixels, tiles


@pytest.fixture(scope="module")
def pile() -> LabelledSet:
    return tiles(seed=0)


def test_the_same_seed_draws_the_same_bytes(pile: LabelledSet) -> None:
    drawn_pixels.cache_clear()
    again = open_source("tiles")
    assert drawn_pixels.cache_info().misses == 512
    assert again.fingerprint == pile.collection.fingerprint
    assert all(a.preview() == b.preview() for a, b in zip(again, pile.collection, strict=True))


def test_another_seed_draws_other_tiles(pile: LabelledSet) -> None:
    other = open_labelled("tiles", seed=1)
    assert other.collection.fingerprint != pile.collection.fingerprint
    assert other.orientations["colour"].tolist() != pile.orientations["colour"].tolist()


def test_there_are_a_few_hundred_and_every_kind_is_equally_frequent(pile: LabelledSet) -> None:
    assert len(pile.collection) == 384
    assert pile.held_out is not None and len(pile.held_out) == 128
    assert set(pile.orientations) == {"colour", "shape", "pattern", "count"}
    for trait, labels in pile.orientations.items():
        kinds, counts = np.unique(labels, return_counts=True)
        assert set(kinds) == set(TRAITS[trait]) and set(counts) == {96}
        assert set(np.unique(pile.held_out_orientations[trait], return_counts=True)[1]) == {32}


def test_the_orientations_are_independent_of_each_other(pile: LabelledSet) -> None:
    for first in TRAITS:
        for second in TRAITS:
            if first != second:
                pairs = list(zip(pile.orientations[first], pile.orientations[second], strict=True))
                assert set(np.unique(pairs, axis=0, return_counts=True)[1]) == {24}


def test_ids_and_items_do_not_reveal_the_kinds(pile: LabelledSet) -> None:
    ids = list(pile.collection.ids())
    assert all(re.fullmatch(r"tile-\d{4}", id) for id in ids) and len(set(ids)) == 384
    assert set(vars(pile.collection[0])) == {"id", "_pixels"}
    for labels in pile.orientations.values():
        same_as_next = (labels[1:] == labels[:-1]).mean()
        assert 0.12 < same_as_next < 0.38  # a quarter by chance


def test_no_two_tiles_are_the_same_picture(pile: LabelledSet) -> None:
    assert pile.held_out is not None
    stamps = [item.stamp for item in (*pile.collection, *pile.held_out)]
    assert len(set(stamps)) == len(stamps)


def test_a_tile_is_a_small_rgb_picture(pile: LabelledSet) -> None:
    item = pile.collection[0]
    assert item.kind == "image"
    assert item.load().size == (SIDE, SIDE) and item.load().mode == "RGB"
    shown = Image.open(io.BytesIO(item.preview().data))
    assert item.preview().mime == "image/png" and shown.size == (SIDE, SIDE)


def test_nothing_is_cut_off_at_the_edge(pile: LabelledSet) -> None:
    for item in pile.collection:
        pixels = np.asarray(item.load(), dtype=int)
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert np.abs(edge - pixels[0, 0]).max() <= 2


def ink_of(kinds: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    tile = np.asarray(draw(kinds, np.random.default_rng(5)), dtype=int)
    return np.asarray(np.abs(tile - tile[0, 0]).sum(axis=2) > 120)


@pytest.mark.parametrize("colour", range(4))
@pytest.mark.parametrize("shape", range(4))
def test_as_many_shapes_can_be_counted_as_there_should_be(colour: int, shape: int) -> None:
    from scipy.ndimage import label

    touching = np.ones((3, 3))  # corners too: the tips of stars are fine
    counts = [label(ink_of((colour, shape, 0, count)), touching)[1] for count in range(4)]
    assert counts == [1, 2, 4, 9]


def test_patterns_differ_in_how_much_ink_they_use_and_how_often_it_stops() -> None:
    solid, stripes, dots, outline = (ink_of((3, 1, pattern, 0)) for pattern in range(4))
    changes = [int(np.diff(row.astype(int)).astype(bool).sum()) for row in (solid[48], stripes[48])]
    assert changes[0] == 2 and changes[1] >= 8
    assert solid.sum() > 1.4 * stripes.sum() and stripes.sum() > dots.sum()
    assert not outline[44:52, 44:52].any()


def test_colours_are_far_apart() -> None:
    inks = [
        np.asarray(draw((colour, 0, 0, 0), np.random.default_rng(1)), dtype=int)[48, 48]
        for colour in range(4)
    ]
    distances = [np.abs(a - b).max() for i, a in enumerate(inks) for b in inks[:i]]
    assert min(distances) > 90
