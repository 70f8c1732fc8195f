"""Two groupings of the same items: how far they agree, and whether one lies within the other."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clustering import Clustering
from samekind.workspace.comparison import Comparison, compare, describe


def compared(a: object, b: object) -> Comparison:
    space = np.zeros((len(np.asarray(a)), 2), dtype=np.float32)
    return compare(Clustering.first(np.asarray(a), space), Clustering.first(np.asarray(b), space))


def species_and_breeds() -> tuple[np.ndarray, np.ndarray]:
    """522 pets of 37 breeds, one of which was put to the other species."""
    breed = np.arange(522) % 37
    species = (breed < 12).astype(int)
    species[0] = 1 - species[0]
    return species, breed


def test_breeds_are_nested_in_species_though_the_two_agree_by_chance_only() -> None:
    species, breed = species_and_breeds()
    found = compared(species, breed)
    assert found.agreement < 0.1
    assert found.nesting is not None
    assert (found.nesting.inner, found.nesting.outside) == ("b", 1)
    assert describe(found, "species", "breed") == (
        "The groups of “breed” lie within groups of “species”, for all but 1 of 522 items."
    )
    turned = compared(breed, species)
    assert turned.nesting is not None and turned.nesting.inner == "a"
    assert describe(turned, "breed", "species") == describe(found, "species", "breed")


def test_groups_without_exception_are_nested_without_a_number() -> None:
    breed = np.arange(100) % 10
    words = describe(compared(breed, breed % 2), "breed", "species")
    assert words == "Every group of “breed” lies within one group of “species”."


@pytest.mark.parametrize("n_fine", [3, 37, 261])
def test_what_random_groups_do_is_not_nesting(n_fine: int) -> None:
    rng = np.random.default_rng(0)
    coarse, fine = rng.integers(2, size=522), rng.integers(n_fine, size=522)
    assert compared(coarse, fine).nesting is None
    uneven = (rng.random(522) < 0.03).astype(int)  # nearly everything lies in one group anyway
    assert compared(uneven, fine).nesting is None


def test_a_single_group_or_single_items_hold_no_nesting() -> None:
    labels = np.arange(30) % 3
    assert compared(labels, np.zeros(30, dtype=int)).nesting is None
    assert compared(labels, np.arange(30)).nesting is None


def test_the_same_grouping_is_called_the_same() -> None:
    labels = np.arange(60) % 4
    assert describe(compared(labels, 3 - labels), "one", "two") == (
        "The two are nearly the same grouping."
    )
