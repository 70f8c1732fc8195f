"""Schemas of single items: where one is and why, and what is like it."""

from __future__ import annotations

from samekind.web.schemas.core import Schema
from samekind.web.schemas.groups import PositionedItem


class LocatedItem(PositionedItem):
    """An item with its group."""

    group: int | None
    """None: it is asked about right now."""
    name: str
    place: int | None
    answered: bool
    """Whether an answer mentions it."""


class ItemPlace(Schema):
    """Where an item is, and why."""

    item: PositionedItem
    group: int | None
    """None: it is asked about right now."""
    name: str
    place: int | None
    words: str
    examples: list[LocatedItem]
    """The most similar items with answers, nearest first."""
    answer: int | None
    """The latest answer about the item itself."""


class SimilarItems(Schema):
    """Items most like an item, nearest first."""

    items: list[LocatedItem]
