"""How the vectors in src/samekind/sources/frozen were made; prints the SHA-256 of each file.

    python -m benchmarks.sets.freeze cifar10-frozen --kept FOLDER --data FOLDER
    python -m benchmarks.sets.freeze fashion-frozen fruits-frozen faces-frozen --data FOLDER

``--kept`` holds what `recipes/learn.py --vectors` wrote for all 60,000 pictures, train before test
(``c10-longer.npz``, ``c20-long.npz``: ``q``, ``scale``; runs in benchmarks/gpu/learn-*.json).
``--data`` holds the pictures and their labels. Labels are only copied: no choice depends on them.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.encoders import default_encoder, encode, encode_more
from samekind.errors import SourceError
from samekind.sources import LabelledSet, class_maps, label_texts, open_cifar, open_set
from samekind.workspace.locations import cache_folder

FROZEN = Path(__file__).parents[2] / "src" / "samekind" / "sources" / "sets" / "data" / "frozen"
AXES = 64
N_TRAIN, N_TEST = 6000, 2000
LEARNT = {
    "cifar10-frozen": ("c10-longer.npz", "cifar10"),
    "cifar20-frozen": ("c20-long.npz", "cifar20"),
}
PICTURES = {
    "fashion-frozen": ("fashion-mnist", ("class",), 3000, 1000),
    "fruits-frozen": ("fruits", ("species", "colour"), None, None),
    "faces-frozen": ("faces", ("identity", "pose", "eyes", "expression"), None, None),
}
"""For each file the set of pictures, the label columns kept, and how many items of each part."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Freeze the vectors of sets of the benchmark.")
    parser.add_argument("names", nargs="+", choices=[*LEARNT, *PICTURES])
    parser.add_argument("--data", help="folder with the pictures; default: SAMEKIND_DATA")
    parser.add_argument("--kept", type=Path, help="folder with the vectors of our own networks")
    parser.add_argument("--out", type=Path, default=FROZEN, help="default: inside the package")
    wanted = parser.parse_args()
    for name in wanted.names:
        arrays = (
            learnt(name, wanted.kept, wanted.data) if name in LEARNT else seen(name, wanted.data)
        )
        file = wanted.out / f"{name}.npz"
        np.savez_compressed(file, **arrays)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{name}: {file.stat().st_size:,} bytes, {arrays['q'].shape}, {digest}")


def learnt(name: str, kept: Path, data: str | None) -> dict[str, NDArray[Any]]:
    """A fixed part of what our own network gave for all pictures of CIFAR."""
    file, pictures = LEARNT[name]
    with np.load(kept / file, allow_pickle=False) as vectors:
        X = vectors["q"].astype(np.float64) * vectors["scale"]
    pile = open_cifar(pictures, data).labelled
    if pile.held_out is None or len(X) != len(pile.collection) + len(pile.held_out):
        raise SourceError(f"{file} has {len(X)} vectors, which are not those of {pictures}.")
    sizes = (len(pile.collection), len(pile.held_out))
    fine = np.concatenate([pile.orientations["class"], pile.held_out_orientations["class"]])
    number, split = some_of(sizes, N_TRAIN, N_TEST)
    row = number + split * sizes[0]
    columns = {"class": fine[row]}
    if name == "cifar20-frozen":
        maps = class_maps("cifar20")
        group = dict(zip(maps["classes"], maps["orientations"]["default"], strict=True))
        names = np.asarray(maps["groups"]["default"])
        columns = {"fine": fine[row], "coarse": names[[group[kind] for kind in fine[row]]]}
    return packed(X[row], number, split, columns)


def seen(name: str, data: str | None) -> dict[str, NDArray[Any]]:
    """What the default encoder of the package sees in (a fixed part of) a set of pictures."""
    pictures, wanted, n_train, n_test = PICTURES[name]
    known = open_set(pictures, data=data)
    sizes = (len(known.collection), len(known.held_out or ()))
    number, split = some_of(sizes, n_train or sizes[0], n_test or sizes[1])
    inside, outside = number[split == 0], number[split == 1]
    encoder, reason = default_encoder(known.collection.take(inside.tolist()))
    print(f"{name}: {encoder.name} ({reason})")
    encoded = encode(known.collection.take(inside.tolist()), encoder, cache=cache_folder())
    X, failed = encoded.X, encoded.failed
    if known.held_out is not None:
        more = encode_more(encoded, known.held_out.take(outside.tolist()), cache=cache_folder())
        X, failed = np.concatenate([X, more.X]), (*failed, *more.failed)
    if failed:
        raise SourceError(f"{failed[0].id!r} of {pictures} cannot be read: {failed[0].reason}.")
    return packed(X, number, split, kinds_of(known, wanted, inside, outside))


def kinds_of(
    known: LabelledSet,
    columns: tuple[str, ...],
    inside: NDArray[np.intp],
    outside: NDArray[np.intp],
) -> dict[str, NDArray[Any]]:
    """The labels of the items that are kept, train before test."""
    return {
        column: np.concatenate(
            [
                known.orientations[column][inside],
                *([known.held_out_orientations[column][outside]] if len(outside) else []),
            ]
        )
        for column in columns
    }


def some_of(
    sizes: tuple[int, int], n_train: int, n_test: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of the items that are kept, in order, and their part: drawn once, with seed 0."""
    rng = np.random.default_rng(0)
    parts = [
        np.sort(rng.choice(size, n, replace=False))
        for size, n in zip(sizes, (n_train, n_test), strict=True)
    ]
    return np.concatenate(parts), np.repeat([0, 1], [len(part) for part in parts])


def packed(
    X: NDArray[Any], number: NDArray[Any], split: NDArray[Any], columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Unit length, centred and turned to the main axes of the training part, then 8 bits."""
    X = X.astype(np.float64) / np.linalg.norm(X, axis=1, keepdims=True)
    train = X[split == 0]
    mean = train.mean(axis=0)
    axes = np.linalg.svd(train - mean, full_matrices=False)[2][:AXES]
    # The sign of an axis is arbitrary: fix it, so that every machine writes the same file.
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    Z = (X - mean) @ axes.T  # (n, AXES)
    scale = np.float32(np.abs(Z).max() / 127)
    arrays: dict[str, NDArray[Any]] = {
        "q": np.round(Z / scale).clip(-127, 127).astype(np.int8),
        "scale": np.asarray(scale),
        "number": number.astype(np.int32),
        "split": split.astype(np.uint8),
    }
    for column, labels in columns.items():
        names, codes = np.unique(label_texts(labels), return_inverse=True)
        arrays |= {column: codes.astype(np.uint8), f"{column}_names": names}
    return arrays


if __name__ == "__main__":
    main()
