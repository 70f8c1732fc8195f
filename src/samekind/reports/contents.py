"""Contents of a report: sections of paragraphs, tables and pictures, written in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell of a table for people: a figure, in small lines what belongs to it, bold or not."""

    text: str
    small: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table for people.

    Parameters
    ----------
    words : how many columns at the left are words, not figures. note : stands below the table.
    named_by : the column that names a row.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    note: str = ""
    words: int = 1
    named_by: int = 0


@dataclass(frozen=True)
class Picture:
    """A drawing (SVG without outside addresses) and what it shows, for those who do not see it."""

    svg: str
    caption: str
    said: str


@dataclass(frozen=True)
class Key:
    """One line of a legend: the drawn sample and the name."""

    svg: str
    name: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, or below each other on a narrow screen, under one legend."""

    title: str
    pictures: Sequence[Picture]
    legend: Sequence[Key] = ()


@dataclass(frozen=True)
class Folded:
    """Parts that are shown when somebody opens them."""

    title: str
    parts: Sequence[Part]


Part = str | Table | Gallery | Folded
"""A text is a paragraph; what stands between backticks is code."""


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it. `name` is its address on the page."""

    name: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Sheet:
    """A CSV file: one fact per row, figures as they were computed."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
