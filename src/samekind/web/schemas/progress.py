"""Shapes of progress and of contradictions."""

from __future__ import annotations

from samekind.web.schemas.core import ConflictView, ItemView, Shape


class KindCount(Shape):
    """Answers to one kind of question, and the time that they took."""

    kind: str
    prompt: str
    answers: int
    unsure: int
    seconds: float
    """Together; only answers whose time is known."""
    timed: int
    """Answers whose time is known: the page was in sight from the question to the answer."""
    median: float | None


class QualityView(Shape):
    """Random checks that the groups agree with, and the 95 % interval of the share."""

    checks: int
    agreed: int
    share: float
    low: float
    high: float


class GainView(Shape):
    """What some more answers would bring."""

    answers: int
    items: int
    share: float
    little: bool


class Report(Shape):
    """Where the session stands."""

    answers: int
    unsure: int
    items: int
    placed: int
    groups: int
    conflicts: int
    snapshot: int
    kinds: list[KindCount]
    choices: dict[str, int]
    """Answers by what was chosen, in words."""
    people: dict[str, int]
    """Answers by who gave them."""
    seconds: float
    timed: int
    checks: int
    """Answers to random checks so far."""
    checking: bool
    """Whether questions are mixed in that are random checks."""
    checks_needed: int
    """Random checks from which on the quality can be told."""
    quality: QualityView | None
    gain: GainView | None
    moved: float | None
    """Share of the items that the last refresh put into another group."""
    enough: bool
    words: str


class CurvePoint(Shape):
    """The groups as the first so many answers give them."""

    answers: int
    settled: float
    """Share of the items that are in the group already in which they are now."""
    quality: QualityView | None
    """By all random checks, none of which the groups were learnt from."""


class Curve(Shape):
    """The groups over the answers, by falling back to the first 5, 10, ... of them."""

    points: list[CurvePoint]
    pending: int
    """Points that are still being computed; ask again in a moment."""
    message: str
    """Why there is no curve; empty when there is one."""


class Step(Shape):
    """One link of a contradiction: two items, what was said of them, and in which answer."""

    number: int
    a: ItemView
    b: ItemView
    same: bool


class Doubt(Shape):
    """An answer of a contradiction that may be wrong."""

    number: int
    implied: str | None
    """What it would have to be if all others are right; None: that is not known."""


class ClashView(ConflictView):
    """A contradiction, link by link, and the answers worth asking again, the best one first."""

    steps: list[Step]
    settle: list[Doubt]


class ClashList(Shape):
    """All answers that are kept aside."""

    conflicts: list[ClashView]
