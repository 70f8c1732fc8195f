"""Frozen sets: ready vectors that ship with the package, with their labels beside them.

Each file in ``frozen/`` has int8 vectors (``q`` times ``scale``), the number of each item in the
original set, its part (0 train, 1 test) and label columns; no pickles and no pictures. They were
made by ``benchmarks/sets/freeze.py``. Two families must not be mixed in one table:

* CIFAR: our own SimCLR network, trained from scratch without labels on all 60,000 pictures
  (including the test pictures, like OCC and IDC). Comparable with PCL, OCC and IDC.
* Fashion, fruits, faces: EfficientNet-Lite2, trained on the labels of ImageNet, and colour
  histograms. Not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.sources.files.columns import SPLIT
from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets.checksums import check_file
from samekind.sources.sets.cifar import class_maps
from samekind.sources.sets.fashion import KINDS
from samekind.sources.sets.labelled import LabelledSet, split_labelled

Labels = Mapping[str, NDArray[Any]]
SUMS = {
    "cifar10-frozen": "af6dd4e32c279e9c966322a5993f88677da59aa3e5fdb9bbd2d586e835cc8427",
    "fashion-frozen": "c6b76c06a1fba335e9a6132cc20adba9a2e2ef27a391697fa4ba25fb58437166",
    "fruits-frozen": "bde320aed31c6b4a2746eabf91935778979a053cec0ce399b891f4ada46d2ed5",
    "faces-frozen": "c2e679555444d7df71861112e8de0c1874e93e03ef45b5f26ce13626a12e819e",
    "cifar20-frozen": "793df8739b761150c0fc0710cb0e4da705305d5186fdfaca7aea1f17a5c012c4",
}
"""The SHA-256 of each file."""
PARTS = ("train", "test")


def cifar10_frozen(seed: int = 0) -> LabelledSet:
    """CIFAR-10 as 6,000 + 2,000 ready vectors: ten classes, and the two maps of CIFAR10-2.

    From our own SimCLR network (ResNet-18, 420 epochs, no labels), 64 axes. The pictures
    (Krizhevsky 2009, no licence stated) are not included. Always the same, whatever the seed.

    >>> known = cifar10_frozen()
    >>> known.collection.matrix.shape, sorted(known.orientations)
    ((6000, 64), ['class', 'default', 'personalized'])
    """
    return _with_maps(_open("cifar10-frozen"), "class", "cifar10-2")


def cifar20_frozen(seed: int = 0) -> LabelledSet:
    """CIFAR-100 as 6,000 + 2,000 ready vectors: 20 coarse, 100 fine classes, maps of CIFAR100-4.

    From our own SimCLR network (ResNet-18, 270 epochs, no labels), 64 axes. The pictures
    (Krizhevsky 2009, no licence stated) are not included. Always the same, whatever the seed.
    """
    return _with_maps(_open("cifar20-frozen"), "fine", "cifar100-4")


def fashion_frozen(seed: int = 0) -> LabelledSet:
    """Fashion-MNIST as 3,000 + 1,000 ready vectors: class (10), where it is worn (5), season (3).

    From EfficientNet-Lite2 as the package uses it, which was trained on the labels of ImageNet:
    not comparable with PCL, OCC or IDC. Pictures: Xiao, Rasul and Vollgraf 2017, MIT.
    """
    return _regrouped(_open("fashion-frozen"), _by_class)


def fruits_frozen(seed: int = 0) -> LabelledSet:
    """Fruits-360 as 1,197 ready vectors: species (6), colour (4).

    From EfficientNet-Lite2 and colours as the package uses them; the network was trained on the
    labels of ImageNet: not comparable with PCL, OCC or IDC. Pictures: Muresan and Oltean, MIT.
    """
    return _open("fruits-frozen")


def faces_frozen(seed: int = 0) -> LabelledSet:
    """624 faces of CMU as ready vectors: identity (20), pose (4), eyes (2), expression (4).

    From EfficientNet-Lite2, which was trained on the labels of ImageNet: not comparable with PCL,
    OCC or IDC. Pictures: CMU Face Images, T. Mitchell, UCI repository (not included).
    """
    return _open("faces-frozen")


def _open(name: str) -> LabelledSet:
    """Read the vectors and label columns of a file, after checking its checksum."""
    with as_file(files("samekind.sources.sets").joinpath("data", "frozen", f"{name}.npz")) as path:
        check_file(path, SUMS[name])
        with np.load(path, allow_pickle=False) as kept:
            X = kept["q"].astype(np.float32) * kept["scale"]
            numbers, split = kept["number"], kept["split"]
            columns = {
                column.removesuffix("_names"): kept[column][kept[column.removesuffix("_names")]]
                for column in kept.files
                if column.endswith("_names")
            }
    if split.any():
        keys = [f"{PARTS[part]}-{n:05d}" for part, n in zip(split, numbers, strict=True)]
    else:
        keys = [f"row-{n}" for n in numbers]  # the ids of the items in the Parquet file
    collection = RowCollection(name, Rows(X, keys=keys), location=name, ready=True)
    return split_labelled(collection, {**columns, SPLIT: split})


def _with_maps(known: LabelledSet, column: str, name: str) -> LabelledSet:
    """The same set with the orientations that a set of pictures derives from its classes."""
    maps = class_maps(name)
    groups = {
        orientation: dict(
            zip(maps["classes"], np.asarray(maps["groups"][orientation])[of], strict=True)
        )
        for orientation, of in maps["orientations"].items()
    }
    return _regrouped(known, lambda columns: _looked_up(columns[column], groups))


def _by_class(columns: Labels) -> Labels:
    groups = {
        orientation: dict(zip(KINDS["class"], kinds, strict=True))
        for orientation, kinds in KINDS.items()
    }
    return _looked_up(columns["class"], groups)


def _looked_up(kinds: NDArray[Any], groups: Mapping[str, Mapping[str, str]]) -> Labels:
    return {
        orientation: np.asarray([group[kind] for kind in kinds.tolist()])
        for orientation, group in groups.items()
    }


def _regrouped(known: LabelledSet, more: Callable[[Labels], Labels]) -> LabelledSet:
    """The same items with further orientations, derived from their labels."""
    inside, outside = (
        dict(columns) | dict(more(columns))
        for columns in (known.orientations, known.held_out_orientations)
    )
    return LabelledSet(known.name, known.collection, inside, known.held_out, outside)
