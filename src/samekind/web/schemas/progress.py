"""Schemas of progress, and of answers that contradict each other or look odd."""

from __future__ import annotations

from samekind.web.schemas.core import AnswerView, ItemView, Schema


class KindCount(Schema):
    """Answers to one kind of question, and the time that they took."""

    kind: str
    prompt: str
    answers: int
    unsure: int
    seconds: float
    """In total, over the `timed` answers."""
    timed: int
    """Answers with a known time: the page was visible from the question to the answer."""
    median: float | None


class QualityView(Schema):
    """The estimated share of items that are where the person wants them; 95 % interval."""

    checks: int
    agreed: int
    """Random checks, and how many of them were answered as the groups implied."""
    placements: int
    """Answers that the estimate is based on, random checks among them."""
    share: float
    low: float
    high: float
    slips: float
    """Estimated share of wrong answers."""
    words: str
    """The share with its interval, as it is stated everywhere."""


class GainView(Schema):
    """The expected effect of some more answers."""

    answers: int
    items: int
    share: float
    little: bool


class Report(Schema):
    """The state of a session in detail."""

    answers: int
    unsure: int
    items: int
    placed: int
    groups: int
    conflicts: int
    snapshot: int
    kinds: list[KindCount]
    choices: dict[str, int]
    """Number of answers per choice, in words."""
    people: dict[str, int]
    """Number of answers per person."""
    seconds: float
    timed: int
    checks: int
    """Answers to random checks so far."""
    checking: bool
    """Whether random checks are mixed into the questions."""
    placements: int
    """Answers so far that tell something about the quality."""
    placements_needed: int
    """Such answers needed for an estimate of the quality."""
    quality: QualityView | None
    gain: GainView | None
    moved: float | None
    """Share of the items that the last refresh put into another group."""
    notice: str
    """A sentence about answers that follow no wish; empty if there is nothing to notice."""
    enough: bool
    words: str
    """The quality in one or two sentences, the same everywhere."""


class PersonView(Schema):
    """One person's answers, and how often they are probably wrong."""

    name: str
    answers: int
    second_opinions: int
    """Answers to questions that somebody else had answered before."""
    shared: int
    """Questions that somebody else has answered as well."""
    agreed: int
    error: float | None
    """The learned share of wrong answers; None while too little is known."""
    judged: int
    """Answers that it was learnt from."""


class PeopleView(Schema):
    """How far people agree, on the questions that two of them have answered."""

    people: list[PersonView]
    overlap: float
    """Share of the questions that a second person is asked as well."""
    shared: int
    agreed: int
    low: float | None
    high: float | None
    alpha: float | None
    """Krippendorff's alpha: 1 for perfect agreement, 0 for agreement by chance."""
    words: str


class InUse(Schema):
    """What groups the items and what chooses the questions."""

    learner: str
    strategy: str
    """Its name, and whether it is the method's own."""
    parameters: dict[str, str]
    """Parameters of the method that were given, in words."""


class CurvePoint(Schema):
    """The groups as they were after the first `answers` answers."""

    answers: int
    settled: float
    """Share of the items that were already in their current group."""
    quality: QualityView | None
    """Estimated from these answers, as at that time."""


class Curve(Schema):
    """Quality over the number of answers, recomputed from the first 5, 10, ... of them."""

    points: list[CurvePoint]
    pending: int
    """Points that are still being computed; ask again in a moment."""
    message: str
    """Why there is no curve; empty if there is one."""


class ConflictView(Schema):
    """An answer that contradicts earlier ones, and the fewest of those that it contradicts."""

    answer: AnswerView
    clash: list[AnswerView]


class ContradictionStep(Schema):
    """One link of a contradiction: two items, and the answer that relates them."""

    number: int
    a: ItemView
    b: ItemView
    same: bool


class SuspectAnswer(Schema):
    """An answer of a contradiction that may be wrong."""

    number: int
    implied: str | None
    """The choice that would fit all other answers; None: unknown."""


class ContradictionView(ConflictView):
    """A contradiction link by link, and the answers worth asking again, best one first."""

    steps: list[ContradictionStep]
    settle: list[SuspectAnswer]


class ContradictionList(Schema):
    """All contradictions."""

    conflicts: list[ContradictionView]


class OddAnswerView(Schema):
    """An answer that all others speak against, with a sentence that says so."""

    answer: AnswerView
    said: int
    likely: int
    others: int
    words: str


class OddAnswerList(Schema):
    """Answers worth another look, the most surprising first."""

    odd: list[OddAnswerView]
