"""History: what earlier grids found, by which later ones are judged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from samekind.constraints import Constraints
from samekind.questions import AllLike, Answer, OddOnes

N_LATEST = 4
"""Reviews and searches of each form that count."""
PRIOR_ITEMS = 2.0
"""Items that the expectation weighs."""
EXPECTED_BELONGING, EXPECTED_NAMED = 0.7, 0.25
"""Shares that are expected before anything was asked."""


@dataclass(frozen=True)
class History:
    """Shares of the items in recent grids that were of the kind asked about.

    Parameters
    ----------
    belonging : of items shown as members of a group. named : of items that were searched.
    n_grids : grids so far.
    """

    belonging: float
    named: float
    n_grids: int

    @classmethod
    def of(cls, known: Constraints) -> History:
        """Judge the latest grids that the person answered."""
        told = [a for a in known.answers if a.links and isinstance(a.question, AllLike | OddOnes)]
        latest = list(reversed(told))
        reviews = [a for a in latest if isinstance(a.question, OddOnes)]
        searches = [a for a in latest if isinstance(a.question, AllLike)]
        return cls(_share(reviews, EXPECTED_BELONGING), _share(searches, EXPECTED_NAMED), len(told))


def unseen_share(known: Constraints) -> float:
    """Good-Turing estimate of the share of items whose kind was not seen yet: of the placed items,
    the share that is alone in its kind."""
    sizes = [len(kind) for kind in known.kinds]
    return sizes.count(1) / sum(sizes) if sizes else 1.0


def _share(answers: list[Answer], expected: float) -> float:
    """The share that belonged, shrunk towards what is expected."""
    belonged, shown = PRIOR_ITEMS * expected, PRIOR_ITEMS
    for answer in islice(answers, N_LATEST):
        belonged += sum(link.same for link in answer.links)
        shown += len(answer.links)
    return belonged / shown
