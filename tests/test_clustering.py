"""Clustering: numbers and names that stay put."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.clustering import Clustering
from samekind.errors import InputError

Labels = list[int]


def flat(n: int) -> np.ndarray:
    return np.zeros((n, 2), dtype=np.float32)


def test_the_first_groups_are_numbered_by_size() -> None:
    clustering = Clustering.first([5, 9, 9, 9, 5, 2], flat(6))
    assert clustering.labels.tolist() == [2, 1, 1, 1, 2, 3]
    assert clustering.sizes() == {1: 3, 2: 2, 3: 1}
    assert clustering.name(2) == "Group 2"


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=30), st.permutations(range(5)))
def test_renaming_the_raw_labels_changes_no_number(raw: Labels, order: list[int]) -> None:
    before = Clustering.first(raw, flat(len(raw)))
    after = before.followed_by([order[k] for k in raw], flat(len(raw)))
    assert after.labels.tolist() == before.labels.tolist()
    assert after.snapshot == before.snapshot + 1


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_numbers_are_never_used_again_for_another_group(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 20))
    labels = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    now = Clustering.first(data.draw(labels), flat(n))
    ever = set(now.numbers)
    for _ in range(4):
        following = now.followed_by(data.draw(labels), flat(n))
        fresh = set(following.numbers) - set(now.numbers)
        assert not fresh & ever
        ever |= fresh
        for number in set(following.numbers) & set(now.numbers):
            assert (now.labels[following.labels == number] == number).any()
        now = following


def test_a_split_keeps_the_number_of_the_larger_part_and_its_lineage() -> None:
    before = Clustering.first([0, 0, 0, 0, 1, 1], flat(6)).named(1, "dogs")
    after = before.followed_by([0, 0, 0, 2, 1, 1], flat(6))
    assert after.labels.tolist() == [1, 1, 1, 3, 2, 2]
    assert after.name(1) == "dogs"
    assert after.lineage == {1: {1: 3}, 2: {2: 2}, 3: {1: 1}}


def test_placed_items_decide_which_group_keeps_the_number() -> None:
    before = Clustering.first([0, 0, 0, 0, 0, 1], flat(6))
    weight = np.array([1.0, 1, 1, 1, 9, 1])
    plain = before.followed_by([0, 0, 0, 0, 1, 2], flat(6))
    weighed = before.followed_by([0, 0, 0, 0, 1, 2], flat(6), weight=weight)
    assert plain.labels[0] == 1 and weighed.labels[4] == 1


def test_membership_columns_follow_the_numbers() -> None:
    membership = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    clustering = Clustering.first([0, 1, 1], flat(3), membership)
    assert clustering.labels.tolist() == [2, 1, 1]
    assert clustering.membership is not None
    assert clustering.membership[0].tolist() == [0.1, 0.9]


def test_what_does_not_fit_is_refused() -> None:
    clustering = Clustering.first([0, 1], flat(2))
    with pytest.raises(InputError, match="one label for each of 3 items"):
        Clustering.first([0, 1], flat(3))
    with pytest.raises(InputError, match="next snapshot to have 2 items, got 3"):
        clustering.followed_by([0, 1, 1], flat(3))
    with pytest.raises(InputError, match="one column per group"):
        Clustering.first([0, 1], flat(2), np.ones((2, 3)))
    with pytest.raises(InputError, match="no group 7"):
        clustering.named(7, "x")
    assert clustering.named(1, "x").named(1, "").name(1) == "Group 1"


def test_what_is_derived_is_computed_once() -> None:
    clustering = Clustering.first([0, 1], flat(2))
    calls: list[int] = []
    for _ in range(2):
        clustering.memo("key", lambda: calls.append(1))
    assert calls == [1]
