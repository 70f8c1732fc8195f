"""Sets in files: read where they lie, checked against known sums, cached under the set's name."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.encoders import encode
from samekind.encoders.pixels import Pixels
from samekind.errors import SourceError
from samekind.sources import open_set, open_source
from samekind.sources.sets import checksums, fashion, picture_sets
from samekind.sources.sets import texts as text_sets
from samekind.sources.sets.checksums import check_file, content_sum

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def idx(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + np.asarray(array.shape, dtype=">u4").tobytes()
    return head + array.astype(np.uint8).tobytes()


def fashion_files(folder: Path, monkeypatch: pytest.MonkeyPatch, packed: bool = True) -> None:
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, n in (("train", 20), ("t10k", 10)):
        pictures, labels = rng.integers(0, 256, (n, 28, 28)), np.arange(n) % 10
        for name, array in (("images-idx3", pictures), ("labels-idx1", labels)):
            data, key = idx(array), f"{prefix}-{name}-ubyte"
            monkeypatch.setitem(fashion.SUMS, key, sha256(data).hexdigest())
            file = folder / (f"{key}.gz" if packed else key)
            file.write_bytes(gzip.compress(data) if packed else data)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("below", ["", "fashion-mnist"])
def test_fashion_opens_packed_or_not_in_the_folder_or_one_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool, below: str
) -> None:
    fashion_files(tmp_path / below, monkeypatch, packed)
    known = open_set("fashion-mnist", data=tmp_path)
    assert list(known.collection.ids())[:2] == ["train-00000", "train-00001"]
    assert known.held_out is not None and known.held_out.id(9) == "test-00009"
    assert known.orientations["class"][9] == "ankle boot"
    assert known.orientations["season"][4] == known.orientations["season"][9] == "winter"
    pixels = np.asarray(known.collection[0].load())
    assert pixels.shape == (28, 28, 3) and (pixels[..., 0] == pixels[..., 2]).all()
    assert known.collection[0].preview().mime == "image/png"


def test_the_folder_of_the_system_package_is_found_without_being_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fashion_files(tmp_path / "system", monkeypatch)
    monkeypatch.setattr(fashion, "DEBIAN", tmp_path / "system")
    monkeypatch.setenv("SAMEKIND_DATA", str(tmp_path / "elsewhere"))
    assert len(open_set("fashion-mnist").collection) == 20


def test_a_repacked_file_is_the_same_and_changed_content_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fashion_files(tmp_path, monkeypatch)
    file = tmp_path / "t10k-labels-idx1-ubyte.gz"
    data = gzip.decompress(file.read_bytes())
    file.write_bytes(gzip.compress(data, 1, mtime=5))
    assert len(open_set("fashion-mnist", data=tmp_path).collection) == 20
    file.write_bytes(gzip.compress(data[:-1] + b"\x03"))
    with pytest.raises(
        SourceError, match=r"t10k-labels.*SHA-256 of its content.*Get the file again"
    ):
        open_set("fashion-mnist", data=tmp_path)
    file.write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(SourceError, match="cannot be unpacked"):
        open_set("fashion-mnist", data=tmp_path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Expected an idx file"),
        (b"\x89PNG", "Expected an idx file"),
        (bytes([0, 0, 8, 0]), "Expected an idx file"),
        (bytes([0, 0, 8, 1, 0, 0]), "cut off"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 3, 1]), "Expected 3 bytes .* got 1"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 1, 1, 2]), "Expected 1 bytes .* got 2"),
    ],
)
def test_a_damaged_idx_file_is_told_from_a_whole_one(data: bytes, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        fashion.read_idx(data, "labels")


def picture_file(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, n: int = 6) -> Path:
    rng = np.random.default_rng(1)
    cells = []
    for _ in range(n):
        buffer = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)).save(buffer, "PNG")
        cells.append(buffer.getvalue())
    file = picture_sets.FILES[name]
    columns = {column: [f"{column}-{i % 3}" for i in range(n)] for column in file.columns.values()}
    folder.mkdir(exist_ok=True)
    path = folder / file.name
    table = {"image": cells, "filename": [f"file-{i}" for i in range(n)], **columns}
    parquet.write_table(pyarrow.table(table), path)
    digest = sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(
        picture_sets.FILES, name, picture_sets.PictureFile(file.name, digest, file.columns)
    )
    return path


@pytest.mark.parametrize("name", picture_sets.FILES)
def test_a_picture_file_gives_its_orientations_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    picture_file(tmp_path, name, monkeypatch)
    known = open_set(name, data=tmp_path)
    assert set(known.orientations) == set(picture_sets.FILES[name].columns)
    assert known.collection.name == known.collection.location == known.name == name
    assert len(known.collection) == 6 and known.held_out is None
    assert known.collection.kind == "image"


def test_a_picture_file_with_another_sum_is_refused_but_opens_as_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = picture_file(tmp_path, "cards", monkeypatch)
    picture_file(tmp_path / "other", "cards", monkeypatch, n=7)
    with pytest.raises(
        SourceError, match=r"cards.parquet.*expected its SHA-256 to be .*got .*ordinary table"
    ):
        open_set("cards", data=tmp_path)
    assert len(open_source(path)) == 6


def test_what_was_read_from_a_set_is_found_again_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = picture_file(tmp_path / "a", "fruits", monkeypatch)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / path.name).write_bytes(path.read_bytes())
    reads: list[int] = []

    class Counting(Pixels):
        def read(self, items):  # type: ignore[no-untyped-def]
            reads.append(len(items))
            return super().read(items)

    for folder in ("a", "b"):
        pile = open_set("fruits", data=tmp_path / folder).collection
        encode(pile, Counting(), cache=tmp_path / "cache")
    assert sum(reads) == 6


def test_the_sum_of_a_file_is_computed_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one")
    digest = sha256(b"one").hexdigest()
    before = checksums._sum_of.cache_info()
    for _ in range(3):
        assert check_file(path, digest) == path
    after = checksums._sum_of.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    with pytest.raises(SourceError, match=digest):
        check_file(path, digest)


def test_the_sum_of_content_tells_arrays_by_type_and_shape() -> None:
    numbers = np.arange(6, dtype=np.int32)
    sums = [
        content_sum([numbers]),
        content_sum([numbers.reshape(2, 3)]),
        content_sum([numbers.astype(np.int64)]),
        content_sum([numbers.tobytes().decode()]),
        content_sum([numbers[::-1]]),
    ]
    assert len(set(sums)) == len(sums)
    assert content_sum([numbers.reshape(2, 3).T]) == content_sum(
        [np.ascontiguousarray(numbers.reshape(2, 3).T)]
    )


def cifar_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    sums = []
    for part, n in (("train", 20), ("test", 10)):
        images = rng.integers(0, 256, (n, 3, 32, 32), dtype=np.uint8)
        labels = np.arange(n) % 10
        np.save(folder / f"cifar10-{part}-images.npy", images)
        np.save(folder / f"cifar10-{part}-labels.npy", labels)
        sums.append(picture_sets.pictures_sum(images, labels))
    monkeypatch.setitem(picture_sets.CIFAR_SUMS, "cifar10", tuple(sums))


def test_cifar_is_known_by_its_pictures_in_whatever_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cifar_files(tmp_path, monkeypatch)
    for name, orientations in (
        ("cifar10", {"default", "class"}),
        ("cifar10-2", {"default", "personalized", "class"}),
    ):
        assert set(open_set(name, data=tmp_path).orientations) == orientations
    images, labels = (
        np.load(tmp_path / f"cifar10-train-{what}.npy") for what in ("images", "labels")
    )
    np.save(tmp_path / "cifar10-train-images.npy", images[::-1])
    np.save(tmp_path / "cifar10-train-labels.npy", labels[::-1])
    assert len(open_set("cifar10", data=tmp_path).collection) == 20


def test_one_changed_pixel_or_label_of_cifar_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cifar_files(tmp_path, monkeypatch)
    for what, place in (("images", (3, 1, 4, 4)), ("labels", (3,))):
        array = np.load(tmp_path / f"cifar10-test-{what}.npy")
        changed = array.copy()
        changed[place] = (int(changed[place]) + 1) % 10
        np.save(tmp_path / f"cifar10-test-{what}.npy", changed)
        with pytest.raises(SourceError, match=r"test part of cifar10.*JPEG"):
            open_set("cifar10", data=tmp_path)
        np.save(tmp_path / f"cifar10-test-{what}.npy", array)
    open_set("cifar10", data=tmp_path)


def snippets_archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))

    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        for file in text_sets.SOURCES.values():
            lines = [
                f"{i}\t{rating}\t{file} &amp; {rating} {i}"
                for i in range(3)
                for rating in (2.5, 0.4, -1.0)
            ]
            add(archive, f"hutto_ICWSM_2014/{file}_GroundTruth.txt", "\n".join(lines).encode())
    path = folder / text_sets.SNIPPETS
    with tarfile.open(path, "w:gz") as archive:
        top = text_sets.SNIPPETS.removesuffix(".tar.gz")
        add(archive, f"{top}/additional_resources/hutto_ICWSM_2014.tar.gz", inner.getvalue())
    digest = sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(text_sets, "SNIPPETS_SUM", digest)
    monkeypatch.setattr(text_sets, "SNIPPETS_PER_KIND", 2)


def test_snippets_are_those_of_a_clear_tone_from_each_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snippets_archive(tmp_path, monkeypatch)
    known = open_set("snippets", data=tmp_path)
    texts = [item.load() for item in known.collection]
    assert len(set(texts)) == len(texts) == 16
    for text, source, tone in zip(
        texts, known.orientations["source"], known.orientations["tone"], strict=True
    ):
        file, mark, rating, _ = text.split(" ")
        assert (file, mark) == (text_sets.SOURCES[source], "&")
        assert rating == {"good": "2.5", "bad": "-1.0"}[tone]
