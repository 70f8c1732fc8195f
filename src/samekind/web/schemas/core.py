"""Base schema, and schemas of sessions, questions and answers.

All schemas are strict: nothing is coerced, and unknown fields are refused. They also read plain
objects (``View.model_validate(value)``), so that values of a workspace need no copying by hand.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_SAFE_INTEGER = 2**53 - 1
"""Larger integers are not exact in a browser."""

Line = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]*$")
"""One line of text: no control characters."""
Number = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)]
Choice = Annotated[str, Field(min_length=1, max_length=64)]
Person = Annotated[str, Line, Field(min_length=1, max_length=64)]
GroupName = Annotated[str, Line, Field(max_length=80)]
OrientationName = Annotated[str, Field(pattern=r"^[^\W_][\w .\-]{0,62}[\w]$|^[^\W_]$")]


class Schema(BaseModel):
    """Base of all schemas."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, from_attributes=True)


class ErrorBody(Schema):
    """What went wrong, and what to do about it."""

    type: str
    message: str
    what_to_do: str | None = None


class ErrorResponse(Schema):
    """The body of every error response."""

    error: ErrorBody


class ItemView(Schema):
    """An item as a page shows it."""

    id: str
    kind: str
    preview: str | None
    """Address of its preview; None: it is no longer in the collection."""


class ChoiceView(Schema):
    """One button: its value, label, keys, and the exemplars shown with it."""

    value: str
    label: str
    keys: list[str]
    exemplars: list[ItemView]
    name: str
    """The name of the group that it stands for; empty if it has none."""
    place: int | None
    """The place of that group, from 0, which gives its colour; None: it stands for no group."""


class MarkingView(Schema):
    """Words for items that are marked, where several may be."""

    belong: bool
    """Whether the marked items are those that belong to the group."""
    word: str
    """A word or two on a marked item."""
    one: str
    several: str
    """The choice with one and with several marked items; `{}` is their number."""


class QuestionView(Schema):
    """An open question. It must never have a field for a prediction."""

    number: int
    kind: str
    prompt: str
    why: str
    many: bool
    """Whether several numbers may be chosen at once, joined by commas: "2,5"."""
    marking: MarkingView | None
    """Words for the marked items of such a question."""
    items: list[ItemView]
    parts: list[list[ItemView]]
    """The same items; those that stand for one group are together."""
    choices: list[ChoiceView]
    new_group: bool
    """Whether "none" starts a new group, which can be named with the answer."""


class Progress(Schema):
    """Counts of a session, and whether its groups are being refreshed."""

    answers: int
    unsure: int
    placed: int
    conflicts: int
    groups: int
    snapshot: int
    due: bool
    until_refit: int
    refitting: bool
    trouble: str | None
    choices: dict[str, int]
    quality: str
    """How well the groups fit, in words; empty while unknown."""
    gain: int | None
    """Items that 20 more answers would probably put in place; None while unknown."""
    enough: bool
    """Whether more answers would change little."""
    unseen: str
    """That the vectors do not hold the difference the person makes, in words; empty: they do."""


class OpenQuestion(Schema):
    """The open question, or None and the reason."""

    question: QuestionView | None
    message: str
    progress: Progress


class AnswerView(Schema):
    """An answer in force with its question, so that it can be shown and changed."""

    number: int
    choice: str
    label: str
    by: str
    seconds: float | None
    aside: str
    """The change by hand that has set it aside, in words; empty: it counts as it is."""
    question: QuestionView


class AnswerList(Schema):
    """Answers, latest first."""

    total: int
    offset: int
    answers: list[AnswerView]


class GroupView(Schema):
    """A group with a few of its items: the most typical one first, then diverse ones."""

    number: int
    name: str
    named: bool
    place: int
    """Its place, from 0, which stays the same for the whole session."""
    size: int
    representatives: list[ItemView]


class SkippedView(Schema):
    """A file that was skipped, and why."""

    id: str
    reason: str


class Act(Schema):
    """An action besides answering, with its keys."""

    name: str
    label: str
    keys: list[str]


class SessionView(Schema):
    """The collection, its orientations, and the state of the current one."""

    version: str
    collection: str
    items: int
    analysing: int = 0
    """Further items that are still being analysed; questions are about the others meanwhile."""
    new_items: int = 0
    """Items that are new since the last time and were put into groups."""
    kind: str = ""
    """Of the items: image, text or row."""
    skipped: list[SkippedView]
    skipped_total: int
    gone: list[str]
    """Items of earlier questions that are no longer in the collection."""
    session: str
    orientations: list[str]
    titles: dict[str, str]
    """What a person sees for each orientation."""
    formats: list[str]
    acts: list[Act]
    progress: Progress
    person: str | None
    """Who uses this page; None: people are not told apart."""
    hidden: bool
    """Whether people do not see each other's answers."""
    posterior: bool
    """Whether the method draws whole groupings, so that uncertainty can be shown."""


class Orientations(Schema):
    """Names of the orientations of this collection; each has its own session."""

    orientations: list[str]


class Health(Schema):
    """The server runs, and its version."""

    status: Literal["ok"]
    version: str


class AnswerResult(Schema):
    """The number of the question that a request was about, and the question that is open now."""

    number: int | None
    now: OpenQuestion


class NewAnswer(Schema):
    """An answer to the open question."""

    number: Number
    choice: Choice
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] | None = None
    by: Person = "me"
    name: GroupName = ""
    """The name of the group that the answer puts an item into; empty: it stays as it is."""


class Change(Schema):
    """Another choice for an earlier answer."""

    choice: Choice


class Skip(Schema):
    """Postpone the open question."""

    number: Number


class Rename(Schema):
    """A name for a group; an empty one removes the name."""

    name: GroupName


class NewOrientation(Schema):
    """A name for a new orientation."""

    name: OrientationName


class Empty(Schema):
    """An empty object, for requests without details."""


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorResponse},
    "5XX": {"model": ErrorResponse},
}
"""Error responses, declared on every route so that the OpenAPI description is complete."""
