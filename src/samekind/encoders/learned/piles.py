"""TrainingPile: the pictures that a training sees, decoded once and shared by all its processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import one_at_a_time
from samekind.encoders.encoding import encode
from samekind.encoders.feature_cache import default_cache
from samekind.encoders.learned.weights import place_of
from samekind.encoders.pixels import Images
from samekind.errors import SourceError
from samekind.items import Collection, Skipped
from samekind.protocols import Progress

LOOKED_AT = 16
"""Pictures whose size is looked at."""


class Pictures(NamedTuple):
    """Decoded pictures (n, 3, size, size), one byte per colour, and those that cannot be read."""

    pixels: NDArray[np.uint8]
    skipped: tuple[Skipped, ...]


class TrainingPile(Protocol):
    """Pictures to learn from, wherever they are.

    ``place`` and ``fingerprint`` identify what a network has learnt from; ``skipped`` are files
    that were found unusable when it was opened.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def skipped(self) -> tuple[Skipped, ...]: ...
    def __len__(self) -> int: ...

    def sides(self) -> Iterator[int]:
        """The shorter sides of a few pictures, in pixels."""
        ...

    def pictures(self, size: int, progress: Progress | None = None) -> Pictures:
        """All pictures at one size; many of them are in a file that is mapped into memory."""
        ...


@dataclass(frozen=True)
class CollectionPile:
    """The pictures of a collection, through the cache of features."""

    collection: Collection

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self.collection.name

    @property
    def kind(self) -> str:
        """The kind of its items."""
        return self.collection.kind

    @property
    def place(self) -> str:
        """Where it was read from."""
        return place_of(self.collection)

    @property
    def fingerprint(self) -> str:
        """Changes with every picture."""
        return self.collection.fingerprint

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files that cannot be used."""
        return self.collection.skipped

    def __len__(self) -> int:
        return len(self.collection)

    def sides(self) -> Iterator[int]:
        step = max(1, len(self.collection) // LOOKED_AT)
        for item in self.collection[::step]:
            try:
                yield min(item.load().size)
            except (SourceError, OSError):  # told when all pictures are read
                continue

    def pictures(self, size: int, progress: Progress | None = None) -> Pictures:
        cache = default_cache()
        # Of several processes of a training the first one decodes, and the others find it done.
        with one_at_a_time(cache / "vectors" / f"images-{size}.lock"):
            images = Images(size=size)
            read = encode(self.collection, images, cache=cache / "vectors", progress=progress)
        pixels: Any = read.X.reshape(-1, 3, size, size)
        return Pictures(pixels, read.failed)


def pile_of(pictures: Collection | TrainingPile) -> TrainingPile:
    """Return a collection as a pile to learn from; a pile stays as it is."""
    return CollectionPile(pictures) if isinstance(pictures, Collection) else pictures
