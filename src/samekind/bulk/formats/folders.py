"""Folders of pictures or texts at any depth, on disk or behind a URL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from samekind.bulk.files import Part, is_url, read_parts, walk
from samekind.bulk.readers import Entry, item_of
from samekind.items import Item, Skipped
from samekind.sources import SUFFIXES_OF_KINDS, ImageItem, item_of_bytes


@dataclass
class FolderReader:
    """The files of a folder, one item each; the id is the path within the folder.

    Files of other kinds and hidden ones are left out without a word. Folders that cannot be read
    and links that lead elsewhere are in `left_out` after the listing.
    """

    source: str
    kind: str
    columns: tuple[str, ...] = ()
    ready: bool = False
    run: int = 1
    left_out: list[Skipped] = field(default_factory=list, repr=False, compare=False)

    @property
    def lazy(self) -> bool:
        """Whether files are read only when they are decoded: pictures on disk."""
        return self.kind == "image" and not is_url(self.source)

    def listing(self) -> Iterator[Entry]:
        suffixes = SUFFIXES_OF_KINDS[self.kind]
        self.left_out.clear()
        for file in walk(self.source, self.left_out):
            if file.suffix in suffixes:
                yield Entry(file.id, file.place, file.stamp)

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        if self.lazy:
            root = os.path.realpath(self.source) if os.path.isdir(self.source) else ""
            return [ImageItem(*entry, root) for entry in entries]
        found = read_parts([Part(entry.place) for entry in entries])
        return [
            item_of_content(self.kind, entry, data)
            for entry, data in zip(entries, found, strict=True)
        ]

    def item(self, id: str, place: str) -> Item:
        return item_of(self, Entry(id, place, ""))


def item_of_content(kind: str, entry: Entry, data: bytes | OSError) -> Item | Skipped:
    """Make an item of what was read for it."""
    if isinstance(data, OSError):
        return Skipped(entry.id, f"cannot be read: {data.strerror or data}")
    return item_of_bytes(kind, entry.id, data, entry.stamp)
