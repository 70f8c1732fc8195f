"""Schemas of single items: what is known about them besides their content."""

from __future__ import annotations

from samekind.web.schemas.core import ItemView, Schema
from samekind.web.schemas.groups import MemberView


class Fact(Schema):
    """Something that is known about an item, in words: "Taken", "2024-05-01 12:30"."""

    name: str
    value: str


class ItemDetails(Schema):
    """What is known about an item besides its content."""

    id: str
    facts: list[Fact]
    members: list[ItemView]
    """The near-duplicates that it stands for, itself first; empty if it stands for itself."""


class NewInGroup(Schema):
    """New items that were put into one group, the least sure ones first."""

    number: int
    name: str
    items: list[MemberView]


class NewItems(Schema):
    """Items that a known pile has since the last time."""

    total: int
    groups: list[NewInGroup]
