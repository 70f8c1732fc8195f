"""Schemas of single items: what is known about them besides their content."""

from __future__ import annotations

from samekind.web.schemas.core import Schema


class Fact(Schema):
    """Something that is known about an item, in words: "Taken", "2024-05-01 12:30"."""

    name: str
    value: str


class ItemDetails(Schema):
    """What is known about an item besides its content."""

    id: str
    facts: list[Fact]
