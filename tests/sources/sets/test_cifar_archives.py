"""The usual CIFAR archives: unpacked, packed, damaged, incomplete, or a pickle."""

from __future__ import annotations

import io
import pickle
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from samekind.errors import SourceError
from samekind.sources.sets import cifar_archives
from samekind.sources.sets.cifar import open_cifar

BATCHES = [f"data_batch_{number}.bin" for number in range(1, 6)]


def records(classes: list[int], seed: int, head: tuple[int, ...] = ()) -> tuple[bytes, np.ndarray]:
    """Some random pictures as the archives hold them, and their pixels."""
    images = np.random.default_rng(seed).integers(0, 256, (len(classes), 3, 32, 32), np.uint8)
    rows = [bytes([*head, c]) + image.tobytes() for c, image in zip(classes, images, strict=True)]
    return b"".join(rows), images


def ten(folder: str = "cifar-10-batches-bin/") -> tuple[dict[str, bytes], np.ndarray, np.ndarray]:
    """All files of a tiny CIFAR-10, its training pictures and its test pictures."""
    parts = [records([2 * i, 2 * i + 1], i) for i in range(5)]
    test, test_images = records([9, 1, 0], 7)
    files = {f"{folder}{name}": raw for name, (raw, _) in zip(BATCHES, parts, strict=True)}
    files |= {f"{folder}test_batch.bin": test, f"{folder}batches.meta.txt": b"airplane\n"}
    return files, np.concatenate([images for _, images in parts]), test_images


def hundred(folder: str = "cifar-100-binary/") -> tuple[dict[str, bytes], np.ndarray]:
    train, images = records([0, 99, 50], 1, head=(7,))
    test, _ = records([3], 2, head=(1,))
    names = b"apple\n"
    files = {"train.bin": train, "test.bin": test, "fine_label_names.txt": names}
    return {f"{folder}{name}": raw for name, raw in files.items()}, images


def unpack(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)


def pack(archive: Path, files: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(archive, mode) as packed:  # type: ignore[call-overload]
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            packed.addfile(member, io.BytesIO(raw))
    return archive


@pytest.mark.parametrize("where", ["cifar-10-batches-bin/", ""])
def test_an_unpacked_archive_is_read(tmp_path: Path, where: str) -> None:
    files, images, test_images = ten(where)
    unpack(tmp_path, files)
    found = open_cifar("cifar10-2", tmp_path)
    assert np.array_equal(found.images, images)
    assert np.array_equal(found.held_out_images, test_images)
    assert found.labelled.truth("class")[0].tolist() == list(range(10))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("cifar-10-binary.tar.gz", "w:gz"),
        ("cifar-10-binary.tgz", "w:gz"),
        ("cifar-10-binary.tar", "w"),
    ],
)
def test_an_archive_is_read_without_unpacking_it(tmp_path: Path, name: str, mode: str) -> None:
    files, images, test_images = ten()
    # Archives need not be in order.
    archive = pack(tmp_path / name, dict(reversed(files.items())), mode)
    for place in (tmp_path, archive):
        found = open_cifar("cifar10-2", place)
        assert np.array_equal(found.images, images)
        assert np.array_equal(found.held_out_images, test_images)
    assert [file.name for file in tmp_path.iterdir()] == [name], "nothing else was written"


def test_cifar_100_takes_the_fine_class_and_both_sets_may_lie_side_by_side(tmp_path: Path) -> None:
    files, images = hundred()
    pack(tmp_path / "cifar-100-binary.tar.gz", files)
    pack(tmp_path / "cifar-10-binary.tar.gz", ten()[0])
    found = open_cifar("cifar100-4", tmp_path)
    assert np.array_equal(found.images, images) and len(found.held_out_images) == 1
    by_class = open_cifar("cifar100-4", tmp_path).labelled.orientations["class"]
    assert len(set(by_class.tolist())) == 3
    assert len(open_cifar("cifar10-2", tmp_path).images) == 10


def test_the_python_form_is_refused_packed_or_not_and_is_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "sprung",))  # type: ignore[return-value]

    trap = pickle.dumps(Trap())
    for base, inner, name in (
        ("cifar10-2", "cifar-10-batches-py/data_batch_1", "cifar-10-python.tar.gz"),
        ("cifar100-4", "cifar-100-python/train", "cifar-100-python.tar.gz"),
    ):
        archive = pack(tmp_path / name, {inner: trap})
        unpacked = tmp_path / f"unpacked-{base}"
        unpack(unpacked, {inner: trap})
        for place in (tmp_path, archive, unpacked):
            with pytest.raises(SourceError, match=r"pickle.*can run code.*binary\.tar\.gz"):
                open_cifar(base, place)
    assert not (tmp_path / "sprung").exists()


def test_the_binary_form_is_preferred_where_both_are(tmp_path: Path) -> None:
    pack(tmp_path / "cifar-10-python.tar.gz", {"cifar-10-batches-py/data_batch_1": b"x"})
    files, images, _ = ten()
    pack(tmp_path / "cifar-10-binary.tar.gz", files)
    assert np.array_equal(open_cifar("cifar10-2", tmp_path).images, images)


def test_a_batch_that_is_missing_or_cut_off_is_named(tmp_path: Path) -> None:
    files, _, _ = ten()
    short = {name: raw for name, raw in files.items() if "batch_3" not in name}
    archive = pack(tmp_path / "cifar-10-binary.tar.gz", short)
    with pytest.raises(SourceError, match=r"'data_batch_3\.bin' is missing"):
        open_cifar("cifar10-2", archive)
    cut = {**files, "cifar-10-batches-bin/data_batch_2.bin": b"short"}
    with pytest.raises(SourceError, match=r"'data_batch_2\.bin'.* is cut off"):
        open_cifar("cifar10-2", pack(archive, cut))


def test_an_archive_whose_download_was_interrupted_is_told(tmp_path: Path) -> None:
    archive = pack(tmp_path / "cifar-10-binary.tar.gz", ten()[0])
    whole = archive.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"<html>not found</html>", b""):
        archive.write_bytes(damaged)
        with pytest.raises(SourceError, match="cannot be read as an archive"):
            open_cifar("cifar10-2", tmp_path)


def test_another_set_is_not_mistaken_for_this_one(tmp_path: Path) -> None:
    archive = pack(tmp_path / "other.tar.gz", ten()[0])
    with pytest.raises(SourceError, match="the binary version of cifar100"):
        open_cifar("cifar100-4", archive)
    odd, _ = records([11], 0)
    bad = {**ten()[0], "cifar-10-batches-bin/test_batch.bin": odd}
    with pytest.raises(SourceError, match="classes from 0 to 9"):
        open_cifar("cifar10-2", pack(tmp_path / "odd.tar.gz", bad))


def test_names_that_lead_out_of_the_folder_and_links_do_no_harm(tmp_path: Path) -> None:
    files, images, _ = ten("../../outside/")
    archive = tmp_path / "place" / "cifar-10-binary.tar.gz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        link = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            packed.addfile(member, io.BytesIO(raw))
    assert np.array_equal(open_cifar("cifar10-2", archive).images, images)
    assert [path.name for path in tmp_path.rglob("*")] == ["place", archive.name]


def test_a_file_of_absurd_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar_archives, "MAX_BYTES", 5000)
    archive = pack(tmp_path / "cifar-10-binary.tar.gz", ten()[0])
    with pytest.raises(SourceError, match="at most 5,000 bytes"):
        open_cifar("cifar10-2", archive)
