"""Tar archives of pictures or texts: members are found by their position, never unpacked."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from samekind.bulk.files import File, Part, open_file, read_parts, suffix_of
from samekind.bulk.formats.folders import item_of_content
from samekind.bulk.readers import N_LOOKED_AT, Entry, item_of
from samekind.errors import SourceError
from samekind.items import Item, Skipped
from samekind.sources import SUFFIXES_OF_KINDS


@dataclass
class TarReader:
    """The members of one or many archives; the id is the name, after that of the archive if many.

    Of members with the same name the last one counts, as when unpacking.
    """

    source: str
    kind: str
    shards: tuple[File, ...]
    columns: tuple[str, ...] = ()
    ready: bool = False
    lazy: bool = False
    run: int = 64

    @classmethod
    def of(cls, source: str, shards: Sequence[File]) -> Self:
        """Open archives; the first members decide whether they hold pictures or texts."""
        counts: Counter[str] = Counter()
        for member in islice(_members(shards[0]), N_LOOKED_AT):
            counts[suffix_of(member.name)] += 1
        kinds = {k: sum(counts[s] for s in suffixes) for k, suffixes in SUFFIXES_OF_KINDS.items()}
        kind = max(kinds, key=lambda name: kinds[name])
        if not kinds[kind]:
            raise SourceError(
                f"Expected pictures or texts in {shards[0].place!r}, got "
                f"{', '.join(suffix for suffix, _ in counts.most_common(3)) or 'nothing'}."
            )
        return cls(source, kind, tuple(shards))

    def listing(self) -> Iterator[Entry]:
        suffixes = SUFFIXES_OF_KINDS[self.kind]
        for shard in self.shards:
            prefix = f"{shard.id}/" if len(self.shards) > 1 else ""
            found: dict[str, str] = {}
            for member in _members(shard):
                if suffix_of(member.name) in suffixes:
                    end = member.offset_data + member.size
                    found[member.name] = f"{shard.place}#{member.offset_data}-{end}"
            for name, place in found.items():
                yield Entry(f"{prefix}{name}", place, shard.stamp)

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        data = read_parts([_part(entry.place) for entry in entries])
        return [item_of_content(self.kind, *pair) for pair in zip(entries, data, strict=True)]

    def item(self, id: str, place: str) -> Item:
        return item_of(self, Entry(id, place, ""))


def _members(shard: File) -> Iterator[tarfile.TarInfo]:
    """Iterate over the visible files of an archive by their headers."""
    try:
        with open_file(shard.place) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                if member.isreg() and not member.issparse() and not name.startswith("."):
                    yield member
                archive.members.clear()  # type: ignore[attr-defined]  # else all would be kept
    except (tarfile.TarError, OSError) as error:
        raise SourceError(
            f"{shard.place!r} cannot be read as a tar archive ({error}). Write the file again."
        ) from error


def _part(place: str) -> Part:
    path, _, span = place.rpartition("#")
    start, _, end = span.partition("-")
    return Part(path, int(start), int(end))
