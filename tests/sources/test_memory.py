"""Data in memory: what a program has becomes items, in its order, without files."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from PIL import Image
from scipy.sparse import csr_matrix

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


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s", "UTC")])
def test_dates_of_arrow_are_days(kind: Any) -> None:
    days = [datetime(2024, 1, 1), None, datetime(2024, 3, 1)]
    frame = pd.DataFrame({"day": pd.array(days, dtype=pd.ArrowDtype(kind)), "size": [1, 2, 3]})
    items: Any = open_data(frame)
    np.testing.assert_array_equal(items.matrix[:, 0], [19723, np.nan, 19783])
    assert items[0].preview().data.startswith(b"day: 2024-01-01")


def test_durations_of_arrow_are_days() -> None:
    waits = [timedelta(days=1), None, timedelta(hours=60)]
    kind = pd.ArrowDtype(pa.duration("ms"))
    items: Any = open_data(pd.DataFrame({"wait": pd.array(waits, dtype=kind), "size": [1, 2, 3]}))
    np.testing.assert_array_equal(items.matrix[:, 0], [1, np.nan, 2.5])


def test_pictures_without_pixels_or_closed_by_now_are_refused() -> None:
    images = [Image.new("RGB", (3, 5)) for _ in range(4)]
    with pytest.raises(SourceError, match="position 1 has no pixels"):
        open_data([images[0], Image.new("RGB", (0, 5))])
    images[2].close()
    with pytest.raises(SourceError, match=r"position 2 cannot be read .*closed.*Open it again"):
        open_data(images)


def test_a_sparse_matrix_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(SourceError, match=r"half of the memory .*takes 8,000\.0 GB.*fewer columns"):
        open_data(csr_matrix((100_000, 10**7)))
    assert open_data(csr_matrix(np.eye(3))).matrix.tolist() == np.eye(3).tolist()  # type: ignore[attr-defined]


def test_tensors_are_read_also_while_they_are_trained() -> None:
    rows = torch.rand(4, 3, requires_grad=True)
    for given in (rows, list(rows)):
        found: Any = open_data(given)
        np.testing.assert_allclose(found.matrix, rows.detach().numpy())
    with pytest.raises(SourceError, match=r"got Tensor.*BFloat16.*Convert it to 32-bit floats"):
        open_data(rows.to(torch.bfloat16))


def test_a_graph_without_nodes_is_refused_without_speaking_of_a_file() -> None:
    with pytest.raises(SourceError, match="at least 1 node, got an empty graph"):
        open_data(nx.Graph())


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
