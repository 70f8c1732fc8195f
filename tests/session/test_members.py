"""Members: typical ones first, doubtful ones first, and how pure a group probably is."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clustering import Clustering
from samekind.session.members import by_doubt, by_typicality, sureness

SPACE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [18.0]], dtype=np.float32)
LABELS = [7, 7, 7, 3, 3, 3]


def snapshot(membership: np.ndarray | None = None) -> Clustering:
    return Clustering.first(LABELS, SPACE, membership)


def test_the_most_typical_member_is_nearest_to_the_middle() -> None:
    found = snapshot()
    assert by_typicality(found, int(found.labels[0]))[0] == 1
    assert by_typicality(found, int(found.labels[3])).tolist() == [4, 3, 5]


def test_with_memberships_a_member_is_as_sure_as_its_share() -> None:
    shares = np.array([[0.1, 0.9], [0.4, 0.6], [0, 1], [1, 0], [0.5, 0.5], [0.8, 0.2]])
    found = snapshot(shares)  # columns follow the raw labels 3 and 7
    assert sureness(found).tolist() == pytest.approx([0.9, 0.6, 1.0, 1.0, 0.5, 0.8])
    assert by_doubt(found, int(found.labels[0])).tolist() == [1, 0, 2]


def test_without_memberships_the_distance_to_the_next_group_decides() -> None:
    found = snapshot()
    sure = sureness(found)
    assert sure[1] == pytest.approx(1.0) and (sure >= 0.5).all()
    assert by_doubt(found, int(found.labels[3]))[0] in (3, 5)
    assert sureness(Clustering.first([0, 0], np.zeros((2, 3)))).tolist() == [1.0, 1.0]


def test_many_members_are_ordered_in_pieces_as_they_would_be_at_once() -> None:
    rng = np.random.default_rng(0)
    space = rng.normal(size=(40_000, 3)).astype(np.float32)
    found = Clustering.first(np.zeros(40_000, dtype=int), space)
    far = np.linalg.norm(space - space.mean(axis=0), axis=1)
    ordered = far[by_typicality(found, 1)]
    assert (np.diff(ordered) >= -1e-4).all()
