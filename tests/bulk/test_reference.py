"""Reference items: they cover the store, stay the same, and are chosen in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("faiss", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from drawn_store import append, blobs, new_store
from samekind.bulk import reference
from samekind.bulk.reference import (
    add_rows,
    choose_rows,
    extend_reference,
    quotas,
    reference_of,
    sample_size,
    stratified,
)
from samekind.bulk.vector_store import VectorStore
from samekind.errors import InputError, SourceError


def test_a_kind_of_one_in_a_thousand_is_covered(tmp_path: Path) -> None:
    X, _ = blobs(20_000)
    rare = np.random.default_rng(1).permutation(len(X))[:20]
    X[rare] = 6 + 0.3 * X[rare]
    store = new_store(tmp_path / "v.lance", X, fragments=4)
    by_chance = 400 * len(rare) / len(X)
    assert by_chance < 0.5, "one in three choices would have any"
    for seed in range(5):
        chosen = choose_rows(store, 400, seed=seed)
        assert len(chosen) == len(set(chosen.tolist())) == 400
        assert np.isin(rare, chosen).sum() >= 1


def test_large_kinds_keep_about_their_proportions(tmp_path: Path) -> None:
    X, kind = blobs(20_000, kinds=4)
    keep = (kind > 0) | (np.random.default_rng(0).random(len(kind)) < 0.2)
    X, kind = X[keep], kind[keep]
    store = new_store(tmp_path / "v.lance", X)
    chosen = choose_rows(store, 1000)
    shares = np.bincount(kind) / len(kind)
    found = np.bincount(kind[chosen]) / len(chosen)
    np.testing.assert_allclose(found, shares, atol=0.06)


def test_same_seed_same_choice_and_every_stretch_is_sampled(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(5000)[0], fragments=5)
    first, again, other = (choose_rows(store, 200, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert len(np.intersect1d(first, other)) < 150
    sample = stratified(10_000, 500, np.random.default_rng(0))
    np.testing.assert_array_equal(sample // 20, np.arange(500))


def test_a_small_store_is_taken_as_a_whole(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(50)[0])
    np.testing.assert_array_equal(choose_rows(store, 50), np.arange(50))
    with pytest.raises(InputError, match="at least 2 reference items, got 1"):
        choose_rows(store, 1)


def test_never_more_than_a_chunk_is_read_and_never_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path / "v.lance", blobs(6000)[0])
    monkeypatch.setattr(reference, "CHUNK", 100)
    monkeypatch.setattr(reference, "MAX_SAMPLE_ROWS", 1500)
    asked: list[int] = []
    plain = VectorStore.vectors

    def counted(self: VectorStore, rows: Any) -> Any:
        asked.append(len(rows))
        return plain(self, rows)

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a choice must not go through all rows")

    monkeypatch.setattr(VectorStore, "vectors", counted)
    monkeypatch.setattr(VectorStore, "batches", refused)
    seen: list[tuple[int, int]] = []
    assert len(choose_rows(store, 300, progress=lambda *done: seen.append(done))) == 300
    assert max(asked) == 100 and sum(asked) == 1500
    assert seen[0] == (100, 1500) and seen[-1] == (1500, 1500)


def test_the_sample_is_bounded_in_bytes() -> None:
    assert sample_size(10_000, 128) == 250_000
    assert sample_size(10_000, 1280) * 1280 * 4 <= 256_000_000
    assert sample_size(10_000, 10**6) == 10_000


def test_quotas_give_each_cell_some_and_none_more_than_it_has() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(0, 60, size=30) ** 2
        total = int(rng.integers(1, max(2, sizes.sum())))
        found = quotas(sizes, total)
        assert found.sum() == min(total, sizes.sum()) and (found <= sizes).all()
        if total >= 10 * 30:
            assert (found[sizes > 0] > 0).all()


def test_appended_rows_do_not_change_the_reference_until_it_is_extended(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(3000)[0])
    before = reference_of(store, 100)
    append(store, blobs(1500, seed=1)[0])
    again = VectorStore.open(store.path)
    same = reference_of(again, 100)
    np.testing.assert_array_equal(same.rows, before.rows)
    assert (same.seen, len(again)) == (3000, 4500)
    added = extend_reference(again, 100)
    assert len(added) == 33 and (added >= 3000).all()
    now = reference_of(again, 100)
    np.testing.assert_array_equal(now.rows, [*before.rows, *added])
    assert (now.seen, now.n_chosen) == (4500, 100)
    assert len(extend_reference(again, 100)) == 0


def test_added_rows_stay_in_order_and_count_once(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(1000)[0])
    chosen = reference_of(store, 50).rows
    others = np.setdiff1d(np.arange(1000), chosen)[:3]
    add_rows(store, [others[2], others[0]], like=["item-1"])
    add_rows(store, [others[1], others[0], chosen[0]])
    found = reference_of(VectorStore.open(store.path), 50).rows
    np.testing.assert_array_equal(found, [*chosen, others[2], others[0], others[1]])


def test_the_first_choice_is_kept_and_others_stand_beside_it(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(1000)[0])
    first = reference_of(store, 50, 2)
    other = reference_of(store, 60)
    assert (other.size, other.seed) == (60, 0) and not np.array_equal(first.rows, other.rows[:50])
    again = reference_of(VectorStore.open(store.path))
    assert (again.size, again.seed) == (50, 2)
    np.testing.assert_array_equal(again.rows, first.rows)


def test_a_damaged_choice_is_named(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(100)[0])
    reference_of(store, 50)
    (file,) = (tmp_path / "v.lance" / "_samekind" / "reference").glob("*.json")
    file.write_text("{")
    with pytest.raises(SourceError, match=r"seed0\.json.*is damaged.*Delete it"):
        reference_of(store, 50)
