"""Listing: a sample that is spread evenly, known items left out, and a work list that holds all."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from samekind.bulk import work_list
from samekind.bulk.listing import AT_A_TIME, Missing, Sampler
from samekind.bulk.readers import Entry
from samekind.bulk.vector_store import key_of
from samekind.bulk.work_list import WorkList

pytest.importorskip("pyarrow", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("fsspec", reason="needs the extra cluster: pip install 'samekind[cluster]'")


def entries(n: int) -> list[Entry]:
    return [Entry(f"item {i}", f"/x/{i}", "1") for i in range(n)]


def keys(numbers: range) -> np.ndarray:
    return np.array(sorted(key_of(f"item {i}", "1") for i in numbers), dtype=np.uint64)


def drawn(n: int, size: int, run: int, seed: int) -> list[int]:
    sampler = Sampler(size, run=run, seed=seed)
    for entry in entries(n):
        sampler.see(entry)
    return [int(entry.id.split()[1]) for entry in sampler.sample()]


def test_the_sample_is_everything_if_there_is_no_more() -> None:
    assert drawn(100, 100, 1, 0) == list(range(100))
    assert drawn(10, 128, 2, 0) == list(range(10))


def test_every_item_is_drawn_equally_often_and_in_the_order_of_the_listing() -> None:
    counts = np.zeros(200)
    for seed in range(400):
        sample = drawn(200, 50, 1, seed)
        assert sample == sorted(set(sample)) and len(sample) == 50
        counts[sample] += 1
    assert abs(counts[:100].sum() - counts[100:].sum()) < 5 * np.sqrt(400 * 50 * 0.25)
    assert counts.min() > 50 and counts.max() < 160  # 100 on average, sd 9
    assert drawn(200, 50, 1, 3) == drawn(200, 50, 1, 3) != drawn(200, 50, 1, 4)


def test_runs_are_drawn_together_but_never_so_long_that_there_are_few() -> None:
    sample = drawn(10_000, 640, 10, 0)
    assert len(sample) == 640
    assert all(start % 10 == 0 for start in sample[::10])
    assert sample[1::10] == [start + 1 for start in sample[::10]]
    sampler = Sampler(640, run=1_000_000)
    assert sampler.run == 10


def test_known_and_broken_entries_are_left_out_and_outdated_ones_counted() -> None:
    n = AT_A_TIME + 500
    stored = np.sort(np.append(keys(range(100, n)), np.uint64(key_of("item 7", "older"))))
    missing = Missing(stored, keys(range(40, 50)), sampler := Sampler(1000))
    found = list(missing.among(iter(entries(n))))
    expected = [i for i in range(100) if not 40 <= i < 50]
    assert [entry.id for entry in found] == [f"item {i}" for i in expected]
    assert sampler.sample() == found
    assert (missing.n_listed, missing.n_outdated) == (n, 1)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 500])
def test_a_work_list_comes_back_in_chunks_of_any_size(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_list, "ROWS", 64)
    monkeypatch.setattr(work_list, "GROUPS_PER_FILE", 3)
    todo = WorkList(str(tmp_path / "v.lance"))
    todo.fill(iter(entries(700)))
    todo = WorkList(str(tmp_path / "v.lance"))
    todo.fill(iter(entries(n)))
    assert todo.n_entries == n
    for todo.chunk in (64, 16):
        there = pickle.loads(pickle.dumps(todo))
        found = [there.entries(chunk) for chunk in range(there.n_chunks)]
        assert [entry for chunk in found for entry in chunk] == entries(n)
        assert all(len(chunk) == todo.chunk for chunk in found[:-1])
    todo.remove()
    assert not Path(todo.folder).exists()
