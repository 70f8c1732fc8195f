"""Raw features as one array: without a copy where possible, never all in memory."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lettered_words import Letters, Word, words
from samekind.encoders import encode, row_file
from samekind.encoders.reduction import Reduction
from samekind.encoders.row_file import RowFile


class Kept(Letters):
    """Keeps the raw features that it was fitted on."""

    def fit(self, raw: Any) -> Kept:
        self.raw = raw
        return super().fit(raw)


def mapped(array: np.ndarray) -> bool:
    """Whether an array lies in a mapped file."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return base is not None


@pytest.fixture
def no_row_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("rows are copied")

    monkeypatch.setattr("samekind.encoders.gathered_rows.RowFile", refuse)


@pytest.mark.usefixtures("no_row_files")
def test_rows_of_one_run_are_used_where_the_cache_has_them(tmp_path: Path) -> None:
    pile = words(30, w4=Word("w4", broken=True))
    for _ in range(2):  # computed, then found
        encoder = Kept()
        encode(pile, encoder, cache=tmp_path, batch=4)
        assert mapped(encoder.raw)
        assert len(encoder.raw) == 29


def test_an_encoder_that_changes_its_features_does_not_change_the_cache(tmp_path: Path) -> None:
    class Careless(Letters):
        def fit(self, raw: Any) -> Careless:
            super().fit(raw)
            raw -= 1
            return self

    first = encode(words(9), Careless(), cache=tmp_path).X
    np.testing.assert_array_equal(encode(words(9), Careless(), cache=tmp_path).X, first)


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_rows_of_several_runs_are_brought_together_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(row_file, "MAX_BYTES", most)
    encode(words(20).take([7, 3, 11]), Letters(), cache=tmp_path)
    encode(words(20).take([12, 4]), Letters(), cache=tmp_path)
    encoder, alone = Kept(), Kept()
    found = encode(words(20), encoder, cache=tmp_path, batch=3)
    expected = encode(words(20), alone)
    np.testing.assert_array_equal(encoder.raw, alone.raw)
    np.testing.assert_array_equal(found.X, expected.X)
    assert mapped(encoder.raw) == mapped(alone.raw) == (most == 0)


def test_many_vectors_are_in_a_file_and_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = np.random.default_rng(0).normal(size=(9000, 20)).astype(np.float32)
    reduction = Reduction(components=5).fit(raw)
    held = reduction.transform(raw)
    monkeypatch.setattr(row_file, "MAX_BYTES", 1000)
    there = reduction.transform(raw)
    assert mapped(there)
    assert not mapped(held)
    np.testing.assert_array_equal(there, held)


def test_a_disk_that_is_full_leaves_the_rows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RowFile(2, np.dtype(np.float32), max_bytes=16)
    rows.append(np.ones((4, 2)))
    assert rows._file is not None

    def full(data: object) -> int:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(rows._file, "write", full, raising=False)
    rows.append(np.full((4, 2), 2.0))
    rows.append(np.full((1, 2), 3.0))
    assert rows.array()[:, 0].tolist() == [1] * 4 + [2] * 4 + [3]
    assert len(rows) == 9
