"""Search: find more items like a few, with grid questions that follow each other.

A rare kind hardly ever comes up by itself. Someone who has seen one item of it can ask for more:
the items most like the examples are shown in a grid, those that are the same kind are tapped, and
the next grid is chosen with what was found, for as long as there is enough to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import AllLike, Question, named
from samekind.questions.all_like import SEARCH_WHY

if TYPE_CHECKING:
    from samekind.ledger.fold import Asked
    from samekind.session.session import Session

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_EXAMPLES = 5
"""Items that a search may begin with."""
N_EXEMPLARS = 4
"""Items shown for what is looked for."""
MIN_FOUND = 0.1
"""Share of a grid that was of the kind, from which on the search goes on."""
BACKGROUND_ITEMS = 1500
"""Random items that show what items look like in general."""
SHRINKAGE = 0.3
"""Share of the mean variance that is added in all directions."""
UNLIKE_WEIGHT = 0.5
"""How much what turned out different counts, against the items in general."""


def find_like(session: Session, items: Sequence[int], *, by: str | None = None) -> Asked:
    """Begin a search for more items like 1 to 5 examples; its first grid is the next question.

    Several examples are recorded as one kind. The search goes on by itself after each answer that
    names enough items, and ends with the first one that does not.
    """
    from samekind.session.acts import perform, together

    like = tuple(dict.fromkeys(int(i) for i in items))
    n = len(session.collection)
    if not 1 <= len(like) <= MAX_EXAMPLES or not all(0 <= i < n for i in like):
        raise InputError(
            f"Expected 1 to {MAX_EXAMPLES} items to look for, with positions from 0 to {n - 1}, "
            f"got {list(like)[: MAX_EXAMPLES + 1]}. Choose a few good examples."
        )
    if len(like) > 1 and session.constraints.same(like[0], like[1]) is not True:
        perform(session, together(session, like), by=by or "me")
    return session.put_first(_first_grid(session, like), by=by)


def is_search(question: Question) -> bool:
    """Whether a question belongs to a search."""
    return isinstance(question, AllLike) and question.search


def next_search(view: View) -> AllLike | None:
    """The next grid of a search, if the latest answer belongs to one that found enough."""
    known = view.constraints
    last = known.answers[-1] if known.n_answers else None
    question = None if last is None else last.question
    if last is None or not isinstance(question, AllLike) or not question.search:
        return None
    if len(named(last.choice)) < MIN_FOUND * len(question.shown):
        return None
    like = known.component(question.group[0])
    return _grid(view.clustering.space, like, known.touched, _told_apart(view, like))


def most_like(
    space: Floats, like: Ints, unlike: Ints, left_out: Ints, count: int, seed: int = 0
) -> Ints:
    """The items most like some, best first: a linear discriminant against items in general.

    Directions in which all items differ much say little (Hariharan, Malik and Ramanan,
    "Discriminative decorrelation for clustering and classification", ECCV 2012).
    """
    rng = np.random.default_rng(seed)
    some = space[rng.permutation(len(space))[:BACKGROUND_ITEMS]].astype(np.float64)
    mean = some.mean(axis=0)
    spread = np.cov(some - mean, rowvar=False).reshape(len(mean), len(mean))
    spread += (SHRINKAGE * np.trace(spread) / len(mean) + 1e-12) * np.eye(len(mean))
    wanted = space[like].astype(np.float64).mean(axis=0) - mean
    if len(unlike):
        wanted -= UNLIKE_WEIGHT * (space[unlike].astype(np.float64).mean(axis=0) - mean)
    score = space @ np.linalg.solve(spread, wanted).astype(space.dtype)
    score[left_out] = -np.inf
    best = np.argsort(-score, kind="stable")[:count]
    return np.asarray(best[np.isfinite(score[best])], dtype=np.intp)


def _first_grid(session: Session, like: Sequence[int]) -> AllLike:
    known = session.constraints
    found = np.unique(np.concatenate([known.component(i) for i in like]))
    grid = _grid(session.X.reshape(len(session.X), -1), found, known.touched, found[:0], like)
    if grid is None:
        raise InputError(
            "Expected items that nothing is known about yet, got none. Every item has an answer."
        )
    return grid


def _grid(
    space: Floats, like: Ints, touched: Ints, unlike: Ints, shown_first: Sequence[int] = ()
) -> AllLike | None:
    """A grid of the items most like some, without those that were asked about."""
    left_out = np.union1d(touched, like)
    best = most_like(space, like, unlike, left_out, AllLike.max_shown)
    if not len(best):
        return None
    group = tuple(dict.fromkeys((*shown_first, *like.tolist())))[:N_EXEMPLARS]
    return AllLike(group, tuple(best.tolist()), why=SEARCH_WHY, search=True)


def _told_apart(view: View, like: Ints) -> Ints:
    """Items of earlier grids of this search that turned out to be something else."""
    same = view.constraints.same
    shown = (
        item
        for answer in view.constraints.answers
        if isinstance(answer.question, AllLike) and answer.question.search
        for item in answer.question.shown
    )
    found = [i for i in dict.fromkeys(shown) if same(i, int(like[0])) is False]
    return np.array([i for i in found if i < view.constraints.n_items], dtype=np.intp)
