"""Rows of a matrix as items: lazy, with ids and positions that agree."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.errors import SourceError, VectorError
from samekind.sources import open_source
from samekind.sources.files.arrays import vectors_collection
from samekind.sources.files.rows import RowCollection, RowItem, Rows


def pile_of(matrix: np.ndarray) -> RowCollection:
    return vectors_collection("pile", matrix, "pile")


def test_a_million_rows_are_opened_without_a_million_objects(tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.zeros((1_000_000, 4), dtype=np.float32))
    tracemalloc.start()
    pile = open_source(tmp_path / "big.npy")
    part = pile.take(range(0, 1_000_000, 2))
    where = part.position("row-999998")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(pile, RowCollection) and isinstance(part, RowCollection)
    assert len(pile) == 1_000_000 and len(part) == 500_000
    assert where == 499_999 and part.id(where) == "row-999998"
    assert peak < 40_000_000  # a million ids alone would take more


def test_an_npy_file_is_mapped_and_its_matrix_is_not_copied(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    np.save(tmp_path / "v.npy", vectors)
    pile = open_source(tmp_path / "v.npy")
    assert isinstance(pile, RowCollection) and pile.ready
    assert isinstance(pile.matrix, np.memmap)
    assert pile.matrix is pile.matrix
    np.testing.assert_array_equal(pile.matrix, vectors)
    np.testing.assert_array_equal(pile[3].load(), vectors[3])


def test_take_keeps_ids_order_and_rows() -> None:
    matrix = np.arange(20.0).reshape(10, 2)
    part = pile_of(matrix).take([7, 2, 9]).take([2, 0])
    assert list(part.ids()) == ["row-9", "row-7"]
    assert [part.position(id) for id in part.ids()] == [0, 1]
    np.testing.assert_array_equal(part.matrix, matrix[[9, 7]])
    np.testing.assert_array_equal(part[0].load(), matrix[9])
    assert part.items.base is matrix


def test_a_run_of_rows_is_a_view_of_the_matrix() -> None:
    matrix = np.arange(20.0).reshape(10, 2)
    part = pile_of(matrix).take(range(3, 8))
    assert np.shares_memory(part.matrix, matrix)
    assert np.shares_memory(pile_of(matrix)[2:4].matrix, matrix)  # type: ignore[attr-defined]


def test_slices_negative_positions_and_iteration_follow_the_rules_of_sequences() -> None:
    pile = pile_of(np.arange(20.0).reshape(10, 2))
    assert pile[-1].id == "row-9"
    assert [item.id for item in pile[::-4]] == ["row-9", "row-5", "row-1"]
    assert [item.id for item in pile] == list(pile.ids())
    assert pile.take([-1]).id(0) == "row-9"
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            pile[wrong]
        with pytest.raises(IndexError):
            pile.take([wrong])


@pytest.mark.parametrize("id", ["row-10", "row--1", "row-03", "row-", "row-²", "7", "line-7", ""])
def test_an_unknown_id_has_no_position(id: str) -> None:
    pile = pile_of(np.zeros((10, 2)))
    with pytest.raises(KeyError):
        pile.position(id)
    with pytest.raises(KeyError):
        pile.take([4, 1]).position(id)


def test_a_row_that_was_not_taken_has_no_position() -> None:
    with pytest.raises(KeyError):
        pile_of(np.zeros((10, 2))).take([4, 1]).position("row-3")


def test_the_fingerprint_follows_ids_and_contents() -> None:
    matrix = np.random.default_rng(0).normal(size=(30, 3))
    pile = pile_of(matrix)
    assert pile.fingerprint == pile_of(matrix.copy()).fingerprint
    assert pile.fingerprint == pile.take(range(30)).fingerprint
    assert pile.fingerprint != pile.take(range(29)).fingerprint
    assert pile.take([0, 1]).fingerprint != pile.take([1, 0]).fingerprint
    changed = matrix.copy()
    changed[29, 2] += 1e-9
    assert pile.fingerprint != pile_of(changed).fingerprint
    assert pile.fingerprint != pile_of(matrix.astype(np.float32)).fingerprint
    named = RowCollection("pile", Rows(matrix, keys=[f"k{i}" for i in range(30)]))
    assert pile.fingerprint != named.fingerprint


def test_a_row_has_a_stamp_that_follows_its_numbers() -> None:
    first = RowItem("a", np.array([1.0, 2.0]))
    assert first.stamp == RowItem("b", np.array([1.0, 2.0])).stamp
    assert first.stamp != RowItem("a", np.array([1.0, 2.1])).stamp


def test_whole_numbers_are_loaded_as_floats() -> None:
    assert pile_of(np.ones((3, 2), dtype=np.int8))[0].load().dtype == np.float32


@pytest.mark.parametrize("d", [1, 2, 5, 64, 300])
def test_a_vector_is_shown_as_a_small_picture(d: int) -> None:
    matrix = np.random.default_rng(d).normal(size=(20, d))
    preview = pile_of(matrix)[0].preview()
    image = Image.open(io.BytesIO(preview.data))
    assert preview.mime == "image/png" and image.size == (128, 96)
    assert len(np.unique(np.asarray(image).reshape(-1, 3), axis=0)) > 1


def test_rows_that_are_pictures_are_shown_as_pictures() -> None:
    y, x = np.mgrid[0:12, 0:12]
    blobs = np.stack([np.exp(-((x - a) ** 2 + (y - 6) ** 2) / 8).ravel() for a in range(12)])
    shown = Image.open(io.BytesIO(pile_of(blobs)[0].preview().data))
    assert shown.size == (120, 120)
    pixels = np.asarray(shown)
    assert pixels[65, 5, 0] < 30 and pixels[5, 115, 0] > 225


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_counted_and_the_first_row_is_named(bad: float) -> None:
    matrix = np.zeros((70_000, 3), dtype=np.float32)
    matrix[[66_000, 69_999], 1] = bad
    with pytest.raises(VectorError, match=r"2 of 70000 rows, the first is row 66000"):
        pile_of(matrix)


@pytest.mark.parametrize("shape", [(5,), (5, 2, 2), (5, 0), ()])
def test_arrays_of_another_shape_are_refused_with_their_shape(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    np.save(tmp_path / "v.npy", np.zeros(shape))
    with pytest.raises(VectorError, match="one row per item"):
        open_source(tmp_path / "v.npy")


def test_arrays_of_complex_numbers_or_texts_are_refused(tmp_path: Path) -> None:
    for array in (np.zeros((2, 2), dtype=complex), np.array([["a"], ["b"]])):
        np.save(tmp_path / "v.npy", array)
        with pytest.raises(VectorError, match="real numbers"):
            open_source(tmp_path / "v.npy")


def test_pickled_foreign_and_cut_array_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    np.save(path, np.array([{}, []], dtype=object), allow_pickle=True)
    with pytest.raises(SourceError, match="never loaded"):
        open_source(path)
    np.save(path, np.zeros((100, 100)))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(SourceError, match="cannot be read"):
        open_source(path)
    for content in (b"", b"not an array at all"):
        path.write_bytes(content)
        with pytest.raises(SourceError, match="cannot be read"):
            open_source(path)
    np.save(path, np.zeros((0, 3)))
    with pytest.raises(SourceError, match="at least 1 row"):
        open_source(path)
