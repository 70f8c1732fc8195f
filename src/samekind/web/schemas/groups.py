"""Schemas of groups, of changes by hand, of the map, and of two orientations side by side."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from samekind.session.acts import MAX_ITEMS
from samekind.session.search import MAX_EXAMPLES
from samekind.web.schemas.core import (
    MAX_SAFE_INTEGER,
    GroupView,
    ItemView,
    Number,
    OpenQuestion,
    OrientationName,
    Person,
    Schema,
)
from samekind.web.security import MAX_TABLE_BYTES
from samekind.workspace.map import Stage

MAX_GROUPS = 100
"""Groups that one act may merge."""
Position = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
Positions = Annotated[list[Position], Field(min_length=1, max_length=MAX_ITEMS)]


class ActRequest(Schema):
    """A change by hand."""

    by: Person = "me"
    set_aside: bool = False
    """Whether earlier answers that contradict it are set aside; else it is refused (409)."""


class Merge(ActRequest):
    """Groups that are one kind."""

    groups: Annotated[list[Number], Field(min_length=2, max_length=MAX_GROUPS)]


class Split(ActRequest):
    """Items of a group that are a kind of their own."""

    group: Number
    items: Positions


class Move(ActRequest):
    """Items that belong to another group."""

    items: Positions
    to: Number


class Out(ActRequest):
    """Items that do not belong to their groups."""

    items: Positions


class Together(ActRequest):
    """Items that are one kind."""

    items: Annotated[list[Position], Field(min_length=2, max_length=MAX_ITEMS)]


class Like(Schema):
    """A few items to find more like."""

    items: Annotated[list[Position], Field(min_length=1, max_length=MAX_EXAMPLES)]


class SearchBegun(Schema):
    """A search that begins: its first question, which is open now."""

    number: int
    message: str
    now: OpenQuestion


class ActResult(Schema):
    """The result of a change by hand: its number, which undo takes, and a sentence."""

    number: int
    message: str
    now: OpenQuestion


class PositionedItem(ItemView):
    """An item and its position in the collection."""

    position: int


class MemberView(PositionedItem):
    """An item of a group."""

    sure: float
    """Confidence from 0 to 1 that it belongs there."""
    answered: bool
    """Whether an answer mentions it."""


class GroupCard(GroupView):
    """A group with its estimated purity and its most doubtful members."""

    purity: float | None
    """The expected share of its members that belong there; None: unknown."""
    doubtful: list[PositionedItem]
    """The least certain members first."""


class GroupCards(Schema):
    """All groups of one snapshot, each at its place."""

    snapshot: int
    groups: list[GroupCard]


class MemberPage(Schema):
    """Items of one group, in the requested order."""

    group: GroupCard
    offset: int
    items: list[MemberView]


class NameSuggestion(Schema):
    """A name for a group, and where it comes from."""

    name: str
    why: str


class GroupWords(Schema):
    """Words of the texts of a group, or ranges and values of columns."""

    number: int
    words: list[str]


class GroupWordList(Schema):
    """What describes each group; empty for pictures."""

    groups: list[GroupWords]


class NameSuggestions(Schema):
    """Suggested names, the most telling first."""

    suggestions: list[NameSuggestion]


class MapGroup(Schema):
    """A group on the map."""

    number: int
    name: str
    place: int
    size: int


class MapView(Schema):
    """The current map."""

    snapshot: int
    version: int
    stage: Stage
    """``pca``: a sketch along the two main axes. ``neighbours``: similar items lie together."""
    n: int
    groups: list[MapGroup]
    """The points refer to groups by their index in this list."""


class MapItems(Schema):
    """Some items of the map."""

    items: list[PositionedItem]


class FoundItems(Schema):
    """Items that a search has found."""

    total: int
    positions: list[int]
    words: str
    """What was searched, and what cannot be."""


class OrientationView(Schema):
    """An orientation in a list."""

    name: str
    title: str
    """What a person sees; the name stays the same."""
    group: str
    """The group whose items it sorts, and the title of that orientation; empty: all items."""
    pile: str | None
    """The pile of a nested one; None: this one."""
    answers: int
    began: float | None
    """Seconds since 1970; None: nothing was kept."""
    latest: float | None


class Whole(Schema):
    """Where the items of a nested orientation come from."""

    title: str
    session: str
    pile: str | None


class OrientationList(Schema):
    """All orientations of the collection, the first one first."""

    orientations: list[OrientationView]
    nested: list[OrientationView]
    """Those that sort the items of one group."""
    deleted: list[OrientationView]
    """Deleted ones, which can be restored."""
    whole: Whole | None
    """None: these are all items."""


class OrientationChange(Schema):
    """Another title, or whether an orientation is deleted; None leaves it as it is."""

    title: OrientationName | None = None
    deleted: bool | None = None


class NewWithin(Schema):
    """A new orientation for the items of one group."""

    name: OrientationName
    group: Number


class LabelStart(Schema):
    """Labels that an orientation can begin from."""

    kind: Literal["folders", "column", "csv"]
    name: str
    """The name of the column."""
    groups: int
    items: int


class LabelStarts(Schema):
    """What an orientation can begin from, besides a table of the person."""

    starts: list[LabelStart]


class NewFrom(Schema):
    """A new orientation that begins from labels."""

    name: OrientationName
    kind: Literal["folders", "column", "csv"]
    column: Annotated[str, Field(max_length=500)] = ""
    text: Annotated[str, Field(max_length=MAX_TABLE_BYTES)] = ""
    """The content of the file, for ``csv``: a table, or JSON of another tool."""


class Begun(Schema):
    """An orientation that was begun, and the pile that it is in; None: this one."""

    session: str
    pile: str | None
    message: str


class ComparedGroup(Schema):
    """A group of one orientation; number 0 stands for all that are not listed."""

    number: int
    name: str
    size: int
    shown: list[ItemView]
    """A few representative items."""


class ComparedOrientation(Schema):
    """One of two orientations that are compared."""

    name: str
    title: str
    answers: int
    snapshot: int
    groups: list[ComparedGroup]


class NestingView(Schema):
    """Groups of one orientation that lie within groups of the other."""

    inner: Literal["a", "b"]
    """The finer one."""
    outside: int
    """Items that do not lie in the group in which most of their finer group lies."""
    share: float
    """1: every finer group lies within one group of the other; 0: as by chance."""


class Comparison(Schema):
    """Two orientations: how many items each group of one shares with each group of the other."""

    a: ComparedOrientation
    b: ComparedOrientation
    items: int
    cells: list[list[int]]
    """One row per group of `a`, one column per group of `b`."""
    agreement: float
    """The adjusted Rand index: 1 for equal groups, 0 for agreement by chance."""
    words: str
    nesting: NestingView | None
    """None: not nested beyond chance."""


class Cell(Schema):
    """Items in one group of one orientation and one group of the other."""

    total: int
    offset: int
    items: list[ItemView]
