"""CIFAR10-2 and CIFAR100-4 from small files of the right form."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.errors import SourceError, UnknownName
from samekind.sources.sets.cifar import class_maps, open_cifar


def binary(path: Path, head: list[int], images: np.ndarray) -> None:
    rows = [np.concatenate([np.array(head[:-1], np.uint8), [label], image.reshape(-1)]) for label, image in images]  # fmt: skip
    np.concatenate(rows).astype(np.uint8).tofile(path)


def pictures(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 3, 32, 32)).astype(np.uint8)


def test_the_maps_have_the_published_sizes() -> None:
    sizes = {
        ("cifar10-2", "default"): [4, 6], ("cifar10-2", "personalized"): [4, 6],
        ("cifar100-4", "default"): [24, 29, 24, 23], ("cifar100-4", "personalized"): [25, 24, 21, 30],
    }  # fmt: skip
    for (name, orientation), expected in sizes.items():
        assert np.bincount(class_maps(name)["orientations"][orientation]).tolist() == expected
    with pytest.raises(UnknownName):
        class_maps("cifar10-3")


def test_the_ten_classes_and_the_twenty_coarse_ones_are_whole() -> None:
    assert class_maps("cifar10")["orientations"]["default"] == list(range(10))
    coarse = class_maps("cifar20")
    of = np.array(coarse["orientations"]["default"])
    assert np.bincount(of).tolist() == [5] * 20 and len(coarse["groups"]["default"]) == 20
    assert coarse["classes"] == class_maps("cifar100-4")["classes"]
    members = {
        name: sorted(np.array(coarse["classes"])[of == k])
        for k, name in enumerate(coarse["groups"]["default"])
    }
    assert members["people"] == ["baby", "boy", "girl", "man", "woman"]
    assert members["trees"] == ["maple_tree", "oak_tree", "palm_tree", "pine_tree", "willow_tree"]
    assert members["fish"] == ["aquarium_fish", "flatfish", "ray", "shark", "trout"]


def test_both_parts_make_one_pile_of_ten_classes(tmp_path: Path) -> None:
    images = pictures(20, 3)
    for batch in range(1, 6):
        some = range(2 * batch - 2, 2 * batch)
        binary(tmp_path / f"data_batch_{batch}.bin", [0], [(i, images[i]) for i in some])  # type: ignore[arg-type]
    rest = [(i - 10, images[i]) for i in range(10, 20)]
    binary(tmp_path / "test_batch.bin", [0], rest)  # type: ignore[arg-type]
    found = open_cifar("cifar10", tmp_path)
    pile, items, truth = found.whole()
    assert found.n_groups == 10 and np.array_equal(pile, images)
    assert truth.tolist() == [*range(10), *range(10)] and len(items) == 20
    assert len({item.id for item in items}) == 20


def test_binary_archives_are_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    images = pictures(11, 0)
    for batch in range(1, 6):
        binary(
            folder / f"data_batch_{batch}.bin",
            [0],
            [(2 * batch - 2 + i, images[2 * batch - 2 + i]) for i in range(2)],
        )  # type: ignore[arg-type]
    binary(folder / "test_batch.bin", [0], [(1, images[10])])  # type: ignore[arg-type]
    found = open_cifar("cifar10-2", tmp_path)
    assert np.array_equal(found.images, images[:10]) and found.n_groups == 2
    truth, test_truth = found.labelled.truth("personalized")
    assert truth.tolist() == [0, 1, 0, 1, 1, 1, 0, 1, 0, 1] and test_truth is not None
    assert test_truth.tolist() == [1]
    item = found.labelled.collection[3]
    assert np.array_equal(np.asarray(item.load()).transpose(2, 0, 1), images[3])


def test_parquet_files_are_decoded_once_and_kept_beside_them(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    images = pictures(6, 1)
    cells = []
    for image in images:
        buffer = io.BytesIO()
        Image.fromarray(image.transpose(1, 2, 0)).save(buffer, "WEBP", lossless=True)
        cells.append(buffer.getvalue())
    for part, rows in (("train-0", slice(0, 2)), ("train-1", slice(2, 4)), ("test", slice(4, 6))):
        table = {"image": pa.array(cells[rows], pa.binary()), "fine_label": [0, 99]}
        pq.write_table(pa.table(table), tmp_path / f"cifar100-{part}.parquet")
    found = open_cifar("cifar100-4", tmp_path)
    assert np.array_equal(found.images, images[:4]), "lossless, in the order of the files"
    assert sorted(file.name for file in tmp_path.glob("*.npy")) == [
        "cifar100-test-images.npy", "cifar100-test-labels.npy",
        "cifar100-train-images.npy", "cifar100-train-labels.npy",
    ]  # fmt: skip
    again = open_cifar("cifar100-4", tmp_path)
    assert np.array_equal(again.held_out_images, images[4:])
    assert again.labelled.truth("default")[0].tolist() == [0, 0, 0, 0]


def test_what_is_missing_or_a_pickle_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="--data or SAMEKIND_DATA"):
        open_cifar("cifar10-2", tmp_path)
    (tmp_path / "cifar-10-batches-py").mkdir()
    with pytest.raises(SourceError, match="pickle"):
        open_cifar("cifar10-2", tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"short")
    with pytest.raises(SourceError, match="cut off"):
        open_cifar("cifar10-2", tmp_path)
