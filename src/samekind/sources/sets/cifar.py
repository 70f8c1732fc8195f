"""CIFAR-10 and CIFAR-100 with several orientations, from the user's files.

Nothing is downloaded. The folder (``--data``, or SAMEKIND_DATA) has the lossless pictures as
Parquet files (``cifar10-train-0.parquet``, ..., ``cifar10-test.parquet``, with columns ``image``
and ``label`` or ``fine_label``) or the usual binary archives, unpacked or not. JPEG copies of these
pictures lower the results considerably.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.compute import n_threads
from samekind.errors import SourceError, UnknownName
from samekind.items import Collection
from samekind.sources.files.images import Picture
from samekind.sources.sets.cifar_archives import Part, read_archive
from samekind.sources.sets.labelled import LabelledSet

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]
Ints = NDArray[np.intp]
CIFAR_SETS = ("cifar10-2", "cifar100-4", "cifar10", "cifar20")
"""PCL's two sets; CIFAR-10 in its ten classes; CIFAR-100 in its twenty coarse ones."""


class PixelItem(Picture):
    """One small picture in memory, as an array (3, height, width)."""

    def __init__(self, id: str, pixels: Bytes) -> None:
        self.id, self._pixels = id, pixels

    @property
    def stamp(self) -> str:
        return hashlib.blake2b(self._pixels.tobytes(), digest_size=8).hexdigest()

    def open(self) -> Image:
        from PIL import Image

        return Image.fromarray(np.ascontiguousarray(self._pixels.transpose(1, 2, 0)))


@dataclass(frozen=True, eq=False)
class PictureSet:
    """A labelled set that is also available as arrays, for methods that train on pictures.

    Parameters
    ----------
    images, held_out_images : uint8 (n, 3, 32, 32), in the order of the items.
    labelled : the same pictures as items, with their orientations.
    n_groups : groups of each orientation.
    """

    images: Bytes
    held_out_images: Bytes
    labelled: LabelledSet
    n_groups: int

    def whole(self, orientation: str = "default") -> tuple[Bytes, Collection, Ints]:
        """Both parts together, as OCC and IDC use them: pictures, items, true groups."""
        images = np.concatenate([self.images, self.held_out_images])
        items = [*self.labelled.collection, *(self.labelled.held_out or ())]
        truths = [truth for truth in self.labelled.truth(orientation) if truth is not None]
        name = self.labelled.name
        return images, Collection(name, items, (), name), np.concatenate(truths)


def open_cifar(name: str, folder: str | Path | None = None) -> PictureSet:
    """Open CIFAR-10 or CIFAR-100, with the orientations of a set and the class of each picture.

    Parameters
    ----------
    name : ``cifar10-2`` and ``cifar100-4`` have the orientations ``default`` and
        ``personalized``; ``cifar10`` (ten classes) and ``cifar20`` (the twenty coarse classes of
        CIFAR-100) have only ``default``.
    folder : with the files, or an archive; None: the folder given by SAMEKIND_DATA.

    Raises
    ------
    SourceError
        If the files are missing; names the expected ones.
    """
    maps = class_maps(name)
    place = Path(folder or os.environ.get("SAMEKIND_DATA", "."))
    base = str(maps["pictures"])
    train, test = (_read(place, base, part) for part in ("train", "test"))
    classes = len(maps["classes"])
    for part, (images, labels) in (("train", train), ("test", test)):
        if not len(images) or labels.min() < 0 or labels.max() >= classes:
            raise SourceError(
                f"Expected pictures with classes from 0 to {classes - 1} in the {part} part of "
                f"{name} in {str(place)!r}. Get the files again."
            )
    parts = [_items(name, part, images) for part, (images, _) in (("", train), ("test-", test))]
    labelled = LabelledSet(
        name, parts[0], _mapped(train[1], maps), parts[1], _mapped(test[1], maps)
    )
    return PictureSet(train[0], test[0], labelled, len(set(maps["orientations"]["default"])))


def class_maps(name: str) -> dict[str, Any]:
    """The classes of a set, and for each orientation the group of each class.

    >>> class_maps("cifar10-2")["orientations"]["personalized"]
    [0, 1, 0, 1, 1, 1, 0, 1, 0, 1]
    """
    if name not in CIFAR_SETS:
        raise UnknownName("set of pictures", name, CIFAR_SETS)
    text = (
        files("samekind.sources.sets").joinpath("data", "maps", f"{name}.json").read_text("utf-8")
    )
    maps: dict[str, Any] = json.loads(text)
    return maps


def _mapped(labels: Ints, maps: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    groups = {name: np.asarray(of)[labels] for name, of in maps["orientations"].items()}
    return {**groups, "class": np.asarray(maps["classes"])[labels]}


def _items(name: str, part: str, images: Bytes) -> Collection:
    return Collection(
        name, [PixelItem(f"{part}{i:05d}", pixels) for i, pixels in enumerate(images)], (), name
    )


def _read(folder: Path, base: str, part: str) -> Part:
    """Read one part, from the cache beside the files, from Parquet, or from a binary archive."""
    cached = [folder / f"{base}-{part}-{what}.npy" for what in ("images", "labels")]
    if all(file.exists() for file in cached):
        images, labels = (np.load(file, allow_pickle=False) for file in cached)
        return images, labels.astype(np.intp)
    tables = sorted(folder.glob(f"{base}-{part}*.parquet"))
    if tables:
        found = _from_parquet(tables)
        _cache(cached, found)
        return found
    unpacked = read_archive(folder, base, part)
    if unpacked is not None:
        return unpacked
    raise SourceError(
        f"There is no {part} part of {base} in {str(folder)!r}. Put {base}-{part}*.parquet or "
        f"cifar-{base.removeprefix('cifar')}-binary.tar.gz there, and give the folder with --data "
        "or SAMEKIND_DATA."
    )


def _from_parquet(tables: list[Path]) -> Part:
    from samekind.sources.files.parquet import column_names

    images: list[Any] = []
    labels: list[Any] = []
    for table in tables:
        label = "fine_label" if "fine_label" in column_names(table) else "label"
        cells, found = _cells(table, label)
        with ThreadPoolExecutor(n_threads()) as pool:
            images += list(pool.map(_decoded, cells, chunksize=256))
        labels.append(found)
    return np.stack(images), np.concatenate(labels).astype(np.intp)


def _cells(table: Path, label: str) -> tuple[list[bytes], Any]:
    import pyarrow.parquet as reader

    columns = reader.read_table(table, columns=["image", label])
    return columns["image"].to_pylist(), np.asarray(columns[label].to_pylist())


def _decoded(data: bytes) -> Bytes:
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(data)).convert("RGB"), dtype=np.uint8)
    return pixels.transpose(2, 0, 1)


def _cache(files: list[Path], part: Part) -> None:
    """Store the decoded pictures beside the files, if that is allowed."""
    try:
        arrays: tuple[NDArray[Any], ...] = part
        for file, array in zip(files, arrays, strict=True):
            written = file.with_suffix(f".{os.getpid()}.part")
            with written.open("wb") as stream:
                np.save(stream, array, allow_pickle=False)
            written.replace(file)
    except OSError:
        return  # without a cache it is only slower
