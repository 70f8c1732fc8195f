"""Item, Preview, Collection: the things to sort, and how a person sees them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, overload

from samekind.characters import whole_characters
from samekind.errors import SourceError


@dataclass(frozen=True, slots=True)
class Preview:
    """An item as shown to a person: bytes and their MIME type, such as ``image/png``."""

    mime: str
    data: bytes


class Item(ABC):
    """One thing to sort. A new kind of data is a new subclass.

    ``kind`` names what :meth:`load` returns, so that an encoder can declare what it reads:
    ``"image"`` (a PIL image, RGB, upright), ``"text"`` (str) or ``"row"`` (a 1-D float array).
    """

    kind: ClassVar[str]
    id: str
    """Stable across days: relative path, key or content hash."""
    members: Sequence[Item] = ()
    """The items that it stands for, itself first: answered once, exported together."""

    @property
    def stamp(self) -> str:
        """A token that changes with the content; cached vectors are valid while it stays."""
        return self.id

    def facts(self) -> Mapping[str, str]:
        """What is known besides its content, in words for a person: when a photo was taken."""
        return {}

    @abstractmethod
    def load(self) -> Any:
        """The content for an encoder."""

    @abstractmethod
    def preview(self) -> Preview:
        """The item for a person. Images are re-encoded, so nothing active reaches a page."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was skipped, and the reason in words for a person."""

    id: str
    reason: str


@dataclass(frozen=True)
class Collection(Sequence[Item]):
    """Items in a fixed order, known by id outside of the package and by position inside.

    Parameters
    ----------
    name : for the person; shown, never parsed.
    items : the items, with unique ids. Subclasses may create items on demand instead.
    skipped : files that were found but skipped, each with its reason.
    """

    name: str
    items: Sequence[Item]
    skipped: tuple[Skipped, ...] = ()
    location: str = ""
    """Where it was read from (a path or a set's name); empty for items made in memory."""
    _positions: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", whole_characters(self.name))  # a file may be called so
        if len(self.items) and not self.kind:
            raise SourceError(f"The items of {self.name!r} have no kind. Set Item.kind.")

    @property
    def kind(self) -> str:
        """The kind of the items (one per collection)."""
        return self.items[0].kind if len(self.items) else ""

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self.items[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def id(self, position: int) -> str:
        """The id of the item at a position."""
        return self.items[position].id

    def ids(self) -> Iterator[str]:
        """All ids, in order."""
        return (item.id for item in self.items)

    def position(self, id: str) -> int:
        """The position of an item; raises KeyError if it is not in the collection."""
        if not self._positions:
            found = {item.id: i for i, item in enumerate(self.items)}
            if len(found) != len(self.items):
                twice = next(item.id for i, item in enumerate(self.items) if found[item.id] != i)
                raise SourceError(
                    f"Expected unique ids in {self.name!r}, got {twice!r} twice. Rename an item."
                )
            self._positions.update(found)
        return self._positions[id]

    @property
    def fingerprint(self) -> str:
        """A hash that changes when an item is added, removed, renamed or changed."""
        digest = hashlib.sha256()
        for item in self.items:
            digest.update(f"{item.id}\0{item.stamp}\0".encode())
        return digest.hexdigest()[:16]

    def take(self, positions: Sequence[int]) -> Collection:
        """A collection of only these items, in this order."""
        chosen = [self.items[int(i)] for i in positions]
        return Collection(self.name, chosen, self.skipped, self.location)
