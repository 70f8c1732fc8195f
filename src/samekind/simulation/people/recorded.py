"""Replay and Recorded: a person whose answers were written down."""

from __future__ import annotations

from collections.abc import Iterable

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.questions import UNSURE, Answer, Question
from samekind.simulation.people.verbs import STOP

OTHERWISE = {"unsure": UNSURE, "stop": STOP}
"""Reactions of a recorded person where nothing follows from the record."""


class Replay:
    """A recorded person: gives the recorded answer to the same question, and stops at any other."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._choices: dict[Question, str] = {a.question: a.choice for a in answers}

    def answer(self, question: Question) -> str:
        """The recorded choice."""
        return self._choices.get(question, STOP)


class Recorded:
    """A recorded person who is asked other questions about the same items.

    Answers only what follows from the record: the recorded answers and what they imply. An answer
    that contradicted earlier ones is not repeated. So another method can be tried on a real session
    without inventing answers.

    Parameters
    ----------
    n_items : number of items. Answers may be about items that are gone; their positions start at
        `n_items`.
    answers : recorded answers, in order.
    otherwise : "unsure" where nothing follows, or "stop", which ends the session. A question that
        the person was unsure about is always answered "unsure".

    >>> from samekind.questions import SamePair
    >>> person = Recorded(4, [Answer(1, SamePair(0, 1), "same"), Answer(2, SamePair(1, 2), "same")])
    >>> person.answer(SamePair(0, 2)), person.answer(SamePair(0, 3))
    ('same', 'unsure')
    """

    def __init__(
        self, n_items: int, answers: Iterable[Answer], *, otherwise: str = "unsure"
    ) -> None:
        if otherwise not in OTHERWISE:
            raise InputError(f"Expected otherwise='unsure' or 'stop', got {otherwise!r}.")
        given = list(answers)
        spoken = [item for answer in given for item in answer.question.items()]
        gone = max(0, max(spoken, default=-1) + 1 - n_items)
        self.known = Constraints.from_answers(n_items, given, n_gone=gone)
        self.otherwise = otherwise
        self._left_open = {answer.question for answer in given if answer.choice == UNSURE}

    def answer(self, question: Question) -> str:
        """The choice that follows from the record; otherwise "unsure" or the end."""
        choice = question.truthful(self.known.same)
        if choice != UNSURE or question in self._left_open:
            return choice
        return OTHERWISE[self.otherwise]

    def __repr__(self) -> str:
        return f"Recorded({self.known!r}, otherwise={self.otherwise!r})"
