"""Files that a stranger has prepared: no code in them runs, and one sentence says what is wrong."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import threading
import time
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmarks.faults import bombs, hostile_files, long_files
from benchmarks.faults.hostile_files import Attempt, Payload, with_header
from samekind.errors import SamekindError
from samekind.exports import OrientationFile
from samekind.sources import item_of_bytes, open_source
from samekind.sources.files import archives
from samekind.sources.files.images import Picture
from samekind.sources.files.pillow_warnings import quiet_pillow
from samekind.sources.sets import checksums

DEEP = "[" * 200_000


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that appears if code was run; the bomb does work."""
    mark = tmp_path / "code was run"
    pickle.loads(pickle.dumps(Payload(mark)))
    assert mark.exists()
    mark.unlink()
    return mark


def refused(path: Path, opened: Callable[[Any], Any] = open_source) -> str:
    with pytest.raises(SamekindError) as refusal:
        opened(path)
    sentence = str(refusal.value)
    assert path.name in sentence and "Traceback" not in sentence
    assert len(sentence) < 500
    return sentence


def opened(attempt: Attempt) -> str:
    """Open a file as a person does; returns the sentence, or nothing if it could be read."""
    path, opener = attempt
    try:
        opener(path)
    except SamekindError as sentence:
        assert path.name in str(sentence) and len(str(sentence)) < 500
        return str(sentence)
    return ""


def test_pickles_within_arrays_are_not_loaded(tmp_path: Path, mark: Path) -> None:
    sentences = [opened(attempt) for attempt in hostile_files.arrays(tmp_path, mark)]
    assert len(sentences) == 6
    assert all("never loaded" in sentence for sentence in sentences)
    assert not mark.exists()


def test_arrays_that_claim_to_be_huge_take_no_memory(tmp_path: Path) -> None:
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
    np.lib.format.write_array_header_1_0(header, shape)
    (tmp_path / "a.npy").write_bytes(header.getvalue())
    refused(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    refused(tmp_path / "claims.npz")


def test_an_archive_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((1000, 1000)))
    assert path.stat().st_size < 20_000
    assert len(open_source(path)) == 1000
    monkeypatch.setattr(archives, "physical_memory", lambda: 10_000_000)
    assert "unpacks to" in refused(path)


def peak_of(call: Callable[[], Any]) -> int:
    """The most bytes that Python had at once during a call that raises a sentence."""
    tracemalloc.start()
    try:
        with pytest.raises(SamekindError):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_archive_in_no_proportion_to_its_size_is_refused_and_takes_no_memory(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(bombs.zipped({"X.npy": bombs.array(100)}))
    assert path.stat().st_size < 300_000
    assert "300 times its size" in refused(path)
    assert peak_of(lambda: open_source(path)) < 2_000_000


@pytest.mark.parametrize("name", ["X.npy", "X"])
def test_an_archive_that_lies_about_its_sizes_takes_no_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.npz"
    liar = bombs.array(100, lying=True) if name == "X.npy" else bombs.packed(100, lying=True)
    path.write_bytes(bombs.zipped({name: liar}))
    assert peak_of(lambda: open_source(path)) < 2_000_000
    with zipfile.ZipFile(path) as archive:
        assert peak_of_damage(lambda: archives.read_member(archive, name)) < 2_000_000


def peak_of_damage(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(archives.UNREADABLE):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_cannot_be_unpacked_piece_by_piece_is_not_unpacked(
    tmp_path: Path, method: int
) -> None:
    path, array = tmp_path / "a.npz", io.BytesIO()
    np.save(array, np.eye(4))
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("X.npy", array.getvalue())
    assert "another method than deflate" in refused(path)


def test_an_archive_within_an_archive_is_not_unpacked(tmp_path: Path) -> None:
    inner = bombs.zipped({"X.npy": bombs.array(1)})
    np.savez(tmp_path / "good.npz", X=np.eye(4))
    with zipfile.ZipFile(tmp_path / "good.npz", "a") as archive:
        archive.writestr("more.npz", inner)
    assert "'more.npz' in it is not an array" in refused(tmp_path / "good.npz")


def test_a_gzip_file_of_a_set_is_never_unpacked_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.gz"
    path.write_bytes(gzip.compress(bytes(40_000_000)))
    monkeypatch.setattr(checksums, "MAX_UNPACKED", 39_000_000)
    for open_it in (
        lambda: checksums.check_file(path, "", packed=True),
        lambda: checksums.unpack(path),
    ):
        with pytest.raises(SamekindError, match="at most 39,000,000 bytes"):
            open_it()
    monkeypatch.setattr(checksums, "MAX_UNPACKED", 40_000_000)
    assert checksums.unpack(path) == bytes(40_000_000)
    assert peak_of(lambda: checksums.check_file(path, "0", packed=True)) < 8_000_000


def test_a_table_that_states_more_rows_than_the_memory_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": np.zeros(1_000_000)}), path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(archives, "physical_memory", lambda: 10_000_000)
    assert "unpacks to" in refused(path)


def test_a_photo_with_damaged_exif_data_fills_no_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = bombs.photo(bombs.looping_exif())
    (tmp_path / "a.jpg").write_bytes(data)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for item in (open_source(tmp_path)[0], item_of_bytes("image", "a.jpg", data, "1")):
            assert isinstance(item, Picture)
            item.load()
            item.preview()
            assert item.facts() == {}
    assert not warned
    assert capfd.readouterr().err == ""


def test_warnings_of_others_are_heard_while_and_after_pictures_are_read_in_many_threads() -> None:
    entered, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def read(number: int) -> None:
        with quiet_pillow():
            entered.wait()
            leave[number].wait()

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        threads = [threading.Thread(target=read, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        entered.wait()
        warnings.warn_explicit("of Pillow", UserWarning, "a.py", 1, module="PIL.TiffImagePlugin")
        for number, thread in enumerate(threads):
            leave[number].set()
            thread.join()
            warnings.warn("of a ledger", stacklevel=1)
        assert list(warnings.filters) == before
    assert [str(one.message) for one in warned] == ["of a ledger"] * 2


def test_sixteen_bits_become_eight_a_few_rows_at_a_time(tmp_path: Path) -> None:
    deep = np.random.default_rng(0).integers(0, 65536, size=(600, 40), dtype=np.uint16)
    Image.fromarray(deep).save(tmp_path / "a.png")
    found = np.asarray(open_source(tmp_path)[0].load())[..., 0]
    np.testing.assert_array_equal(found, (deep.astype(np.float64) / 257).astype(np.uint8))


SMALL = {name: make for name, make in bombs.PICTURES.items() if not name.startswith(bombs.MOST)}


@pytest.mark.parametrize("name", [*SMALL, *long_files.PICTURES])
def test_a_picture_of_a_stranger_is_shown_or_skipped_with_a_reason(
    tmp_path: Path, name: str
) -> None:
    begun = time.process_time()
    make = long_files.PICTURES.get(name, lambda: long_files.Long(SMALL[name]()))
    make().write(tmp_path / name)
    Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
    pile = open_source(tmp_path)
    for item in pile:
        item.preview()
    assert {*pile.ids(), *(skipped.id for skipped in pile.skipped)} == {name, "good.png"}
    assert time.process_time() - begun < 30


@pytest.mark.parametrize("name", list(long_files.TABLES))
def test_a_table_or_graph_without_end_is_read_or_refused_with_a_sentence(
    tmp_path: Path, name: str
) -> None:
    begun, path = time.process_time(), tmp_path / name
    long_files.TABLES[name]().write(path)
    if name == "equal names.csv":
        assert len(open_source(path)) == 1
    else:
        refused(path)
    assert time.process_time() - begun < 30


def test_pickled_types_within_parquet_are_not_loaded(tmp_path: Path, mark: Path) -> None:
    pytest.importorskip("pyarrow")
    sentences = {one[0].stem: opened(one) for one in hostile_files.parquet(tmp_path, mark)}
    assert sentences.pop("table") == "", "the numbers beside the code can be read"
    assert len(sentences) == 3
    assert all(sentences.values())
    assert not mark.exists()


HEADERS: dict[str, bytes] = {
    "empty": b"",
    "endless": struct.pack("<Q", 2**63) + b"{}",
    "not json": with_header(b"{"),
    "deep": with_header(DEEP.encode()),
    "a list": with_header([1]),
    "overlapping": with_header({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 9]}}),
    "huge": with_header({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}),
    "deep facts": with_header(
        {"__metadata__": {"samekind-orientation": DEEP, "format": "samekind-checkpoint/1"}}
    ),
    "facts": with_header({"__metadata__": {"samekind-orientation": "7", "facts": "7"}}),
}


@pytest.mark.parametrize("name", list(HEADERS))
def test_bad_headers_of_orientations_and_checkpoints_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.orientation"
    path.write_bytes(HEADERS[name])
    refused(path, OrientationFile.load)
    pytest.importorskip("torch")
    from samekind.training.checkpoints import load_checkpoint

    refused(path, load_checkpoint)


def test_facts_of_a_checkpoint_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    from samekind.training.checkpoints import FORMAT, load_checkpoint

    path = tmp_path / "state.safetensors"
    for facts in (None, "{", "7", DEEP):
        metadata = {"format": FORMAT} if facts is None else {"format": FORMAT, "facts": facts}
        save_file({"a": torch.zeros(2)}, path, metadata)
        refused(path, load_checkpoint)


def test_pickles_in_the_place_of_orientations_and_checkpoints_are_not_loaded(
    tmp_path: Path, mark: Path
) -> None:
    pytest.importorskip("torch")
    for make in (hostile_files.orientations, hostile_files.checkpoints):
        sentences = [opened(attempt) for attempt in make(tmp_path, mark)]
        assert len(sentences) == 4
        assert all(sentences)
    assert not mark.exists()
