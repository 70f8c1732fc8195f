"""Pixels, TfIdf, Rows and Ready, and the reduction that encoders share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from PIL import Image

from samekind.encoders.pixels import Pixels
from samekind.encoders.reduction import Reduction
from samekind.encoders.simple import Ready, Rows, TfIdf
from samekind.errors import VectorError
from samekind.items import Item, Preview


@dataclass(frozen=True)
class Thing(Item):
    id: str
    content: Any
    kind = "thing"

    def load(self) -> Any:
        return self.content

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


def pictures(n: int, size: tuple[int, int] = (40, 24)) -> list[Item]:
    rng = np.random.default_rng(7)
    return [
        Thing(str(i), Image.fromarray(rng.integers(0, 256, (*size[::-1], 3), dtype=np.uint8)))
        for i in range(n)
    ]


def test_pixels_become_few_numbers_and_the_same_ones_each_time():
    raw = Pixels().read(pictures(12))
    first = Pixels().fit(raw).transform(raw)
    assert raw.shape == (12, 3072)
    assert raw.dtype == np.uint8
    assert first.dtype == np.float32
    assert len(first) == 12
    assert first.shape[1] <= 12
    np.testing.assert_array_equal(first, Pixels().fit(raw).transform(raw))


def test_pixel_distances_are_kept_when_all_axes_are():
    raw = Pixels(size=4).read(pictures(30))
    X = Pixels(size=4).fit(raw).transform(raw)
    scaled = raw.astype(np.float64) / 255
    expected = np.linalg.norm(scaled[3] - scaled[17])
    assert np.linalg.norm(X[3] - X[17]) == pytest.approx(expected, rel=1e-4)


def test_preparing_an_image_twice_changes_nothing():
    once = Pixels().prepare(pictures(1)[0].load())
    assert Pixels().prepare(once) == once


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_pile_smaller_than_the_number_of_axes_is_no_problem(n: int):
    raw = Pixels().read(pictures(n))
    X = Pixels().fit(raw).transform(raw)
    assert len(X) == n
    assert np.isfinite(X).all()


def test_equal_images_give_equal_finite_vectors():
    raw = np.full((5, 3072), 9, dtype=np.uint8)
    X = Pixels().fit(raw).transform(raw)
    np.testing.assert_allclose(X, 0, atol=1e-6)


@pytest.mark.parametrize("n", [40, 400])  # fewer and more items than numbers per item
def test_the_reduction_agrees_with_a_full_decomposition(n: int):
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(n, 90)) @ rng.normal(size=(90, 90))
    X = Reduction(components=6, normalise=False).fit(raw).transform(raw)
    centred = raw - raw.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    expected = centred @ axes[:6].T
    np.testing.assert_allclose(np.abs(X), np.abs(expected), rtol=1e-3, atol=1e-2)


def test_normalised_vectors_have_unit_length_before_the_projection():
    raw = np.random.default_rng(0).normal(3, 1, size=(50, 8))
    X = Reduction(components=8).fit(raw).transform(raw)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


def test_blocks_count_by_their_weight_whatever_their_scale():
    rng = np.random.default_rng(0)
    raw = np.hstack([1000 * rng.normal(size=(40, 3)), 0.01 * rng.normal(size=(40, 2))])
    X = Reduction(blocks=((3, 1.0), (2, 0.5))).fit(raw).transform(raw)
    np.testing.assert_allclose(np.linalg.norm(X[:, :3], axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(X[:, 3:], axis=1), 0.5, rtol=1e-5)


def test_raw_features_with_nan_are_refused():
    raw = np.ones((4, 3))
    fitted = Reduction().fit(raw)
    raw[2, 1] = np.nan
    with pytest.raises(VectorError, match="NaN"):
        Reduction().fit(raw)
    with pytest.raises(VectorError, match="NaN"):
        fitted.transform(raw)


def test_raw_features_of_another_width_are_refused():
    with pytest.raises(VectorError, match="Expected 3 numbers per item"):
        Reduction().fit(np.ones((4, 3))).transform(np.ones((4, 5)))


def test_texts_about_the_same_thing_are_near():
    texts = ["the cat sat on the mat", "a cat on a mat", "stocks fell sharply", "stocks rose"]
    X = TfIdf().fit(texts).transform(texts)
    likeness = X @ X.T
    assert likeness[0, 1] > likeness[0, 2]
    assert likeness[2, 3] > likeness[1, 3]
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


def test_many_texts_become_at_most_the_asked_number_of_themes_each_time_the_same():
    rng = np.random.default_rng(1)
    words = [f"word{i}" for i in range(400)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    X = TfIdf(components=16).fit(texts).transform(texts)
    assert X.shape == (200, 16)
    np.testing.assert_array_equal(X, TfIdf(components=16).fit(texts).transform(texts))


@pytest.mark.parametrize("texts", [["apple"], ["apple", "apple", "apple"], ["apple", "", "pear"]])
def test_tiny_vocabularies_give_finite_vectors(texts: list[str]):
    X = TfIdf().fit(texts).transform(texts)
    assert len(X) == len(texts)
    assert np.isfinite(X).all()


def test_texts_without_words_are_refused_in_words():
    with pytest.raises(VectorError, match="got none in 3 texts"):
        TfIdf().fit(["", "!", "? ?"])
    with pytest.raises(VectorError, match=r"got none in 1 text\."):
        TfIdf().fit(["!!!"])


def test_no_new_texts_give_no_vectors_of_the_same_width():
    encoder = TfIdf().fit(["red apple", "green apple"])
    assert encoder.transform([]).shape == (0, encoder.transform(["x"]).shape[1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1.7e308, 1e160, 1e-31, 1e-200, 1e-300])
def test_extreme_columns_are_compared_like_all_others(size: float) -> None:
    column = np.linspace(-1.0, 1.0, 60)
    table = np.stack([column * size, np.arange(60.0), column], axis=1)
    table[7] = np.nan
    encoder = Rows().fit(table)
    X = encoder.transform(table)
    assert X.shape == (60, 3)
    np.testing.assert_allclose(X[:, 0], X[:, 2], rtol=1e-6)
    again = Rows().restored(encoder.state())
    np.testing.assert_array_equal(again.transform(table), X)


def test_rounding_is_no_column_and_ordinary_tables_stay_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(50, 6)) * 10.0 ** np.array([-9, -3, 0, 3, 9, 30]) + [0, 5, 0, 9, 0, 0]
    table[rng.random(table.shape) < 0.1] = np.nan
    rounding = rng.normal(scale=1e-17, size=(50, 1))
    X = Rows().fit(np.hstack([table, rounding])).transform(np.hstack([table, rounding]))
    whole = np.where(np.isnan(table), np.nanmedian(table, axis=0), table)
    expected = ((whole - whole.mean(axis=0)) / whole.std(axis=0)).astype(np.float32)
    np.testing.assert_array_equal(X, expected)


def test_rows_are_filled_and_brought_to_one_scale():
    table = np.array([[1.0, 5, 1000], [np.nan, 5, 2000], [3, 5, np.inf], [2, 5, 3000]])
    X = Rows().fit(table).transform(table)
    assert X.shape == (4, 2)  # the constant column is gone
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-5)
    assert X[1, 0] == pytest.approx(X[3, 0])  # the gap got the median, 2


def test_an_empty_column_is_left_out_without_a_warning(recwarn: pytest.WarningsRecorder):
    table = np.array([[1.0, np.nan], [2, np.nan]])
    assert Rows().fit(table).transform(table).shape == (2, 1)
    assert not recwarn.list


def test_rows_that_nothing_tells_apart_are_refused():
    with pytest.raises(VectorError, match="constant or empty"):
        Rows().fit(np.full((5, 2), 1e9))


def test_rows_with_other_columns_than_learnt_are_refused():
    with pytest.raises(VectorError, match="Expected 4 columns, got 3"):
        Rows().fit(np.eye(4)).transform(np.eye(3))


def test_ready_vectors_are_not_copied():
    vectors = np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)
    assert np.shares_memory(Ready().fit(vectors).transform(vectors), vectors)


def test_ready_vectors_on_disk_stay_on_disk(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.eye(6, dtype=np.float32))
    vectors = np.load(path, mmap_mode="r")
    X = Ready().fit(vectors).transform(vectors)
    assert np.shares_memory(X, vectors)


def test_a_ready_vector_with_nan_is_named():
    vectors = np.ones((9000, 2))
    vectors[5000, 1] = np.nan
    with pytest.raises(VectorError, match="vector 5000 of 9000"):
        Ready().fit(vectors).transform(vectors)


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((2, 0)), np.array([["a", "b"]])])
def test_what_is_not_a_table_of_numbers_is_refused(wrong: Any):
    for encoder in (Ready(), Rows()):
        with pytest.raises(VectorError, match="one row of numbers per item"):
            encoder.fit(wrong)


def test_rows_of_unequal_length_are_refused():
    items = [Thing("a", np.ones(3)), Thing("b", np.ones(4))]
    with pytest.raises(VectorError, match="3 to 4 numbers"):
        Ready().read(items)


@pytest.mark.parametrize("n", [20, 200])
def test_the_sign_of_each_axis_is_fixed(n: int):
    raw = np.random.default_rng(3).normal(size=(n, 40))
    axes = Reduction(components=9).fit(raw).axes_
    assert axes is not None
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    assert (largest > 0).all()
