"""Data in memory: what a program has becomes items, in its order, without files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

from samekind.errors import SourceError, VectorError
from samekind.sources import open_data, open_like


def test_rows_of_a_table_are_shown_as_a_person_reads_them() -> None:
    frame = pd.DataFrame(
        {
            "price": [3, 20],
            "colour": ["red", None],
            "since": pd.to_datetime(["2024-05-01", "2025-01-02"]),
            "sold": [True, False],
        },
        index=["apple", "chair"],
    )
    items = open_data(frame)
    assert list(items.ids()) == ["apple", "chair"]
    shown = items[0].preview().data.decode().splitlines()
    assert shown == ["price: 3", "colour: red", "since: 2024-05-01", "sold: 1"]
    assert "since" in items.columns  # type: ignore[attr-defined]


def test_another_table_gets_the_columns_of_the_first() -> None:
    first = open_data(pd.DataFrame({"size": [1.0, 2, 3], "kind": ["a", "b", "a"]}))
    more = open_like(first, pd.DataFrame({"kind": ["b", "c"], "size": [7.0, 8], "new": [0, 0]}))
    assert more.matrix.tolist() == [[7, 0, 1], [8, 0, 0]]  # type: ignore[attr-defined]
    with pytest.raises(VectorError, match="'size'"):
        open_like(first, pd.DataFrame({"kind": ["b"]}))


def test_numbers_are_compared_as_numbers_whatever_holds_them() -> None:
    prices = [Decimal("1.5"), None, Decimal("20.25")]
    frame = pd.DataFrame(
        {
            "decimal": pd.Series(prices, dtype=object),
            "gap": pd.Series([1, None, np.int64(3)], dtype=object),
            "large": pd.Series([10**400, 2.0, 3], dtype=object),
            "arrow": pd.Series(prices, dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        }
    )
    items: Any = open_data(frame)
    assert items.columns == ("decimal", "gap", "large", "arrow")
    numbers = [[1.5, 1, np.nan, 1.5], [np.nan, np.nan, 2, np.nan], [20.25, 3, 3, 20.25]]
    np.testing.assert_array_equal(items.matrix, numbers)
    assert items[2].preview().data.startswith(b"decimal: 20.25\ngap: 3")
    assert open_like(items, frame[["arrow", "large", "gap", "decimal"]]).matrix.shape == (3, 4)  # type: ignore[attr-defined]


def test_words_categories_and_yes_or_no_stay_what_they_are() -> None:
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([1, "a", "a"] * 3, dtype=object),
            "yes": pd.Series([True, None, False] * 3, dtype=object),
            "category": pd.Series([1, 2, 1] * 3, dtype="category"),
            "none": pd.Series([None] * 9, dtype=object),
        }
    )
    columns = open_data(frame).columns  # type: ignore[attr-defined]
    assert {"mixed=1", "mixed=a", "yes=True", "yes=False", "category=1", "category=2"} <= {*columns}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_masked_numbers_are_missing_and_not_what_is_under_the_mask(dtype: Any) -> None:
    raw = np.array([[1, 2], [-999, 3], [1, 2], [4, -999]], dtype=dtype)
    masked = np.ma.masked_values(raw, -999) if dtype != np.int64 else np.ma.masked_equal(raw, -999)
    for given in (masked, list(masked)):
        with pytest.raises(VectorError, match="NaN or infinity in 2 of 4 rows, the first is row 1"):
            open_data(given)
    whole: Any = open_data(np.ma.array(raw))
    assert whole.matrix.tolist() == raw.tolist()
    words = np.ma.array(["red car", "blue boat"], mask=[False, True])
    with pytest.raises(SourceError, match="1 are missing"):
        open_data(words)


def test_pictures_come_as_paths_as_images_and_as_bytes(tmp_path: Path) -> None:
    images = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    paths = []
    for k, image in enumerate(images):
        paths.append(str(tmp_path / f"{k}.png"))
        image.save(paths[-1])
    arrays = np.stack([np.asarray(image) for image in images])
    for given in (images, paths, [Path(path) for path in paths], arrays):
        found: Any = open_data(given)
        assert found.kind == "image"
        assert found[1].load().getpixel((0, 0)) == (0, 0, 255)
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(SourceError, match=r"bad\.png.*Leave it out"):
        open_data([*paths, str(tmp_path / "bad.png")])


def test_paths_that_do_not_exist_are_no_texts(tmp_path: Path) -> None:
    gone = [str(tmp_path / name) for name in ("IMG_1.jpg", "IMG_2.JPG")]
    for given in (gone, np.array(gone)):
        with pytest.raises(SourceError, match=r"IMG_1\.jpg' cannot be read: No such file"):
            open_data(given)


def test_texts_stay_texts_even_if_they_end_like_files() -> None:
    for texts in (["a.png", "see b.md"], ["a\nb.png", "c.png"], ["a\0.png", "b.png"]):
        assert open_data(texts).kind == "text"
    assert len({*open_data(["same", "same"]).ids()}) == 2


def test_nodes_of_a_graph_are_items() -> None:
    items = open_data(nx.path_graph(["anna", "ben", "cleo"]))
    assert b"neighbours: anna, cleo" in items[1].preview().data


@pytest.mark.parametrize("given", [3, [], {"a": 1}, [1, "a"], None])
def test_anything_else_is_refused_with_what_is_expected(given: Any) -> None:
    with pytest.raises(SourceError, match="Expected"):
        open_data(given)


HALF = "x\ud800"


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"a": [1, 2, 3], "kind": pd.Series([HALF, "y", "y"], dtype=object)}),
        pd.DataFrame({"a": [1, 2, 3], "id": pd.Series([HALF, "y", "z"], dtype=object)}),
        pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index([HALF, "y", "z"], dtype=object)),
        pd.DataFrame([[1, 2], [3, 4]], columns=pd.Index([HALF, "a"], dtype=object)),
        [f"some {HALF} words", "more words"],
        nx.Graph([(HALF, "b"), ("b", "c")]),
    ],
    ids=["cells", "ids", "index", "columns", "texts", "graph"],
)
def test_half_a_character_is_replaced_wherever_it_is(data: Any) -> None:
    items = open_data(data, name=HALF)
    assert items.name == "x\N{REPLACEMENT CHARACTER}"
    shown = [items.fingerprint, *items.ids(), *getattr(items, "columns", ())]
    shown += [item.preview().data.decode() for item in items]
    shown += [item.load() for item in items if item.kind == "text"]
    assert "\N{REPLACEMENT CHARACTER}" in "".join(shown)
    "".join(shown).encode()
