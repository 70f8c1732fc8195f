"""Images to learn from and to test on: glyphs, 80 classes of CIFAR-100, and 20 that stay unseen.

    python -m benchmarks.ncp.image_data glyphs --out glyphs.npz
    python -m benchmarks.ncp.image_data cifar100 --data FOLDER --each 150 --out cifar80.npz
    python -m benchmarks.ncp.image_data vectors --data FOLDER --each 250 --out vectors80.npz

FOLDER holds cifar100-test.parquet and cifar100-train-0.parquet (columns image and fine_label). The
unseen classes are drawn once, by a seed; no file that is written for training holds any image of
them. `vectors` are those of a frozen network (efficientnet-lite0), which takes minutes, along the
256 principal axes of the 80 classes.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ncp.glyphs import draw_glyphs, installed_fonts

N_UNSEEN = 20
FEATURES = "efficientnet-lite0-features"
AXES = 256
CLEARED_BITS = 0xFC
"""The two lowest bits of training images are dropped: they are noise, and double the file."""
BATCH = 64


def unseen_classes() -> NDArray[np.int64]:
    """The classes of CIFAR-100 that no network is trained on."""
    return np.sort(np.random.default_rng(18).permutation(100)[:N_UNSEEN])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("glyphs", "cifar100", "vectors"))
    parser.add_argument("--data", default=".", help="folder with the files of CIFAR-100")
    parser.add_argument("--each", type=int, default=150, help="images of each class")
    parser.add_argument("--out", required=True)
    wanted = parser.parse_args()
    if wanted.what == "glyphs":
        images, codes = draw_glyphs(installed_fonts())
        np.savez_compressed(wanted.out, images=images, labels=codes)
        return
    images, labels = cifar100(Path(wanted.data), wanted.each, unseen=False)
    if wanted.what == "cifar100":
        np.savez_compressed(wanted.out, images=images & np.uint8(CLEARED_BITS), labels=labels)
        return
    save_vectors(wanted.out, frozen_vectors(images), labels)


def cifar100(folder: Path, each: int, *, unseen: bool) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Images (M, 32, 32, 3) and labels: the first `each` of every class of one part.

    The test images come first; those of the unseen classes are only test images.
    """
    images, labels, count = [], [], np.zeros(100, dtype=int)
    wanted = np.isin(np.arange(100), unseen_classes()) == unseen
    names = ("cifar100-test",) if unseen else ("cifar100-test", "cifar100-train-0")
    for image, label in (row for name in names for row in encoded_rows(folder / f"{name}.parquet")):
        if wanted[label] and count[label] < each:
            count[label] += 1
            images.append(read(image))
            labels.append(label)
    return np.stack(images), np.array(labels)


def encoded_rows(path: Path, label: str = "fine_label") -> Iterator[tuple[bytes, int]]:
    """Encoded images and their labels."""
    from pyarrow.parquet import ParquetFile

    for part in ParquetFile(path).iter_batches(
        batch_size=1000, columns=["image", label], use_threads=False
    ):
        yield from zip(*(column.to_pylist() for column in part.columns), strict=True)


def read(image: bytes, mode: str = "RGB") -> NDArray[np.uint8]:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(image)).convert(mode))


def frozen_vectors(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(M, 1280) the mean of the last layer of a frozen network."""
    from PIL import Image

    from samekind.encoders.frozen.efficientnet import FEATURES as WIDTH
    from samekind.encoders.frozen.efficientnet import LITE0, open_network

    network, size, found = open_network(LITE0), (LITE0.size, LITE0.size), []
    for start in range(0, len(images), BATCH):
        some = (Image.fromarray(one) for one in images[start : start + BATCH])
        large = [np.asarray(one.resize(size, Image.Resampling.BICUBIC)) for one in some]
        found.append(network(np.stack(large))[:, :WIDTH])
    return np.concatenate(found)


def save_vectors(path: str, vectors: NDArray[Any], labels: NDArray[Any]) -> None:
    """Write vectors of unit length along their principal axes, and what takes others there."""
    rows = vectors.astype(np.float32)
    mean = rows.mean(0)
    rows = rows - mean
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :AXES]
    np.savez(
        path, vectors=(rows @ axes).astype(np.float16), labels=labels, mean=mean,
        axes=axes.astype(np.float16), features=np.array(FEATURES),
    )  # fmt: skip


if __name__ == "__main__":
    main()
