"""Schemas of the review."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from samekind.questions import OddOnes
from samekind.web.schemas.core import Number, Person, Schema
from samekind.web.schemas.groups import Position, PositionedItem

MAX_EXEMPLARS = 5


class BatchView(Schema):
    """Items of one group to look at together, the most doubtful first."""

    group: int
    name: str
    place: int
    exemplars: list[PositionedItem]
    items: list[PositionedItem]


class ReviewView(Schema):
    """What is left to review."""

    headline: str
    """"About 98 % right, 11 to review", the same everywhere."""
    items: int | None
    """Items that are still worth a look; None while nothing can be said."""
    contradictions: int
    answers: int
    """Answers worth another look."""
    done: bool
    batch: BatchView | None


class Reviewed(Schema):
    """Items that are right, but for some."""

    group: Number
    exemplars: Annotated[list[Position], Field(min_length=1, max_length=MAX_EXEMPLARS)]
    items: Annotated[list[Position], Field(min_length=1, max_length=OddOnes.max_shown)]
    wrong: Annotated[list[Position], Field(max_length=OddOnes.max_shown)] = []
    by: Person = "me"
