"""Answer times: how long a person takes for each kind of question, learnt from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.questions import Answer, Question

USUAL: Mapping[str, tuple[float, float]] = {
    "same-pair": (2.0, 0.0),
    "which-group": (4.0, 0.0),
    "same-groups": (4.0, 0.0),
    "odd-ones": (8.0, 0.5),
}
"""Seconds before anything is measured: for the question, and for each item that may be named."""
OTHER = (4.0, 0.5)
"""The same for kinds that are not listed."""
QUICKEST = 0.2
"""Nobody reads a question in fewer seconds: such answers come from a program."""
LONGEST = 5.0
"""An answer that took so many times the usual was interrupted; it counts as this."""
FAITH = 8.0
"""Answers that the usual times are worth."""


def usual_seconds(question: Question) -> float:
    """What a question takes a person nobody has measured yet.

    >>> from samekind.questions import OddOnes, SamePair
    >>> usual_seconds(SamePair(0, 1)), usual_seconds(OddOnes((0,), (1, 2, 3, 4)))
    (2.0, 10.0)
    """
    fixed, each = USUAL.get(question.kind, OTHER)
    named = sum(choice.isdecimal() for choice in question.choices()) if question.many else 0
    return fixed + each * named


@dataclass(frozen=True)
class AnswerTimes:
    """How many times the usual seconds this person takes, in all and for each kind.

    A kind with few measured answers is taken to be as slow as the person is with all others, so
    that somebody slow, who was asked one kind only, does not make the other kinds look quick.
    """

    overall: float = 1.0
    by_kind: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> AnswerTimes:
        """Learnt from the logged seconds; answers without any, or with a program's, say nothing."""
        ratios: dict[str, list[float]] = {}
        for answer in answers:
            if answer.seconds is not None and answer.seconds >= QUICKEST:
                ratio = answer.seconds / usual_seconds(answer.question)
                ratios.setdefault(answer.question.kind, []).append(min(ratio, LONGEST))
        overall = _shrunk([r for found in ratios.values() for r in found], 1.0)
        return cls(overall, {kind: _shrunk(found, overall) for kind, found in ratios.items()})

    def seconds(self, question: Question) -> float:
        """What this question will probably take this person."""
        return usual_seconds(question) * self.by_kind.get(question.kind, self.overall)


def _shrunk(ratios: Sequence[float], towards: float) -> float:
    """The mean without the tenth at either end, drawn towards what was believed before."""
    ordered = np.sort(np.asarray(ratios, dtype=np.float64))
    cut = len(ordered) // 10
    kept = ordered[cut : len(ordered) - cut]
    n = len(ordered)
    mean = float(kept.mean()) if n else towards
    return (n * mean + FAITH * towards) / (n + FAITH)
