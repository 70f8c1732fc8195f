"""The review queue: the items most likely to be wrong, a group at a time, until none are left.

About as many items are reviewed as are probably wrong, least clear first, and more for every wrong
one that is found. What is confirmed is answered, so the queue ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import UNSURE, OddOnes, joined, named
from samekind.session.members import by_typicality, sureness
from samekind.session.review import doubtful_answers

if TYPE_CHECKING:
    from samekind.session import Session

N_EXEMPLARS = 3
MORE_PER_WRONG = 2
"""Further items to review for each one that was found to be wrong."""


@dataclass(frozen=True)
class Batch:
    """Items of one group to look at together, the most doubtful first.

    Parameters
    ----------
    group : its number. exemplars : items that represent it. items : those to confirm.
    """

    group: int
    exemplars: tuple[int, ...]
    items: tuple[int, ...]


@dataclass(frozen=True)
class Review:
    """What is left to review.

    Parameters
    ----------
    headline : "About 98 % right, 11 to review".
    items : how many items; None while nothing can be said about the quality.
    contradictions, answers : contradicting answers, and answers worth another look.
    batch : the items to look at now; None if there are none.
    """

    headline: str
    items: int | None
    contradictions: int
    answers: int
    batch: Batch | None

    @property
    def done(self) -> bool:
        """Whether nothing is left to review."""
        return self.items == 0 and not self.contradictions and not self.answers


def review(session: Session) -> Review:
    """Find out what is left to review."""
    left = items_left(session)
    contradictions = len(session.constraints.conflicts)
    answers = len(doubtful_answers(session))
    total = (left or 0) + contradictions + answers
    batch = _batch(session, left) if left else None
    return Review(_headline(session, total), left, contradictions, answers, batch)


def items_left(session: Session) -> int | None:
    """Number of items that are still worth a look; None while nothing can be said."""
    accuracy = session.quality
    if accuracy is None:
        return None
    seen, wrong = _reviewed(session)
    wanted = math.ceil((1 - accuracy.share) * len(session.collection)) + MORE_PER_WRONG * wrong
    return min(max(0, wanted - seen), len(_unanswered(session)))


def confirm(session: Session, batch: Batch, wrong: tuple[int, ...], *, by: str = "me") -> int:
    """Record that the items of a batch belong to their group, but for the wrong ones.

    Returns the number of the answer, which can be undone like any other.
    """
    n = len(session.collection)
    shown = (*batch.exemplars, *batch.items)
    if not batch.exemplars or not batch.items or not all(0 <= i < n for i in shown):
        raise InputError("Expected items of the collection and exemplars of their group.")
    if not set(wrong) <= set(batch.items):
        raise InputError("Expected the wrong items among those that are reviewed.")
    question = OddOnes(batch.exemplars, batch.items, why="You reviewed these.")
    choice = joined(k + 1 for k, item in enumerate(batch.items) if item in wrong)
    for answer in reversed(session.answers):  # sent twice
        if (answer.question, answer.choice) == (question, choice):
            return answer.number
    return session.volunteer(question, choice, by=by)


def _headline(session: Session, total: int) -> str:
    found = session.statement.as_json()
    if found is None:
        return f"{total:,} to review" if total else "Answer a few more questions first"
    share = str(found["words"]).split(" (")[0]
    return f"{share}, {total:,} to review" if total else f"{share}, nothing left to review"


def _reviewed(session: Session) -> tuple[int, int]:
    """Items that were reviewed in grids so far, and how many of them were wrong."""
    seen, wrong = set[int](), 0
    for answer in session.answers:
        if isinstance(answer.question, OddOnes) and answer.choice != UNSURE:
            seen.update(answer.question.shown)
            wrong += len(named(answer.choice))
    return len(seen), wrong


def _unanswered(session: Session) -> NDArray[np.intp]:
    everything = np.arange(len(session.collection))
    return np.setdiff1d(everything, session.constraints.touched)


def _batch(session: Session, left: int) -> Batch | None:
    clustering = session.clustering
    rest = _unanswered(session)
    order = rest[np.lexsort((rest, sureness(clustering)[rest]))][:left]
    groups = dict.fromkeys(clustering.labels[order].tolist())  # the most doubtful first
    found = (_batch_of(session, int(group), order) for group in groups)
    return next((batch for batch in found if batch is not None), None)


def _batch_of(session: Session, group: int, order: NDArray[np.intp]) -> Batch | None:
    """The doubtful items of a group; None if there is nothing to compare them with."""
    clustering = session.clustering
    items = order[clustering.labels[order] == group][: OddOnes.max_shown]
    typical = by_typicality(clustering, group)
    typical = typical[~np.isin(typical, items)]
    placed = typical[np.isin(typical, session.constraints.touched)]
    exemplars = (placed if len(placed) else typical)[:N_EXEMPLARS]
    if not len(exemplars):  # a group of doubtful items only
        exemplars, items = items[-1:], items[:-1]
    if not len(items):
        return None
    return Batch(group, tuple(exemplars.tolist()), tuple(items.tolist()))
