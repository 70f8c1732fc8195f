"""Parquet files: pictures in a column, or plain tables."""

from __future__ import annotations

import builtins
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from samekind.errors import MissingExtra, SourceError
from samekind.sources import open_labelled, open_source
from samekind.sources.files.rows import RowCollection

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def picture(colour: str, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 8), colour).save(buffer, kind)
    return buffer.getvalue()


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_encoded_pictures_become_items(tmp_path: Path) -> None:
    cells = [picture("red"), picture("lime", "JPEG"), picture("blue", "WEBP")]
    pile = open_source(write(tmp_path / "t.parquet", image=cells, colour=["r", "g", "b"]))
    assert pile.kind == "image" and list(pile.ids()) == ["row-0", "row-1", "row-2"]
    assert [np.argmax(item.load().getpixel((3, 3))) for item in pile] == [0, 1, 2]
    assert pile[0].preview().mime == "image/png"


def test_broken_cells_are_reported_and_their_labels_go_with_them(tmp_path: Path) -> None:
    cells = [picture("red"), b"nonsense", None, picture("blue")[:50], picture("blue"), b""]
    path = write(tmp_path / "t.parquet", image=cells, label=[0, 1, 2, 3, 4, 5])
    known = open_labelled(path)
    assert list(known.collection.ids()) == ["row-0", "row-4"]
    assert known.orientations["label"].tolist() == [0, 4]
    assert [s.id for s in known.collection.skipped] == ["row-1", "row-2", "row-3", "row-5"]


def test_records_with_bytes_are_read(tmp_path: Path) -> None:
    cells = [{"bytes": picture("red"), "path": "a.png"}, {"bytes": picture("blue"), "path": None}]
    assert len(open_source(write(tmp_path / "t.parquet", image=cells))) == 2


def test_an_id_column_names_the_pictures(tmp_path: Path) -> None:
    cells = [picture("red"), picture("blue")]
    path = write(tmp_path / "t.parquet", image=cells, id=["x", "y"], label=["r", "b"])
    assert list(open_source(path).ids()) == ["x", "y"]
    assert list(open_labelled(path).orientations) == ["label"]


def test_pictures_do_not_carry_labels(tmp_path: Path) -> None:
    cells = [picture("red"), picture("blue")]
    one = write(tmp_path / "one.parquet", image=cells, label=["a", "b"])
    two = write(tmp_path / "two.parquet", image=cells, label=["b", "b"])
    for pile in (open_source(one), open_labelled(one).collection):
        assert pile.fingerprint == open_source(two).fingerprint
        assert not any("label" in name for name in vars(pile[0]))
        assert "label" not in repr(vars(pile[0])).replace("labelled", "")


def test_a_plain_table_is_read_like_a_csv(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.parquet",
        id=["a", "b", "c"],
        x=pa.array([1, None, 3]),
        flag=[True, False, None],
        kind=["u", "v", "u"],
        when=pa.array([1, 2, 3], pa.timestamp("s")),
        word=pa.array(["p", "q", "p"]).dictionary_encode(),
    )
    pile = open_source(path)
    assert isinstance(pile, RowCollection)
    assert list(pile.ids()) == ["a", "b", "c"]
    assert pile.columns == ("x", "flag", "kind=u", "kind=v", "word=p", "word=q")
    np.testing.assert_array_equal(pile.matrix[:, 0], [1, np.nan, 3])
    assert [skipped.id for skipped in pile.skipped] == ["column when"]


def test_labels_of_a_plain_table_are_kept_apart(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.parquet",
        x=[1.0, 2.0, 3.0],
        species=[0, 1, 0],
        species_name=["cat", "dog", "cat"],
        split=["train", "train", "test"],
    )
    known = open_labelled(path, labels=["species"])
    assert isinstance(known.collection, RowCollection)
    assert known.collection.columns == ("x",)
    assert known.orientations["species"].tolist() == [0, 1]
    assert known.held_out is not None and list(known.held_out.ids()) == ["row-2"]
    assert known.collection[0].preview().data == b"x: 1"


def test_files_that_are_not_parquet_or_empty_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(SourceError, match="cannot be read as Parquet"):
        open_source(path)
    with pytest.raises(SourceError, match="at least 1 row"):
        open_source(write(path, x=pa.array([], pa.float64())))
    with pytest.raises(SourceError, match="none can be read"):
        open_source(write(path, image=[b"nonsense"]))


def test_a_missing_pyarrow_is_told_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "t.parquet", x=[1])
    really = builtins.__import__

    def without_pyarrow(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return really(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(MissingExtra, match=r"samekind\[parquet\]"):
        open_source(path)
