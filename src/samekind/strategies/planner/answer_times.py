"""Answer times: fit the model of seconds to the person who answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.questions import Answer, Question
from samekind.questions.seconds import Effort, effort

Floats = NDArray[np.float64]

MIN_SECONDS = 0.2
"""Faster answers are ignored: nobody reads so fast, they come from a program."""
MAX_RATIO = 5.0
"""Cap on the ratio to the published time: the person was interrupted."""
PRIOR_ANSWERS = 8.0
"""Number of answers that the published times weigh."""
PRIOR_SHARES = 2.0
"""Number of answers, each spent on one part only, that the pace weighs against those parts."""
N_LATEST_ANSWERS = 400
"""Latest answers that count: people become faster."""


@dataclass(frozen=True)
class AnswerTimes:
    """A person's pace, and how it differs for what an answer consists of.

    All are ratios to the published times of :mod:`samekind.questions.seconds`. The pace is shrunk
    towards 1, the others towards the pace: whoever is slow with placements, and was asked nothing
    else, is expected to be slow with grids as well.

    Parameters
    ----------
    pace : overall. ready, looking, tapping : ratios of the parts of an answer.
    by_kind : by kind of question, what these ratios do not explain.
    """

    pace: float = 1.0
    ready: float = 1.0
    looking: float = 1.0
    tapping: float = 1.0
    by_kind: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> AnswerTimes:
        """Fit the ratios to the recorded seconds; without any they are 1."""
        timed = [
            (answer.question.kind, answer.seconds, effort(answer.question, answer.choice))
            for answer in list(answers)[-N_LATEST_ANSWERS:]
            if answer.seconds is not None and answer.seconds >= MIN_SECONDS
        ]
        if not timed:
            return cls()
        ratios = np.minimum([took / known.seconds for _, took, known in timed], MAX_RATIO)
        pace = _shrunk(ratios)
        shares = np.array([_shares(known) for *_, known in timed])  # (answers, 3)
        parts = pace * (1 + _offsets(shares, ratios / pace))
        rest = ratios / (shares @ parts)
        kinds = np.array([kind for kind, *_ in timed])
        by_kind = {str(kind): _shrunk(rest[kinds == kind]) for kind in np.unique(kinds)}
        ready, looking, tapping = parts.tolist()
        return cls(pace, ready, looking, tapping, by_kind)

    def seconds(
        self,
        question: Question,
        choice: str | None = None,
        *,
        difficulty: float = 0.0,
        taps: float | None = None,
    ) -> float:
        """The expected time of this person for a question; parameters as in `expected_seconds`."""
        known = effort(question, choice, difficulty=difficulty, taps=taps)
        spent = (
            self.ready * known.ready + self.looking * known.looking + self.tapping * known.tapping
        )
        return spent * self.by_kind.get(question.kind, 1.0)


def _shares(known: Effort) -> tuple[float, float, float]:
    """The shares of the time of an answer."""
    total = known.seconds
    return known.ready / total, known.looking / total, known.tapping / total


def _offsets(shares: Floats, ratios: Floats) -> Floats:
    """(3,) by how much each part is slower than the pace; ridge regression on the shares."""
    spread = max(float(np.median(np.abs(ratios - np.median(ratios)))), 0.1)
    residuals = np.clip(ratios - 1, -1.0, 5 * spread)  # a break is no slow look
    bent = shares.T @ shares + PRIOR_SHARES * np.eye(shares.shape[1])
    return np.asarray(np.maximum(np.linalg.solve(bent, shares.T @ residuals), -0.8))


def _shrunk(ratios: Floats) -> float:
    """The mean without the tenth at either end, shrunk towards 1."""
    ordered = np.sort(ratios)
    n = len(ordered)
    kept = ordered[n // 10 : n - n // 10]
    return (n * float(kept.mean()) + PRIOR_ANSWERS) / (n + PRIOR_ANSWERS)
