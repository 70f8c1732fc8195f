"""Readers: every format lists its items without loading them, and loads those that are asked for."""

from __future__ import annotations

import pickle
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from drawn_sources import picture_bytes, write_parquet, write_pictures, write_tar
from samekind.bulk.readers import Reader, open_reader
from samekind.errors import InputError, SourceError, VectorError
from samekind.items import Item, Skipped
from samekind.sources import open_source

fsspec = pytest.importorskip("fsspec", reason="needs the extra cluster")
pytest.importorskip("pyarrow", reason="needs the extra cluster: pip install 'samekind[cluster]'")


def pixels(item: Item) -> list[int]:
    return np.asarray(item.load()).ravel().tolist()  # type: ignore[no-any-return]


def all_items(reader: Reader) -> dict[str, Item]:
    """All items, loaded by a copy of the reader as another process would have it, in odd steps."""
    entries = list(reader.listing())
    assert len({entry.id for entry in entries}) == len(entries)
    copy = pickle.loads(pickle.dumps(reader))
    entries = [*entries[1::2], *entries[::2]]
    found = [item for k in range(0, len(entries), 3) for item in copy.items(entries[k : k + 3])]
    assert [item.id for item in found] == [entry.id for entry in entries]
    return {item.id: item for item in found if isinstance(item, Item)}


def test_a_folder_lists_its_pictures_in_the_order_of_a_session(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 12)
    (folder / "notes.txt").write_text("not a picture")
    (folder / ".hidden.png").write_bytes(picture_bytes(0))
    reader, plain = open_reader(str(folder)), open_source(folder)
    assert reader.kind == "image"
    entries = list(reader.listing())
    assert [(e.id, e.stamp) for e in entries] == [(item.id, item.stamp) for item in plain]
    loaded = all_items(reader)
    assert all(pixels(loaded[item.id]) == pixels(item) for item in plain)
    assert reader.item(entries[5].id, entries[5].place).preview().mime == "image/png"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 2)
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture_bytes(5))
    (folder / "link.png").symlink_to(secret)
    assert len(list(open_reader(str(folder)).listing())) == 2


def test_a_folder_behind_a_url_is_read_as_a_local_one(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 7)
    (folder / "cut.png").write_bytes(picture_bytes(1)[:80])
    url = f"memory://{uuid4().hex}/photos"
    fsspec.filesystem("memory").put(str(folder), url, recursive=True)
    reader = open_reader(f"{url}/")
    remote, local = all_items(reader), all_items(open_reader(str(folder)))
    assert remote.keys() == local.keys() - {"cut.png"}
    assert all(pixels(item) == pixels(local[id]) for id, item in remote.items())
    broken = [i for i in reader.items(list(reader.listing())) if isinstance(i, Skipped)]
    assert [(item.id, "damaged" in item.reason) for item in broken] == [("cut.png", True)]
    entries = list(reader.listing())
    fsspec.filesystem("memory").rm(entries[0].place)
    (gone,) = reader.items(entries[:1])
    assert isinstance(gone, Skipped) and "cannot be read" in gone.reason


def test_texts_of_a_folder_are_checked_when_they_are_read(tmp_path: Path) -> None:
    for name, data in {"a": b"red apple", "b": b" \n", "c": b"\0\0\1", "d": b"sea"}.items():
        (tmp_path / f"{name}.txt").write_bytes(data)
    reader = open_reader(str(tmp_path))
    found = reader.items(list(reader.listing()))
    assert [i.reason if isinstance(i, Skipped) else i.load() for i in found] == [
        "red apple", "is blank", "is binary, not text", "sea",
    ]  # fmt: skip


def test_pictures_in_parquet_shards_come_back_from_any_row_group(tmp_path: Path) -> None:
    for shard in range(2):
        numbers = range(10 * shard, 10 * shard + 10)
        data = [picture_bytes(number) for number in numbers]
        cells = data if shard else [{"bytes": cell, "path": "x"} for cell in data]
        write_parquet(tmp_path / f"s{shard}.parquet", {"image": cells, "id": list(numbers)})
    reader = open_reader(str(tmp_path))
    assert reader.kind == "image"
    loaded = all_items(reader)
    assert list(open_reader(str(tmp_path / "s1.parquet")).listing())[3].id == "13"
    for number in range(20):
        expected = open_reader(str(tmp_path)).item(
            "x", f"{tmp_path}/s{number // 10}.parquet#{number % 10}"
        )
        assert pixels(loaded[f"s{number // 10}.parquet/{number}"]) == pixels(expected)
    folder = write_pictures(tmp_path / "same", 20)
    for item in open_source(folder):
        number = int(Path(item.id).stem.split()[1])
        assert pixels(loaded[f"s{number // 10}.parquet/{number}"]) == pixels(item)


def test_texts_in_parquet(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", {"text": ["red", "", "sea", None, "sky"]})
    reader = open_reader(str(path))
    found = reader.items(list(reader.listing()))
    assert [i.load() if isinstance(i, Item) else i.reason for i in found] == [
        "red", "is blank", "sea", "is blank", "sky",
    ]  # fmt: skip


def test_table_rows_in_parquet_shards_are_those_of_a_table_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {
        "id": [f"k{i}" for i in range(30)],
        "size": [None if i == 4 else float(x) for i, x in enumerate(rng.normal(size=30))],
        "colour": [("red", "green", "", None)[i % 4] for i in range(30)],
        "name": [f"item {i}" for i in range(30)],
        "kind": [i % 3 for i in range(30)],
        "split": ["train"] * 30,
    }
    whole = open_source(write_parquet(tmp_path / "whole.parquet", columns), exclude=["kind"])
    for k in range(3):
        part = {name: cells[10 * k : 10 * k + 10] for name, cells in columns.items()}
        write_parquet(tmp_path / "shards" / f"{k}.parquet", part)
    reader = open_reader(str(tmp_path / "shards" / "*.parquet"), exclude=["kind"])
    assert reader.columns == getattr(whole, "columns") == ("size", "colour=green", "colour=red")  # noqa: B009
    loaded = all_items(reader)
    for i, item in enumerate(whole):
        found = loaded[f"{i // 10}.parquet/k{i}"]
        np.testing.assert_array_equal(found.load(), item.load())
        assert b"kind" not in found.preview().data
        assert f"name: item {i}".encode() in found.preview().data
    again = open_reader(str(tmp_path / "shards"), exclude=["kind"], columns=reader.columns[:1])
    assert all_items(again)["0.parquet/k3"].load().shape == (1,)


def test_members_of_tar_archives_are_found_by_position(tmp_path: Path) -> None:
    files = {f"a/{i}.png": picture_bytes(i) for i in range(9)}
    files |= {f"a/{i}.txt": b"a caption" for i in range(9)} | {"a/.x.png": b""}
    write_tar(tmp_path / "one.tar", files)
    write_tar(tmp_path / "two.tar", {"a/1.png": picture_bytes(30), "bad.png": b"nothing"})
    one = all_items(open_reader(str(tmp_path / "one.tar")))
    assert sorted(one) == [f"a/{i}.png" for i in range(9)]
    reader = open_reader(str(tmp_path))
    both = all_items(reader)
    assert len(both) == 10 and "two.tar/bad.png" not in both
    assert (
        pixels(both["one.tar/a/1.png"]) == pixels(one["a/1.png"]) != pixels(both["two.tar/a/1.png"])
    )
    folder = tmp_path / "same"
    folder.mkdir()
    (folder / "1.png").write_bytes(picture_bytes(1))
    assert pixels(open_source(folder)[0]) == pixels(one["a/1.png"])


def test_tar_archives_behind_a_url(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {f"{i}.png": picture_bytes(i) for i in range(4)})
    url = f"memory://{uuid4().hex}/x.tar"
    fsspec.filesystem("memory").put(str(path), url)
    remote, local = all_items(open_reader(url)), all_items(open_reader(str(path)))
    assert {id: pixels(item) for id, item in remote.items()} == {
        id: pixels(item) for id, item in local.items()
    }


def test_an_array_is_read_row_by_row(tmp_path: Path) -> None:
    X = np.arange(40, dtype=np.float32).reshape(10, 4)
    X[7, 2] = np.nan
    np.save(tmp_path / "x.npy", X)
    reader = open_reader(str(tmp_path / "x.npy"))
    loaded = all_items(reader)
    assert reader.ready and len(loaded) == 9 and "row-7" not in loaded
    np.testing.assert_array_equal(loaded["row-9"].load(), X[9])


def test_tables_and_sets_are_those_of_a_session(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id;size;colour\na;1,5;red\nb;2,5;red\nc;;blue\n")
    reader = open_reader(str(tmp_path / "t.csv"))
    assert reader.columns == ("size", "colour=blue", "colour=red")
    np.testing.assert_array_equal(all_items(reader)["b"].load(), [2.5, 0, 1])
    digits = open_reader("digits")
    assert digits.kind == "row" and len(list(digits.listing())) == 1797


def test_clear_errors(tmp_path: Path) -> None:
    for name in ("missing", f"memory://{uuid4().hex}"):
        with pytest.raises(SourceError, match="no file or folder"):
            open_reader(str(tmp_path / name) if name == "missing" else name)
    with pytest.raises(SourceError, match="cannot be opened"):
        open_reader("nonsense://bucket/photos")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="Expected pictures, texts"):
        open_reader(str(tmp_path / "empty"))
    (tmp_path / "x.tar.gz").write_bytes(b"x")
    with pytest.raises(SourceError, match="Unpack it first"):
        open_reader(str(tmp_path / "x.tar.gz"))
    for suffix in ("tar", "parquet", "npy"):
        path = tmp_path / f"broken.{suffix}"
        path.write_bytes(b"nonsense")
        with pytest.raises(SourceError, match="cannot be read"):
            open_reader(str(path))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(VectorError, match=r"got shape \(2, 2, 2\)"):
        open_reader(str(tmp_path / "cube.npy"))
    table = write_parquet(tmp_path / "t.parquet", {"a": [1, 2]})
    with pytest.raises(InputError, match="no column 'b'"):
        open_reader(str(table), exclude=["b"])
