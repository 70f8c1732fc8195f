"""Bursts: near-duplicate pictures collapse into one item, which is answered once.

Only likely pairs are compared, so that opening stays quick: files of the same length, pictures
taken within seconds of each other, and names that differ by their suffix or a copy's number.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from samekind.errors import SourceError
from samekind.items import Collection, Item
from samekind.sources.files.images import ImageItem, Picture
from samekind.sources.files.picture_formats import RAW_SUFFIXES

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SECONDS = 3.0
"""Between two pictures of a burst."""
MAX_BITS = 10
"""Of the 64 bits by which two pictures of a burst may differ; unrelated ones differ by about 32."""
MAX_PICTURES = 5000
"""In larger piles near-duplicates are not looked for."""
MAX_RUN = 60
"""Pictures that one burst may have."""
_COPY = re.compile(r"(?:[ _-]*(?:\(\d+\)|copy(?: \d+)?|edited|bearbeitet))+$", re.IGNORECASE)


class Burst(Picture):
    """Several near-duplicates, shown by the first one, whose id and content it has."""

    def __init__(self, members: Sequence[ImageItem]) -> None:
        self.members: tuple[ImageItem, ...] = tuple(members)
        self.id = self.members[0].id

    @property
    def stamp(self) -> str:
        return self.members[0].stamp

    @property
    def path(self) -> str:
        """The file of the first one."""
        return self.members[0].path

    def open(self) -> Image:
        return self.members[0].open()

    def facts(self) -> dict[str, str]:
        return {**super().facts(), "Similar": f"{len(self.members)} pictures, sorted together"}


def collapse(collection: Collection) -> Collection:
    """Put near-duplicate pictures together; everything else stays as it is."""
    items = [item for item in collection if isinstance(item, ImageItem)]
    if len(items) != len(collection) or not 2 <= len(items) <= MAX_PICTURES:
        return collection
    found = _Finder(items).groups()
    if not found:
        return collection
    burst_of = {members[0]: Burst([items[k] for k in members]) for members in found}
    rest = {k for members in found for k in members[1:]}
    kept: list[Item] = [burst_of.get(k, item) for k, item in enumerate(items) if k not in rest]
    return replace(collection, items=kept) if len(kept) >= 2 else collection


class _Finder:
    def __init__(self, items: Sequence[ImageItem]) -> None:
        self.items = items
        self._hashes: dict[int, int | None] = {}

    def groups(self) -> list[list[int]]:
        """Positions of pictures that belong together, the one to show first."""
        home = list(range(len(self.items)))

        def find(k: int) -> int:
            while home[k] != k:
                k = home[k]
            return k

        sizes: dict[int, int] = defaultdict(lambda: 1)
        for a, b, same in self._pairs():
            first, other = find(a), find(b)
            if first == other or sizes[first] + sizes[other] > MAX_RUN:
                continue
            if same or self._alike(first, b):  # with the first one, so that a burst cannot drift
                home[other] = first
                sizes[first] += sizes[other]
        together: dict[int, list[int]] = defaultdict(list)
        for k in range(len(home)):
            together[find(k)].append(k)
        return [self._ordered(members) for members in together.values() if len(members) > 1]

    def _ordered(self, members: list[int]) -> list[int]:
        """Raw files last: their previews may be small."""
        return sorted(members, key=lambda k: (self._is_raw(k), k))

    def _is_raw(self, k: int) -> bool:
        return self.items[k].path.lower().endswith(RAW_SUFFIXES)

    def _pairs(self) -> Iterator[tuple[int, int, bool]]:
        """Pairs that may be near-duplicates, and whether their files are equal."""
        for members in self._by(self._length).values():
            for digest in _grouped(members, self._digest).values():
                yield from ((digest[0], k, True) for k in digest[1:])
        for members in self._by(self._stem).values():
            yield from ((members[0], k, False) for k in members[1:])
        times = sorted((taken, k) for k, taken in enumerate(self._times) if taken is not None)
        for (earlier, a), (later, b) in pairwise(times):
            if later - earlier <= MAX_SECONDS:
                yield min(a, b), max(a, b), False

    def _by(self, key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
        return _grouped(range(len(self.items)), key)

    def _length(self, k: int) -> str:
        return self.items[k].stamp.partition("-")[0]

    def _stem(self, k: int) -> str:
        folder, name = os.path.split(self.items[k].id)
        return os.path.join(folder, _COPY.sub("", os.path.splitext(name)[0])).lower()

    def _digest(self, k: int) -> str:
        try:
            with self.items[k].open_file() as file:
                return hashlib.file_digest(file, "blake2b").hexdigest()
        except OSError:
            return f"unreadable {k}"

    @cached_property
    def _times(self) -> list[float | None]:
        """Seconds at which each picture was taken."""
        found = (item.capture().taken for item in self.items)
        return [None if taken is None else taken.timestamp() for taken in found]

    def _alike(self, a: int, b: int) -> bool:
        first, second = self._hash(a), self._hash(b)
        if first is None or second is None:
            return False
        return (first ^ second).bit_count() <= MAX_BITS

    def _hash(self, k: int) -> int | None:
        if k not in self._hashes:
            try:
                self._hashes[k] = difference_hash(self.items[k].load(size=72))
            except (SourceError, OSError):
                self._hashes[k] = None
        return self._hashes[k]


def _grouped(members: Sequence[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    """Members with the same key, where there are several."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for k in members:
        found[key(k)].append(k)
    return {name: there for name, there in found.items() if len(there) > 1}


def difference_hash(image: Image) -> int | None:
    """64 bits: whether each of 8 x 8 places is lighter than its neighbour to the right.

    None for a picture without any structure: it would be alike to all others.
    """
    from PIL import Image as Images

    grey = np.asarray(image.convert("L").resize((9, 8), Images.Resampling.BOX), dtype=np.int16)
    if np.ptp(grey) < 8:
        return None
    bits = (grey[:, :-1] > grey[:, 1:]).ravel()
    return int("".join("1" if bit else "0" for bit in bits), 2)
