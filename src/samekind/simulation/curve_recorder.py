"""The curve of a run: scores of the groups, the cost of the answers, and the random checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.evaluation import Scores, score
from samekind.questions import UNSURE, Answer, WhichGroup
from samekind.questions.seconds import expected_seconds
from samekind.session import Session
from samekind.simulation.people import Truth

Kinds = NDArray[np.intp]
NOT_IN_ROWS = ("unasked_fm", "unasked_pair_f1", "unasked_bcubed")
"""Scores that rows leave out, to keep files small."""

NETWORK_SCORES = ("acc", "nmi", "ari")
"""Scores of what a network alone says; papers report it, where our groups honour every answer."""


class CurveRecorder:
    """Scores a session. Besides the person, the only part of a run that knows the kinds.

    Parameters
    ----------
    truth, heldout_truth : kinds of the items and of those held out; None: not scored on them.
    heldout : vectors of the held-out items.
    other : kinds of the other orientation in the session, where people have two in mind.
    on_record : called with the session and the number of answers after each new point.
    """

    def __init__(
        self,
        truth: Kinds,
        heldout: Any = None,
        heldout_truth: Kinds | None = None,
        other: Kinds | None = None,
        on_record: Callable[[Session, int], None] | None = None,
    ) -> None:
        self.truth, self.other, self.on_record = truth, other, on_record
        self.heldout = None if heldout_truth is None else heldout
        self.heldout_truth = None if heldout is None else heldout_truth
        self.began = time.perf_counter()
        self.points: list[dict[str, Any]] = []
        """Full-precision points of the curve."""

    def record(self, session: Session, n_answers: int) -> None:
        """Add a point to the curve, unless this state has one already."""
        state = (session.clustering.snapshot, n_answers)
        if self.points and (self.points[-1]["refits"], self.points[-1]["questions"]) == state:
            return
        seconds = time.perf_counter() - self.began
        point: dict[str, Any] = {
            "questions": n_answers,
            **costs(session.answers),
            "seconds": seconds,
            "groups": session.clustering.n_groups,
            "refits": session.clustering.snapshot,
            **self._scores(session).row(),
        }
        if self.other is not None:
            other = score(self.other, session.clustering.labels)
            point |= {f"other_{name}": other[name] for name in ("acc", "ari")}
        alone = getattr(session.model, "predicted_labels_", None)
        if alone is not None:
            found = score(self.truth, alone)
            point |= {f"network_{name}": found[name] for name in NETWORK_SCORES}
        if (checks := checked(session, self.truth)) is not None:
            point["checks"] = checks
        self.points.append(point)
        if self.on_record is not None:
            self.on_record(session, n_answers)

    def curve(self) -> list[dict[str, Any]]:
        """The points as rows keep them: scores with five decimals."""
        return [
            {
                name: round(value, 2 if name == "seconds" else 5)
                if isinstance(value, float)
                else value
                for name, value in point.items()
                if name not in NOT_IN_ROWS
            }
            for point in self.points
        ]

    def wrong_answers(self, session: Session) -> float | None:
        """Share of the answers, "unsure" aside, that are wrong for the kinds scored against."""
        person = Truth(self.truth)
        given = [(a, person.answer(a.question)) for a in session.answers if a.choice != UNSURE]
        wrong = [answer.choice != true for answer, true in given if true != UNSURE]
        return round(sum(wrong) / len(wrong), 4) if wrong else None

    def _scores(self, session: Session) -> Scores:
        asked = np.zeros(len(self.truth), dtype=bool)
        asked[[i for answer in session.answers for i in answer.question.items()]] = True
        return Scores.of(
            self.truth,
            session.clustering.labels,
            asked=asked,
            heldout_truth=self.heldout_truth,
            heldout_labels=None if self.heldout is None else session.predict(self.heldout),
        )


def checked(session: Session, kinds: Kinds) -> dict[str, float] | None:
    """The interval of the random checks and the share that it estimates; None: too few checks."""
    found: Mapping[str, Any] | None = session.progress()["quality"]
    if found is None:
        return None
    interval = {name: round(float(found[name]), 5) for name in ("share", "low", "high")}
    return {**interval, "truth": round(in_place(session, kinds), 5)}


def in_place(session: Session, kinds: Kinds) -> float:
    """Share of items that a person who never errs would leave where they are.

    A group stands for the commonest kind among its answered items. An item is in place if that is
    its kind. It is also in place if no group stands for its kind and its own group stands for none:
    the person would answer "none of these", which is what the groups say.
    """
    labels, answered = session.clustering.labels, session.constraints.touched
    answered = answered[kinds[answered] >= 0]
    stands_for = dict.fromkeys(session.clustering.numbers, -1)
    for number in np.unique(labels[answered]).tolist():
        stands_for[number] = int(np.bincount(kinds[answered[labels[answered] == number]]).argmax())
    of_group = np.array([stands_for[number] for number in session.clustering.numbers])
    kind_of_group = of_group[np.searchsorted(session.clustering.numbers, labels)]
    unseen = ~np.isin(kinds, of_group)
    right = (kind_of_group == kinds) | (unseen & (kind_of_group < 0))
    return float(right[kinds >= 0].mean())


def comparisons(answer: Answer) -> int:
    """The number of pairs that were compared for this answer.

    One for a pair; of several groups, those up to the chosen one, or all for "none" and "unsure".
    For other kinds of questions, the number of links in a full answer.

    >>> comparisons(Answer(1, WhichGroup(7, ((1, 4), (2,), (3,))), "2"))
    2
    """
    question = answer.question
    if isinstance(question, WhichGroup):
        return int(answer.choice) if answer.choice.isdecimal() else len(question.groups)
    return max(1, *(len(question.links(choice)) for choice in question.choices()))


def costs(answers: Sequence[Answer]) -> dict[str, float]:
    """Pairs compared for all answers, and the modelled seconds of the person."""
    seconds = sum((expected_seconds(a.question, a.choice) for a in answers), 0.0)
    return {"pairs": sum(map(comparisons, answers)), "person_seconds": round(seconds, 1)}
