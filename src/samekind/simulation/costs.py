"""What answers cost a person: pair comparisons, and seconds by the usual times."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.questions import Answer, WhichGroup
from samekind.strategies.planner.answer_times import usual_seconds


def comparisons(answer: Answer) -> int:
    """How often two things were held side by side for this answer.

    One for a pair. Of the groups shown those that were looked at until the chosen one; all of them
    for "none" and "unsure". For other kinds of questions the items that a full answer speaks of.

    >>> comparisons(Answer(1, WhichGroup(7, ((1, 4), (2,), (3,))), "2"))
    2
    """
    question = answer.question
    if isinstance(question, WhichGroup):
        return int(answer.choice) if answer.choice.isdecimal() else len(question.groups)
    return max(1, *(len(question.links(choice)) for choice in question.choices()))


def costs(answers: Sequence[Answer]) -> dict[str, float]:
    """The pairs and seconds of all answers so far."""
    return {
        "pairs": sum(map(comparisons, answers)),
        "person_seconds": round(sum((usual_seconds(a.question) for a in answers), 0.0), 1),
    }
