"""VectorIndex: it finds the true neighbours, is built in parts, and grows with the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("faiss", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from numpy.typing import NDArray

from drawn_store import Floats, append, blobs, new_store
from samekind.bulk import index
from samekind.bulk.index import VectorIndex, bytes_per_item, index_folder
from samekind.bulk.vector_store import VectorStore
from samekind.errors import SourceError


def true_neighbours(X: Floats, queries: Floats, k: int) -> NDArray[np.intp]:
    distances = ((queries[:, None, :] - X[None]) ** 2).sum(axis=2)
    return np.argsort(distances, axis=1)[:, :k]


def recall(found: NDArray[Any], true: NDArray[Any]) -> float:
    hits = [len(set(a) & set(b)) for a, b in zip(found.tolist(), true.tolist(), strict=True)]
    return sum(hits) / true.size


def test_nearly_all_true_neighbours_are_found(tmp_path: Path) -> None:
    X, _ = blobs(20_000, kinds=20, width=32)
    store = new_store(tmp_path / "v.lance", X, fragments=3)
    rows, distances = VectorIndex.open(store).nearest(X[:100], 10)
    assert recall(rows, true_neighbours(X, X[:100], 10)) >= 0.95
    assert (rows[:, 0] == np.arange(100)).mean() > 0.98 and (np.diff(distances) >= 0).all()
    exact = ((X[:100, None] - X[rows]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, exact, rtol=0.05, atol=0.3)


def test_it_is_built_in_parts_batch_by_batch_and_opened_as_mapped_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import faiss

    X, _ = blobs(5000)
    store = new_store(tmp_path / "v.lance", X, fragments=2)
    monkeypatch.setattr(index, "PART_BYTES", 2000 * bytes_per_item(16))
    monkeypatch.setattr(index, "BATCH", 300)
    sizes: list[int] = []
    plain = index.as_matrix

    def counted(column: Any, width: int) -> Any:
        sizes.append(len(column))
        return plain(column, width)

    monkeypatch.setattr(index, "as_matrix", counted)
    seen: list[tuple[int, int]] = []
    found = VectorIndex.open(store, lambda *done: seen.append(done))
    assert max(sizes) <= 300 and sum(sizes) >= 5000
    assert [part.ntotal for part in found.parts] == [2000, 2000, 1000] and found.n_rows == 5000
    assert seen == sorted(seen) and seen[-1] == (5000, 5000)
    assert all(type(p.invlists) is not faiss.ArrayInvertedLists for p in found.parts), "mapped"
    rows, _ = found.nearest(X[:50], 5)
    assert recall(rows, true_neighbours(X, X[:50], 5)) >= 0.95


def test_appended_rows_are_found_and_full_parts_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _ = blobs(3000)
    store = new_store(tmp_path / "v.lance", X)
    monkeypatch.setattr(index, "PART_BYTES", 2000 * bytes_per_item(16))
    assert len(VectorIndex.open(store).parts) == 2
    files = {file.name: file.stat().st_mtime_ns for file in index_folder(store).iterdir()}
    new = blobs(2000, seed=5)[0]
    append(store, new)
    again = VectorIndex.open(VectorStore.open(store.path))
    rows, _ = again.nearest(new[-3:], 1)
    assert rows.ravel().tolist() == [4997, 4998, 4999]
    now = {file.name: file.stat().st_mtime_ns for file in index_folder(store).iterdir()}
    assert sorted(now) == [
        "part-00000000000-00000002000.faiss",
        "part-00000002000-00000004000.faiss",
        "part-00000004000-00000005000.faiss",
        "trained.faiss",
    ]
    kept = ("part-00000000000-00000002000.faiss", "trained.faiss")
    assert all(now[name] == files[name] for name in kept)


def test_an_index_for_far_fewer_rows_is_made_anew(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(100)[0])
    assert VectorIndex.open(store).parts[0].nlist == 2
    append(store, blobs(5000, seed=1)[0])
    (part,) = VectorIndex.open(store).parts
    assert part.nlist == 127 and part.ntotal == 5100


def test_an_interrupted_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = new_store(tmp_path / "v.lance", blobs(3000)[0])
    monkeypatch.setattr(index, "PART_BYTES", 1000 * bytes_per_item(16))

    def stop(done: int, total: int) -> None:
        if done >= 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VectorIndex.open(store, stop)
    seen: list[int] = []
    assert VectorIndex.open(store, lambda done, _: seen.append(done)).n_rows == 3000
    assert min(seen) > 1000, "the first part is not made again"
    assert not list(index_folder(store).glob(".*"))


def test_few_rows_and_no_rows(tmp_path: Path) -> None:
    X, _ = blobs(3)
    rows, distances = VectorIndex.open(new_store(tmp_path / "v.lance", X)).nearest(X[0], 5)
    assert rows[0, 0] == 0 and rows[0, 3:].tolist() == [-1, -1] and np.isinf(distances[0, 3:]).all()
    empty = new_store(tmp_path / "empty.lance", X[:0])
    assert VectorIndex.open(empty).nearest(X[0], 2)[0].tolist() == [[-1, -1]]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(50)[0])
    index_folder(store).write_text("in the way")
    with pytest.raises(SourceError, match=r"cannot be written.*It needs 1,200 bytes"):
        VectorIndex.open(store)
