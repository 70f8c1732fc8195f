"""Schemas of the posterior: the number of groups, uncertain pairs, other plausible groupings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from samekind.web.schemas.core import Choice, ItemView, Person, QuestionView, Schema
from samekind.web.schemas.groups import ActRequest, Position, Positions


class GroupCount(Schema):
    """A number of groups, and its probability."""

    groups: int
    share: float


class UncertainPairView(Schema):
    """A question that can be asked and answered here, about two items. It has no number yet (0).

    Like every question it must never have a field for a prediction.
    """

    positions: list[int]
    question: QuestionView


class PosteriorView(Schema):
    """What draws of whole groupings say, given all answers."""

    snapshot: int
    groups: int
    """Groups at present."""
    counts: list[GroupCount]
    """Ascending, without numbers of groups that are hardly possible."""
    words: str
    """How many groups there probably are."""
    basis: str
    """What limits all this, such as a sample of the items; empty if nothing does."""
    pairs: list[UncertainPairView]
    """Each tells something that those before it do not."""


class Posterior(Schema):
    """The posterior; None if the method of this orientation has none."""

    posterior: PosteriorView | None


class ChangeView(Schema):
    """Items that would be in another group."""

    words: str
    count: int
    items: list[ItemView]
    """A few of them."""
    target: int | None
    """The number of the group that they would join; None: a new group."""
    target_items: list[ItemView]
    """Items that represent the group that they would join."""


class AlternativeView(Schema):
    """Another plausible grouping, and what would change."""

    share: float
    """Share of the draws that are most like it."""
    groups: int
    changes: list[ChangeView]
    more: int
    """Items in further, smaller changes."""
    kinds: list[list[int]]
    """What choosing it says, for POST /api/acts/kinds."""
    pairs: list[UncertainPairView]
    """Questions that tell it from the present groups."""


class AlternativeList(Schema):
    """Other plausible groupings, the most common first."""

    snapshot: int
    alternatives: list[AlternativeView]


class PairAnswer(Schema):
    """An answer to a question about two items that was not asked."""

    items: Annotated[list[Position], Field(min_length=2, max_length=2)]
    choice: Choice
    by: Person = "me"


class ChosenKinds(ActRequest):
    """Items that are each a kind of their own."""

    kinds: Annotated[list[Positions], Field(min_length=1, max_length=40)]
