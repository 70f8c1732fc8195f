"""The shapes of acts by hand, and of groups as they are worked on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from samekind.session.acts import MOST
from samekind.web.schemas.core import LARGEST, GroupView, Number, OpenQuestion, Person, Shape
from samekind.web.schemas.map import PlacedView

Place = Annotated[int, Field(ge=0, le=LARGEST)]
Places = Annotated[list[Place], Field(min_length=1, max_length=MOST)]


class Merge(Shape):
    """Two groups that are one kind."""

    groups: Annotated[list[Number], Field(min_length=2, max_length=2)]
    by: Person = "me"


class Split(Shape):
    """Items of a group that are a kind of their own."""

    group: Number
    items: Places
    by: Person = "me"


class Move(Shape):
    """Items that belong to another group."""

    items: Places
    to: Number
    by: Person = "me"


class Out(Shape):
    """Items that do not belong to their groups."""

    items: Places
    by: Person = "me"


class Together(Shape):
    """Items that are one kind."""

    items: Annotated[list[Place], Field(min_length=2, max_length=MOST)]
    by: Person = "me"


class Acted(Shape):
    """What an act led to: its number, by which it can be taken back, and a sentence."""

    number: int
    message: str
    now: OpenQuestion


class MemberView(PlacedView):
    """An item of a group."""

    sure: float
    """From 0 to 1, how sure it is that it belongs there."""
    answered: bool
    """Whether the person has told something about it."""


class GroupCard(GroupView):
    """A group as it is worked on."""

    purity: float | None
    """The expected share of its members that belong there; None: not known."""
    doubtful: list[PlacedView]
    """The members that are least sure."""


class GroupCards(Shape):
    """All groups, largest first, as of one snapshot."""

    snapshot: int
    groups: list[GroupCard]


class MemberPage(Shape):
    """Items of one group, in the order asked for."""

    group: GroupCard
    offset: int
    items: list[MemberView]
