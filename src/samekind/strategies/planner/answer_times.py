"""Answer times: estimate how long a person takes for each kind of question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.questions import Answer, Question

DEFAULT_SECONDS: Mapping[str, tuple[float, float]] = {
    "same-pair": (2.0, 0.0),
    "which-group": (4.0, 0.0),
    "same-groups": (4.0, 0.0),
    "odd-ones": (8.0, 0.5),
}
"""Seconds per question, and per item that may be named, before anything is measured."""
UNLISTED_SECONDS = (4.0, 0.5)
"""The same for kinds of question that are not listed."""
MIN_SECONDS = 0.2
"""Faster answers are ignored: nobody reads so fast, they come from a program."""
MAX_RATIO = 5.0
"""Cap on the ratio to the default time: the person was interrupted."""
PRIOR_ANSWERS = 8.0
"""Number of answers that the default times weigh."""


def default_seconds(question: Question) -> float:
    """The time that a question takes a person who has not been measured yet.

    >>> from samekind.questions import OddOnes, SamePair
    >>> default_seconds(SamePair(0, 1)), default_seconds(OddOnes((0,), (1, 2, 3, 4)))
    (2.0, 10.0)
    """
    fixed, each = DEFAULT_SECONDS.get(question.kind, UNLISTED_SECONDS)
    named = sum(choice.isdecimal() for choice in question.choices()) if question.many else 0
    return fixed + each * named


@dataclass(frozen=True)
class AnswerTimes:
    """The ratio of a person's time to the default time, overall and by kind of question.

    A kind with few answers is assumed to be as slow as the person is overall. Otherwise a slow
    person who was asked one kind only would make the other kinds look quick.
    """

    overall: float = 1.0
    by_kind: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> AnswerTimes:
        """Estimate the ratios from the recorded seconds."""
        ratios: dict[str, list[float]] = {}
        for answer in answers:
            if answer.seconds is not None and answer.seconds >= MIN_SECONDS:
                ratio = answer.seconds / default_seconds(answer.question)
                ratios.setdefault(answer.question.kind, []).append(min(ratio, MAX_RATIO))
        overall = _shrunk([r for found in ratios.values() for r in found], 1.0)
        return cls(overall, {kind: _shrunk(found, overall) for kind, found in ratios.items()})

    def seconds(self, question: Question) -> float:
        """The expected time of this person for a question."""
        return default_seconds(question) * self.by_kind.get(question.kind, self.overall)


def _shrunk(ratios: Sequence[float], towards: float) -> float:
    """The mean without the tenth at either end, shrunk towards a prior."""
    ordered = np.sort(np.asarray(ratios, dtype=np.float64))
    cut = len(ordered) // 10
    kept = ordered[cut : len(ordered) - cut]
    n = len(ordered)
    mean = float(kept.mean()) if n else towards
    return (n * mean + PRIOR_ANSWERS * towards) / (n + PRIOR_ANSWERS)
