"""Pictures of shards: decoded once, in chunks, resumed after a kill, and shared by processes."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from drawn_sources import write_tar
from samekind.bulk import pictures as pictures_module
from samekind.bulk.pictures import ShardPile, decoded
from samekind.bulk.readers import open_reader
from samekind.encoders import encode
from samekind.encoders.pixels import Images
from samekind.errors import InputError
from samekind.sources import open_source

SIZE = 8


def draw(folder: Path, n: int, seed: int = 0) -> Path:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for k in range(n):
        pixels = rng.integers(0, 256, (12, 15, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.png" if k % 2 else folder / f"{k}.jpg")
    return folder


def tar(folder: Path, shard: Path, first: int, last: int, broken: int | None = None) -> None:
    paths = [next(folder.glob(f"{k}.*")) for k in range(first, last)]
    files = {path.name: path.read_bytes() for path in paths}
    if broken is not None:
        files[paths[broken].name] = b"not a picture"
    write_tar(shard, files)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pictures_module, "CHUNK", 4)
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return draw(tmp_path / "loose", 22)


@pytest.fixture
def shards(tmp_path: Path, folder: Path) -> Path:
    for k, (first, last) in enumerate([(0, 9), (9, 18)]):
        tar(folder, tmp_path / "shards" / f"{k}.tar", first, last)
    return tmp_path / "shards"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items were decoded at a time."""
    sizes: list[int] = []
    original = pictures_module.read_features

    def noted(reader: Any, encoder: Any, entries: Any) -> Any:
        sizes.append(len(entries))
        return original(reader, encoder, entries)

    monkeypatch.setattr(pictures_module, "read_features", noted)
    return sizes


def in_memory(folder: Path, n: int) -> np.ndarray:
    whole = open_source(folder)
    return encode(whole.take(range(n)), Images(size=SIZE)).X.reshape(-1, 3, SIZE, SIZE)


def test_pictures_of_shards_are_those_of_the_folder(folder: Path, shards: Path) -> None:
    found = decoded(open_reader(str(shards)), SIZE)
    np.testing.assert_array_equal(found.pixels, in_memory(folder, 18))
    assert found.skipped == ()


def test_a_chunk_is_all_that_is_decoded_at_a_time_and_nothing_is_decoded_twice(
    shards: Path, read: list[int]
) -> None:
    told: list[tuple[int, int]] = []
    first = decoded(
        open_reader(str(shards)), SIZE, progress=lambda *call: told.append(call), total=18
    )
    assert read == [4, 4, 4, 4, 2]
    assert told == [(4, 18), (8, 18), (12, 18), (16, 18), (18, 18)]
    read.clear()
    again = decoded(open_reader(str(shards)), SIZE)
    assert read == []
    np.testing.assert_array_equal(again.pixels, first.pixels)
    with pytest.raises(AssertionError):  # another size is another file
        np.testing.assert_array_equal(decoded(open_reader(str(shards)), 4).pixels, first.pixels)


def test_a_broken_picture_is_reported_and_left_out(folder: Path, tmp_path: Path) -> None:
    tar(folder, tmp_path / "one.tar", 0, 10, broken=5)
    for _ in range(2):  # decoded, then opened
        found = decoded(open_reader(str(tmp_path / "one.tar")), SIZE)
        assert [skipped.id for skipped in found.skipped] == ["5.png"]
        expected = np.delete(in_memory(folder, 10), 5, axis=0)
        np.testing.assert_array_equal(found.pixels, expected)


def test_a_killed_run_goes_on_after_its_last_complete_chunk(
    folder: Path, shards: Path, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    append = pictures_module._append

    def kill(path: Path, end: int, data: Any) -> None:
        if path.name == "journal.jsonl" and end and len(read) == 3:
            raise KeyboardInterrupt  # the pictures are written, but not the line that says so
        append(path, end, data)

    monkeypatch.setattr(pictures_module, "_append", kill)
    with pytest.raises(KeyboardInterrupt):
        decoded(open_reader(str(shards)), SIZE)
    monkeypatch.setattr(pictures_module, "_append", append)
    read.clear()
    found = decoded(open_reader(str(shards)), SIZE)
    assert read == [4, 4, 2]
    np.testing.assert_array_equal(found.pixels, in_memory(folder, 18))


@pytest.mark.parametrize("file", ["pixels.u8", "journal.jsonl"])
def test_a_truncated_file_is_completed(
    folder: Path, shards: Path, read: list[int], file: str
) -> None:
    decoded(open_reader(str(shards)), SIZE)
    (path,) = (folder.parent / "home" / "cache" / "pictures").glob(f"*/{file}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    read.clear()
    found = decoded(open_reader(str(shards)), SIZE)
    assert 0 < len(read) < 5
    np.testing.assert_array_equal(found.pixels, in_memory(folder, 18))


def test_a_new_shard_is_added_and_a_changed_one_is_read_again(
    folder: Path, shards: Path, read: list[int]
) -> None:
    before = decoded(open_reader(str(shards)), SIZE).pixels
    kept = before.copy()
    tar(folder, shards / "2.tar", 18, 22)
    read.clear()
    grown = decoded(open_reader(str(shards)), SIZE)
    assert read == [4, 2]  # the last chunk was not full
    np.testing.assert_array_equal(grown.pixels, in_memory(folder, 22))
    tar(folder, shards / "1.tar", 10, 18)
    changed = decoded(open_reader(str(shards)), SIZE)
    np.testing.assert_array_equal(changed.pixels, np.delete(in_memory(folder, 22), 9, axis=0))
    np.testing.assert_array_equal(before, kept)  # whoever trains on it is not disturbed


def test_changing_the_array_changes_no_file(shards: Path) -> None:
    decoded(open_reader(str(shards)), SIZE).pixels[:] = 0
    assert decoded(open_reader(str(shards)), SIZE).pixels.any()


def decode_elsewhere(shards: str, begin: Any, told: Any) -> None:
    pictures_module.CHUNK = 4
    calls = []
    original = pictures_module.read_features
    pictures_module.read_features = lambda *a: calls.append(1) or original(*a)  # type: ignore
    begin.wait()
    found = decoded(open_reader(shards), SIZE)
    told.put((len(calls), int(found.pixels.sum())))


def test_of_several_processes_one_decodes_and_the_others_use_its_file(shards: Path) -> None:
    context = multiprocessing.get_context("spawn")
    begin, told = context.Barrier(2), context.Queue()
    workers = [
        context.Process(target=decode_elsewhere, args=(str(shards), begin, told)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    results = [told.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join(timeout=300)
    assert sorted(calls for calls, _ in results) == [0, 5]
    assert len({total for _, total in results}) == 1


def test_a_source_is_listed_without_loading_it(folder: Path, shards: Path) -> None:
    pile = ShardPile.at(str(shards))
    assert (len(pile), pile.kind, pile.name) == (18, "image", "shards")
    assert list(pile.sides()) == [12] * 18
    loose = ShardPile.at(str(folder))
    assert loose.fingerprint == open_source(folder).fingerprint != pile.fingerprint


def test_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(InputError, match=r"Expected pictures .* got text items"):
        decoded(open_reader(str(tmp_path)), SIZE)


def test_a_deep_method_trains_on_the_mapped_file_as_on_memory(
    shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from samekind import CC
    from samekind.training.loop import Trainer

    trained: list[np.ndarray] = []
    begin = Trainer.renew

    def noted(self: Trainer) -> None:
        trained.append(self.data.numpy())
        begin(self)

    monkeypatch.setattr(Trainer, "renew", noted)
    pixels = ShardPile.at(str(shards)).pictures(SIZE).pixels
    setting: Any = {"n_clusters": 2, "epochs": 1, "batch_size": 6, "random_state": 0}
    setting |= {"channels": 2, "stem": "3x3", "size": SIZE}
    mapped = CC(**setting, device="cpu").fit(pixels)
    held = CC(**setting, device="cpu").fit(np.array(pixels))
    np.testing.assert_array_equal(mapped.labels_, held.labels_)
    assert np.shares_memory(trained[0], pixels)  # nothing was copied
    assert not np.shares_memory(trained[-1], pixels)
