"""The shapes of requests and replies. Strict: nothing is coerced, nothing unknown is let in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

LARGEST = 2**53 - 1
"""Whole numbers beyond this are not exact in a browser."""

Line = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]*$")
"""One line of text: no control characters."""
Number = Annotated[int, Field(ge=1, le=LARGEST)]
Choice = Annotated[str, Field(min_length=1, max_length=64)]
Person = Annotated[str, Line, Field(min_length=1, max_length=64)]
GroupName = Annotated[str, Line, Field(max_length=80)]
OrientationName = Annotated[str, Field(pattern=r"^[^\W_][\w .\-]{0,62}[\w]$|^[^\W_]$")]


class Shape(BaseModel):
    """Base of all shapes."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Trouble(Shape):
    """What went wrong, in words, and what to do about it."""

    type: str
    message: str
    what_to_do: str | None = None


class Failure(Shape):
    """The one shape of every error."""

    error: Trouble


class ItemView(Shape):
    """An item as a page shows it."""

    id: str
    kind: str
    preview: str | None
    """Where to get what a person sees of it; None: it is not in the collection any more."""


class ChoiceView(Shape):
    """One button: what is sent, what is written on it, the keys, and the exemplars above it."""

    value: str
    label: str
    keys: list[str]
    exemplars: list[ItemView]


class QuestionView(Shape):
    """An open question. There is no field for a prediction, and none may be added."""

    number: int
    kind: str
    prompt: str
    why: str
    many: bool
    """Whether several numbers may be chosen at once, joined by commas: "2,5"."""
    items: list[ItemView]
    parts: list[list[ItemView]]
    """The same items, those together that stand for one group."""
    choices: list[ChoiceView]


class Progress(Shape):
    """How far the session is, and whether the groups are being refreshed."""

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
    """How well the groups fit by now, in words; empty while that cannot be told."""
    gain: int | None
    """Items that 20 more answers would probably put in place; None while that cannot be told."""
    enough: bool
    """Whether more answers would change so little that one may stop."""


class OpenQuestion(Shape):
    """The open question, or None and the reason."""

    question: QuestionView | None
    message: str
    progress: Progress


class AnswerView(Shape):
    """An answer in force, with its question, so that it can be shown and changed."""

    number: int
    choice: str
    label: str
    by: str
    seconds: float | None
    question: QuestionView


class AnswerList(Shape):
    """Answers, latest first."""

    total: int
    offset: int
    answers: list[AnswerView]


class ConflictView(Shape):
    """An answer that cannot hold together with earlier ones, and the fewest that clash with it."""

    answer: AnswerView
    clash: list[AnswerView]


class OddView(Shape):
    """An answer that all others speak against, with one sentence that says so."""

    answer: AnswerView
    said: int
    likely: int
    others: int
    words: str


class OddList(Shape):
    """Answers that are worth another look, the most surprising first."""

    odd: list[OddView]


class GroupView(Shape):
    """A group with a few of its items: the central one first, then diverse ones."""

    number: int
    name: str
    named: bool
    size: int
    representatives: list[ItemView]


class SkippedView(Shape):
    """A file that was left out, and why."""

    id: str
    reason: str


class Act(Shape):
    """Something to do beside answering, with its keys."""

    name: str
    label: str
    keys: list[str]


class SessionView(Shape):
    """The collection, its orientations and the state of the current one."""

    version: str
    collection: str
    items: int
    skipped: list[SkippedView]
    skipped_total: int
    gone: list[str]
    """Items of earlier questions that are not in the collection any more."""
    session: str
    orientations: list[str]
    formats: list[str]
    acts: list[Act]
    progress: Progress


class Orientations(Shape):
    """The orientations over this collection; each is a session of its own."""

    orientations: list[str]


class Health(Shape):
    """That the server runs, and which version."""

    status: Literal["ok"]
    version: str


class Done(Shape):
    """What an act led to: the number that it was about, and the question that is open now."""

    number: int | None
    now: OpenQuestion


class Tell(Shape):
    """An answer to the open question."""

    number: Number
    choice: Choice
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] | None = None
    by: Person = "me"


class Change(Shape):
    """Another choice for an earlier answer."""

    choice: Choice


class Skip(Shape):
    """Put the open question off."""

    number: Number


class Rename(Shape):
    """A name for a group; an empty one takes the name away."""

    name: GroupName


class NewOrientation(Shape):
    """A name for a new orientation."""

    name: OrientationName


class Nothing(Shape):
    """An empty object: the act needs no details."""


FAILURES: dict[int | str, dict[str, Any]] = {
    code: {"model": Failure} for code in (400, 403, 404, 405, 406, 409, 413, 415, 422, 500, 501)
}
"""Declared on every route, so that the schema tells the truth about errors."""
