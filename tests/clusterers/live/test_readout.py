"""Readout: one map does what the maps one after the other do."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clusterers.linear_head import LinearHead
from samekind.clusterers.live import heads
from samekind.clusterers.live.heads import Readout, normalise, strongest


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "CHUNK_ITEMS", 7)


def maps(n: int = 50) -> tuple[np.ndarray, np.ndarray, np.ndarray, LinearHead]:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, 6)) + 30).astype(np.float32)
    head = LinearHead(
        rng.normal(size=(5, 3)).astype(np.float32), np.array([0.5, -1e4, 0.0], np.float32)
    )
    return X, X.mean(axis=0).astype(np.float64), rng.normal(size=(6, 5)), head


def test_coordinates_and_shares_are_those_of_the_maps_one_after_the_other() -> None:
    X, mean, turn, head = maps()
    turned = (X - mean) @ turn
    strength = np.empty((50, 3), dtype=np.float32)
    found = Readout.of(mean, turn, head, width=2)
    space = found.apply(X, strength)
    assert space.dtype == np.float32 and found.n_groups == 3
    assert np.allclose(space, turned[:, :2], atol=1e-4)
    assert np.allclose(strength, head(turned), atol=1e-4)
    assert np.array_equal(found.groups(X), strength.argmax(axis=1))
    assert not (strength.argmax(axis=1) == 1).any(), "the head has shut this group out"


def test_without_a_head_only_coordinates_are_found_and_strengths_are_left_alone() -> None:
    X, mean, turn, _ = maps()
    strength = np.full((50, 3), 7.0)
    found = Readout.of(mean, turn, None, width=32)
    assert found.apply(X, strength).shape == (50, 5) and found.n_groups == 0
    assert (strength == 7).all()


def test_short_numbers_may_hold_the_shares() -> None:
    X, mean, turn, head = maps()
    strength = np.empty((50, 3), dtype=np.float16)
    Readout.of(mean, turn, head, width=2).apply(X, strength)
    assert np.allclose(strength, head((X - mean) @ turn), atol=2e-3)


def test_rows_are_brought_to_one_in_place_and_the_first_of_the_highest_wins() -> None:
    strength = np.tile(np.array([[1.0, 3.0, 3.0]], dtype=np.float32), (20, 1))
    assert strongest(strength).tolist() == [1] * 20
    assert normalise(strength) is strength
    assert np.allclose(strength, [1 / 7, 3 / 7, 3 / 7])
    assert normalise(np.zeros((3, 2))).tolist() == [[0, 0]] * 3


def test_no_items_have_no_groups() -> None:
    X, mean, turn, head = maps()
    found = Readout.of(mean, turn, head, width=2)
    assert found.groups(X[:0]).tolist() == []
    assert strongest(np.empty((0, 3))).tolist() == []
