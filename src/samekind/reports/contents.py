"""Contents of a report: sections of paragraphs, tables and pictures, written in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a figure with small lines below it, bold or not."""

    text: str
    small: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    words : number of text columns at the left. note : text below the table.
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
    """A drawing (SVG without external addresses) with its caption and text alternative."""

    svg: str
    caption: str
    alternative: str


@dataclass(frozen=True)
class Key:
    """One line of a legend: the drawn sample and the name."""

    svg: str
    name: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side under one legend; stacked on a narrow screen."""

    title: str
    pictures: Sequence[Picture]
    legend: Sequence[Key] = ()


@dataclass(frozen=True)
class Folded:
    """Parts that are collapsed at first."""

    title: str
    parts: Sequence[Part]


Part = str | Table | Gallery | Folded
"""A text is a paragraph; backticks mark code."""


@dataclass(frozen=True)
class Section:
    """A heading with its parts. `name` is its anchor on the page."""

    name: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Sheet:
    """A CSV file: one fact per row, figures as they were computed."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
