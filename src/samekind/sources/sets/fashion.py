"""Fashion-MNIST (Xiao, Rasul and Vollgraf 2017, MIT) with three orientations.

The four files come from Debian's package ``dataset-fashion-mnist`` or from a user's folder, packed
(.gz) or not. The format is idx: a magic number (type and number of axes), the length of each axis,
then the bytes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError
from samekind.items import Collection
from samekind.sources.sets.checksums import check_file, unpack
from samekind.sources.sets.cifar import PixelItem
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.locations import data_folder, missing

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
SUMS = {
    "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
"""The SHA-256 of each unpacked file: packing the same bytes again changes the packed file."""
PARTS = {"train": "train", "test": "t10k"}
KINDS = {
    "class": (
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
        "ankle boot",
    ),
    "worn-on": (
        "upper body", "legs", "upper body", "whole body", "upper body", "feet", "upper body",
        "feet", "carried", "feet",
    ),
    "season": (
        "summer", "all year", "winter", "summer", "winter", "summer", "all year", "all year",
        "all year", "winter",
    ),
}  # fmt: skip
"""For each orientation the kind of each of the ten classes.

``worn-on`` follows the shapes. ``season`` cuts across them: summer shirts and summer shoes belong
together.
"""


def fashion_mnist(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """Fashion-MNIST, 60,000 + 10,000 grey pictures: class (10), where it is worn (5), season (3).

    Always the same, whatever the seed. MIT licence.
    """
    folder = _folder(data)
    collections, columns = [], []
    for part, prefix in PARTS.items():
        pictures = _read(folder, f"{prefix}-images-idx3-ubyte")
        labels = _read(folder, f"{prefix}-labels-idx1-ubyte")
        collections.append(_items(part, pictures))
        columns.append({name: np.asarray(kinds)[labels] for name, kinds in KINDS.items()})
    return LabelledSet("fashion-mnist", collections[0], columns[0], collections[1], columns[1])


def read_idx(data: bytes, where: str) -> NDArray[np.uint8]:
    """The array of an idx file of bytes; `where` names the file in errors.

    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), "labels").tolist()
    [7, 9]
    """
    if len(data) < 4 or data[:3] != b"\0\0\x08" or not data[3]:
        raise SourceError(
            f"Expected an idx file of bytes, which begins with 00 00 08, but {where!r} begins with "
            f"{data[:4].hex(' ')}. Get the file again."
        )
    start = 4 + 4 * data[3]
    if len(data) < start:
        raise SourceError(f"{where!r} is cut off within its header. Get the file again.")
    shape = tuple(int(n) for n in np.frombuffer(data[4:start], dtype=">u4"))
    n_bytes = math.prod(shape)
    if len(data) - start != n_bytes:
        raise SourceError(
            f"Expected {n_bytes:,} bytes in {where!r} by its header, got {len(data) - start:,}. "
            "Get the file again."
        )
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)


def _folder(data: str | Path | None) -> Path:
    """The folder with the files: the user's, or else Debian's."""
    for folder in (data_folder(data), data_folder(data) / "fashion-mnist", DEBIAN):
        if all(_find(folder, name) for name in SUMS):
            return folder
    raise missing(
        "fashion-mnist",
        " and ".join(f"{name}.gz" for name in list(SUMS)[:2]) + " (and the two of t10k)",
        data,
        "On Debian and Ubuntu: apt install dataset-fashion-mnist.",
    )


def _find(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / f"{name}.gz", folder / name) if file.is_file()), None)


def _read(folder: Path, name: str) -> NDArray[np.uint8]:
    path = _find(folder, name)
    assert path is not None, "looked for by _folder"
    check_file(path, SUMS[name], packed=path.suffix == ".gz")
    data = unpack(path) if path.suffix == ".gz" else path.read_bytes()
    return read_idx(data, str(path))


def _items(part: str, pictures: NDArray[np.uint8]) -> Collection:
    """Grey pictures as items with three equal channels, shared in memory."""
    items: list[Any] = [
        PixelItem(f"{part}-{number:05d}", np.broadcast_to(gray, (3, *gray.shape)))
        for number, gray in enumerate(pictures)
    ]
    return Collection("fashion-mnist", items, (), "fashion-mnist")
