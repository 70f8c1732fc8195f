"""Shapes of orientations side by side."""

from __future__ import annotations

from samekind.web.schemas.core import ItemView, Shape


class OrientationView(Shape):
    """An orientation in a list."""

    name: str
    answers: int
    began: float | None
    """Seconds since 1970; None: nothing was kept."""
    latest: float | None


class OrientationList(Shape):
    """All orientations over the collection, the first one first."""

    orientations: list[OrientationView]


class Share(Shape):
    """A group of one orientation; number 0 stands for all that are not shown by themselves."""

    number: int
    name: str
    size: int
    shown: list[ItemView]
    """A few items that stand for it."""


class Side(Shape):
    """One of two orientations that are compared."""

    name: str
    answers: int
    snapshot: int
    groups: list[Share]


class Comparison(Shape):
    """Two orientations: how many items are in each group of one and each group of the other."""

    a: Side
    b: Side
    items: int
    cells: list[list[int]]
    """A row per group of `a`, a column per group of `b`."""
    agreement: float
    """The adjusted Rand index: 1 the same groups, 0 no more in common than by chance."""
    words: str


class Cell(Shape):
    """Items that are in one group of one orientation and in one group of the other."""

    total: int
    offset: int
    items: list[ItemView]
