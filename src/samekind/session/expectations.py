"""Expectations: the answer that the groups imply, noted with each question before it is asked.

Compared with the answers they tell how good the groups are. They are kept in the ledger, so that
the past need not be recomputed, and an answer that is changed later is compared anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.questions import UNSURE, Expectation, Question
from samekind.session.members import sureness

MAX_COMPARED_ITEMS = 5000
"""Items with which the clearness of one is compared; more would say the same."""


def with_expectations(
    questions: Sequence[Question], clustering: Clustering
) -> tuple[Question, ...]:
    """The same questions, each with the answer that these groups imply."""
    return tuple(replace(q, expected=expectation(q, clustering)) for q in questions)


def expectation(question: Question, clustering: Clustering) -> Expectation | None:
    """The answer that the groups imply; None for changes by hand and items that are gone."""
    labels = clustering.labels
    if question.by_hand or max(question.items()) >= len(labels):
        return None
    choice = question.truthful(lambda a, b: bool(labels[a] == labels[b]))
    if choice == UNSURE:
        return None
    asked = [i for part in question.parts() for i in part] or list(question.items())
    return Expectation(choice, round(float(clearness(clustering, np.array(asked)).min()), 4))


def clearness(clustering: Clustering, items: NDArray[np.intp]) -> NDArray[np.float64]:
    """Share of all items whose group is less clear than that of each of these; ties count half."""

    def computed() -> NDArray[np.float32]:
        n = len(clustering.labels)
        step = max(1, n // MAX_COMPARED_ITEMS)
        return np.sort(sureness(clustering)[::step])

    compared = clustering.memo("compared-sureness", computed)
    own = sureness(clustering)[items]
    below = np.searchsorted(compared, own, side="left")
    return np.asarray((below + np.searchsorted(compared, own, side="right")) / (2 * len(compared)))
