"""VectorStore: rows come back as they were written, and only what was committed counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samekind.bulk.manifest import Manifest
from samekind.bulk.vector_store import MANIFEST, VectorStore, as_matrix, key_of
from samekind.errors import InputError, SourceError
from samekind.sources import is_vector_store

lance = pytest.importorskip(
    "lance", reason="needs the extra cluster: pip install 'samekind[cluster]'"
)
pa = pytest.importorskip("pyarrow")

STATE = {"mean": np.arange(3, dtype=np.float32), "normalise": True}
MANIFEST_OF_ROWS = Manifest(
    "photos", "image", "pixels", "pixels/v1", 3, 10, ("a", "b"), "1.0", "2026-11-16", 0.5, STATE
)


def write(store: VectorStore, first: int, n: int) -> list[str]:
    names = [f"item-{i}" for i in range(first, first + n)]
    rows = np.arange(3 * first, 3 * (first + n), dtype=np.float32).reshape(n, 3)
    return store.write_fragment(names, [f"/x/{name}" for name in names], ["1"] * n, rows)


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    found = VectorStore.create(tmp_path / "v.lance", MANIFEST_OF_ROWS)
    found.commit([*write(found, 0, 5), *write(found, 5, 4)])
    return found


def test_rows_come_back_in_any_order(store: VectorStore) -> None:
    again = VectorStore.open(store.path)
    assert len(again) == 9 and again.width == 3
    assert again.texts([7, 0, 7]) == ["item-7", "item-0", "item-7"]
    assert again.texts([8], "place") == ["/x/item-8"]
    np.testing.assert_array_equal(again.vectors([7, 0]), [[21, 22, 23], [0, 1, 2]])
    assert again.vectors([]).shape == (0, 3)


def test_batches_go_through_all_rows_in_order_from_any_row(store: VectorStore) -> None:
    for start in (0, 4, 6):
        found = list(store.batches(rows=2, start=start))
        first = [begin for begin, _ in found]
        rows = np.concatenate([as_matrix(batch.column("vector"), 3) for _, batch in found])
        assert first[0] == start
        np.testing.assert_array_equal(rows, np.arange(3 * start, 27).reshape(-1, 3))


def test_only_what_was_committed_counts(store: VectorStore) -> None:
    fragments = write(store, 9, 2)
    assert len(store.latest()) == 9
    early = store.latest()
    assert len(early) == 9
    store.commit(fragments)
    assert len(store) == len(early.latest()) == 11
    assert store.texts([10]) == ["item-10"]


def test_keys_are_those_of_ids_and_stamps(store: VectorStore) -> None:
    expected = sorted(key_of(f"item-{i}", "1") for i in range(9))
    assert store.keys().tolist() == expected


def test_manifest_comes_back(store: VectorStore) -> None:
    found = VectorStore.open(store.path).manifest
    np.testing.assert_array_equal(found.encoder_state["mean"], STATE["mean"])
    assert found.encoder_state["normalise"] is True
    plain = replace(found, encoder_state={}), replace(MANIFEST_OF_ROWS, encoder_state={})
    assert plain[0].__dict__ == plain[1].__dict__


def test_clear_errors(store: VectorStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists already"):
        VectorStore.create(store.path, MANIFEST_OF_ROWS)
    with pytest.raises(InputError, match=r"ends in \.lance"):
        VectorStore.create(tmp_path / "v.npy", MANIFEST_OF_ROWS)
    with pytest.raises(SourceError, match="samekind embed"):
        VectorStore.open(tmp_path / "none.lance")
    with pytest.raises(InputError, match="from 0 to 8, got 9 to 9"):
        store.vectors([9])
    with pytest.raises(InputError, match="as many ids"):
        store.write_fragment(["a"], ["a"], ["1"], np.zeros((2, 3), np.float32))
    (Path(store.path) / MANIFEST).write_bytes(b"nonsense")
    with pytest.raises(SourceError, match="damaged"):
        VectorStore.open(store.path)
    assert is_vector_store("s3://bucket/v.lance/")


def test_a_dataset_of_another_program_is_not_overwritten_and_an_unfinished_store_is(
    store: VectorStore, tmp_path: Path
) -> None:
    mine = str(tmp_path / "mine.lance")
    lance.write_dataset(pa.table({"title": ["a", "b"]}), mine)
    (tmp_path / "file.lance").write_text("mine")
    for place in (mine, tmp_path / "file.lance"):
        with pytest.raises(InputError, match="holds no vectors of samekind"):
            VectorStore.create(place, MANIFEST_OF_ROWS)
    assert lance.dataset(mine).count_rows() == 2
    (Path(store.path) / MANIFEST).unlink()  # it has rows, so nobody was killed while creating it
    with pytest.raises(InputError, match="holds no vectors of samekind"):
        VectorStore.create(store.path, MANIFEST_OF_ROWS)
    empty = VectorStore.create(tmp_path / "killed.lance", MANIFEST_OF_ROWS)
    (Path(empty.path) / MANIFEST).unlink()
    assert len(VectorStore.create(empty.path, MANIFEST_OF_ROWS)) == 0
