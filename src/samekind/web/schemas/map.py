"""The shapes of the map."""

from __future__ import annotations

from samekind.web.schemas.core import ItemView, Shape
from samekind.workspace.map import Stage


class PlacedView(ItemView):
    """An item, and its place in the collection."""

    position: int


class MapGroup(Shape):
    """A group on the map."""

    number: int
    name: str
    size: int


class MapView(Shape):
    """Which map there is: its version, and how far it has got."""

    snapshot: int
    version: int
    stage: Stage
    """``pca`` is a sketch along the two main axes; ``neighbours`` puts together what is alike."""
    n: int
    groups: list[MapGroup]
    """The points name these by their place in this list."""


class MapItems(Shape):
    """Some items of the map."""

    items: list[PlacedView]
