"""Tables, lines of text and named sets: opened as a whole, by every process that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from samekind.bulk.readers import Entry
from samekind.items import Collection, Item, Skipped
from samekind.sources import open_source


@dataclass
class CollectionReader:
    """A source of :func:`samekind.sources.open_source`; it has to fit in memory."""

    source: str
    exclude: tuple[str, ...] = ()
    lazy: bool = True
    run: int = 1

    @cached_property
    def collection(self) -> Collection:
        """The items."""
        return open_source(self.source, exclude=self.exclude)

    @property
    def kind(self) -> str:
        """The kind of the items."""
        return self.collection.kind

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a table's numbers."""
        return tuple(getattr(self.collection, "columns", ()))

    @property
    def ready(self) -> bool:
        """Whether rows are vectors to compare unchanged."""
        return bool(getattr(self.collection, "ready", False))

    @property
    def left_out(self) -> list[Skipped]:
        """Lines, columns or files that were skipped when it was opened."""
        return list(self.collection.skipped)

    def listing(self) -> Iterator[Entry]:
        for position, item in enumerate(self.collection):
            yield Entry(item.id, f"{self.source}#{position}", item.stamp)

    def items(self, entries: Sequence[Entry]) -> list[Item | Skipped]:
        return [self.collection[int(entry.place.rpartition("#")[2])] for entry in entries]

    def item(self, id: str, place: str) -> Item:
        return self.collection[self.collection.position(id)]

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "exclude": self.exclude}
