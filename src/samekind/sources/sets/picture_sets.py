"""Sets of pictures in the user's files: CIFAR, cards, fruits, faces, coloured digits.

Nothing is downloaded. ``docs/how-to/benchmark-sets.md`` says where to get the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from samekind.errors import SourceError
from samekind.sources.sets.checksums import check_file
from samekind.sources.sets.cifar import Bytes, Ints, class_maps, open_cifar
from samekind.sources.sets.labelled import LabelledSet, label_texts
from samekind.sources.sets.locations import data_folder, missing


@dataclass(frozen=True)
class PictureFile:
    """One Parquet file with pictures: its name, its SHA-256, and the column of each orientation."""

    name: str
    sha256: str
    columns: Mapping[str, str]


FILES = {
    "cards": PictureFile(
        "cards.parquet",
        "e9d07aa7ce8abe77e1ffb677bde26f2ada09ff771a5131d2c41f6ccf96d07f10",
        {"rank": "rank_name", "suit": "suit_name", "colour": "color_name"},
    ),
    "fruits": PictureFile(
        "fruits.parquet",
        "9ee308f1d8367fdfd8ee23db52178af690ecf4e3b7f0706db4fbfa9d3ae7ac92",
        {"species": "species_name", "colour": "color_name"},
    ),
    "faces": PictureFile(
        "cmuface.parquet",
        "29083f3f67de7f46159e587afb853e367d7086686dd5023d3366faa7b4e5eac3",
        {name: f"{name}_name" for name in ("identity", "pose", "eyes", "expression")},
    ),
    "colored-digits": PictureFile(
        "colored-mnist.parquet",
        "51b1c764fb43e1d686c556c150a2423ea89fb2c85e73dea4aa53e99ff1044f5a",
        {"digit": "digit_name", "colour": "color_name", "background": "background_name"},
    ),
}
"""The known files. Nothing is held out: a person sorts the whole folder."""
CIFAR_SUMS = {
    "cifar10": (
        "870c6fc77df2f21f7727852778cb5aad28f72837a7210f04bcc3e826de5cf63d",
        "7bb57daaae1f43b8733692a201fd516a6d1c89233ba8b198a9c0c6906a2281aa",
    ),
    "cifar100": (
        "dc60b251f13886b8ac418bc06e988e1118c07d07f7b794dd254d8d6fa0949162",
        "796ea712d93465f002f315ed6b4556ad895dc6d48d59960e9e311d2775d7640f",
    ),
}
"""The :func:`pictures_sum` of the training and of the test part."""


def cards(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """Photographs of 1,590 playing cards: rank (14), suit (5), colour (3). From cards.parquet.

    No licence is stated: do not redistribute it.
    """
    return _open("cards", data)


def fruits(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """1,197 fruits on white from Fruits-360: species (6), colour (4). From fruits.parquet.

    MIT licence. Species and colour were assigned by hand from the names of the classes.
    """
    return _open("fruits", data)


def faces(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """624 faces of CMU: identity (20), pose (4), eyes (2), expression (4). From cmuface.parquet.

    CMU Face Images (T. Mitchell, UCI repository), with attribution. Names are pseudonyms.
    """
    return _open("faces", data)


def colored_digits(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """10,000 coloured MNIST digits: digit (10), colour (7), background (3), independent.

    From colored-mnist.parquet; ink and paper were drawn independently of the digit.
    """
    return _open("colored-digits", data)


def cifar10(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """CIFAR-10, 50,000 + 10,000 pictures in their ten classes."""
    return _open_cifar("cifar10", data)


def cifar10_2(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """CIFAR-10 in PCL's two groups: artifacts or animals; on land or not."""
    return _open_cifar("cifar10-2", data)


def cifar20(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """CIFAR-100, 50,000 + 10,000 pictures in their twenty coarse classes."""
    return _open_cifar("cifar20", data)


def cifar100_4(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """CIFAR-100 in four groups, by the two maps published with PCL."""
    return _open_cifar("cifar100-4", data)


def pictures_sum(images: Bytes, classes: Ints) -> str:
    """The SHA-256 of pictures with their classes, independent of their order.

    Archives and Parquet files have the same pictures in different orders. Lossy copies are other
    pictures.
    """
    digests = sorted(
        hashlib.blake2b(image.tobytes() + bytes([kind]), digest_size=16).digest()
        for image, kind in zip(images, classes.tolist(), strict=True)
    )
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _open(name: str, data: str | Path | None) -> LabelledSet:
    """Open a known Parquet file. Ids are row numbers, and the cache is under the set's name."""
    from samekind.sources.files.parquet import open_labelled_pictures

    file = FILES[name]
    path = data_folder(data) / file.name
    if not path.is_file():
        raise missing(name, f"the file {file.name}", data)
    check_file(path, file.sha256)
    collection, found = open_labelled_pictures(path, tuple(file.columns.values()))
    kinds = {orientation: found[column] for orientation, column in file.columns.items()}
    return LabelledSet(name, replace(collection, name=name, location=name), kinds)


def _open_cifar(name: str, data: str | Path | None) -> LabelledSet:
    pictures = open_cifar(name, data_folder(data))
    maps = class_maps(name)
    number = {kind: place for place, kind in enumerate(maps["classes"])}
    known = pictures.labelled
    parts = (
        ("train", pictures.images, known.orientations["class"]),
        ("test", pictures.held_out_images, known.held_out_orientations["class"]),
    )
    for (part, images, kinds), expected in zip(parts, CIFAR_SUMS[maps["pictures"]], strict=True):
        codes = np.asarray([number[kind] for kind in label_texts(kinds)], dtype=np.intp)
        found = pictures_sum(images, codes)
        if found != expected:
            raise SourceError(
                f"The {part} part of {maps['pictures']} in {str(data_folder(data))!r} has other "
                f"pictures or classes than the published one: expected {expected}, got {found}. "
                "Get the lossless files again (JPEG copies differ), and remove the .npy files that "
                "were written beside the old ones."
            )
    return known
