"""Check the labels of a whole pile: a person judges items drawn at random from all rows.

A check is a session: the same ask and tell, ledger, terminal and simulated people. Its items are
the drawn ones and a few that show each group; its groups are the labels and do not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from samekind.bulk.check import drawn_rows, exemplar_rows
from samekind.bulk.labels import Labels, open_labels
from samekind.bulk.sampled_pile import SampledCollection
from samekind.bulk.vector_store import VectorStore
from samekind.errors import StateError
from samekind.protocols import View
from samekind.questions import NONE, UNSURE, Question, WhichGroup
from samekind.questions.wording import plural
from samekind.session import Session
from samekind.session.quality import interval

if TYPE_CHECKING:
    from samekind.constraints import Constraints
    from samekind.protocols import Store

NEVER = 1 << 30
"""Answers after which the groups would be learnt again: a check does not change them."""


@dataclass(frozen=True)
class Share:
    """The share of right labels among items that were judged, with its 95 % interval."""

    judged: int
    right: int

    @property
    def bounds(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for the share among all items."""
        return interval(self.right, self.judged) if self.judged else (0.0, 1.0)


@dataclass(frozen=True)
class CheckResult:
    """What a check says about a whole pile so far.

    Parameters
    ----------
    rows : items of the pile. drawn : items that were drawn from them.
    all : the judged items. fitting : those of them that were said to fit a group.
    unsure : items about which the person was not sure; they are left out.
    alone : items whose group has no others, so that nothing shows what it is; left out as well.
    """

    rows: int
    drawn: int
    all: Share
    fitting: Share
    unsure: int
    alone: int

    @property
    def left(self) -> int:
        """Items that are still to be judged."""
        return self.drawn - self.all.judged - self.unsure - self.alone

    def describe(self) -> str:
        """The result in words for a person."""
        if not self.all.judged:
            return f"None of {plural(self.drawn, 'drawn item')} has been judged yet."
        low, high = self.all.bounds
        text = (
            f"{self.all.right} of {plural(self.all.judged, 'item')} drawn at random from "
            f"{self.rows:,} are in the right group: {_percent(low)} to {_percent(high)} % of all "
            "items are (95 % interval)."
        )
        if self.fitting.judged < self.all.judged:
            low, high = self.fitting.bounds
            text += (
                f" Of the {self.fitting.judged} that fit a group, {self.fitting.right} are: "
                f"{_percent(low)} to {_percent(high)} % of all such items."
            )
        if self.unsure:
            text += f" You were not sure about {self.unsure}, which are left out."
        if self.alone:
            items = plural(self.alone, "item is", "items are")
            text += f" {items} left out, because their groups have no others."
        more = plural(self.left, "drawn item is", "drawn items are")
        return f"{text} {more} left to judge." if self.left else text


@dataclass(frozen=True, eq=False)
class Check:
    """A check of labels under way.

    Parameters
    ----------
    session : asks about the drawn items, in the order in which they were drawn.
    rows : (m,) the row of each item of the session. fits : (m,) whether it was said to fit.
    """

    labels: Labels
    session: Session
    rows: NDArray[np.int64]
    fits: NDArray[np.bool_]
    n_rows: int
    drawn: int
    alone: int

    def result(self) -> CheckResult:
        """Return what the answers so far say."""
        judged = [
            (a.question.item, a.choice)
            for a in self.session.answers
            if isinstance(a.question, WhichGroup) and a.question.item < len(self.rows)
        ]
        sure = [(item, choice != NONE) for item, choice in judged if choice != UNSURE]
        fitting = [right for item, right in sure if self.fits[item]]
        return CheckResult(
            self.n_rows,
            self.drawn,
            Share(len(sure), sum(right for _, right in sure)),
            Share(len(fitting), sum(fitting)),
            len(judged) - len(sure),
            self.alone,
        )


def open_check(
    labels: str | Path,
    *,
    items: int = 100,
    vectors: str | None = None,
    store: Store | None = None,
    seed: int = 0,
) -> Check:
    """Open a check of labels, new or as it was left.

    The same labels and seed give the same items; with more `items` than last time it goes on.

    Parameters
    ----------
    items : how many are drawn from all rows.
    vectors : their store, if it has moved since.
    store : where the answers are kept; None keeps them in memory.
    """
    found = open_labels(labels)
    pile = VectorStore.open(vectors or found.facts["vectors"])
    n = _complete_rows(found, pile)
    drawn = drawn_rows(n, items, seed)
    shown = exemplar_rows(found, drawn)
    rows = np.concatenate([drawn, *(shown[group] for group in sorted(shown))])
    collection = SampledCollection.of(pile, rows)
    table = found.take(collection.rows, ["group", "fits"])
    groups = table.column("group").to_numpy()
    questions = _questions(found, collection, drawn, shown, groups)
    session = Session(
        collection,
        collection.vectors,
        store=store,
        name=_name(found, n, seed),
        clusterer=KnownGroups(groups),
        strategy=CheckQuestions(questions),
        seed=seed,
        refit_every=NEVER,
        settings={"check": found.path, "rows": n},
    )
    fits = table.column("fits").to_numpy(zero_copy_only=False)
    alone = items - len(questions)
    return Check(found, session, collection.rows, fits, n, items, alone)


class KnownGroups(BaseEstimator):  # type: ignore[misc]
    """A clusterer that has nothing to learn.

    Parameters
    ----------
    groups : (n,) the group of each item.
    """

    def __init__(self, groups: NDArray[Any]) -> None:
        self.groups = groups

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Return the groups, whatever the answers are."""
        self.labels_ = np.asarray(self.groups, dtype=np.intp)
        return self


@dataclass(frozen=True)
class CheckQuestions:
    """A strategy that asks given questions, in their order."""

    questions: tuple[Question, ...]

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Return the next ones that have no answer."""
        passed = set(view.passed)
        left = (
            question
            for question in self.questions
            if question not in passed and question.truthful(view.constraints.same) == UNSURE
        )
        return [question for question, _ in zip(left, range(n), strict=False)]


def _questions(
    labels: Labels,
    collection: SampledCollection,
    drawn: NDArray[np.int64],
    shown: Mapping[int, NDArray[np.int64]],
    groups: NDArray[Any],
) -> tuple[Question, ...]:
    """Ask for each drawn row whether it belongs to its group."""
    place = {row: position for position, row in enumerate(collection.rows.tolist())}
    names = labels.names()
    found: list[Question] = []
    for row in drawn.tolist():
        if row not in place:  # a later row has the same id
            continue
        group = int(groups[place[row]])
        exemplars = tuple(place[r] for r in shown.get(group, ()) if r in place)
        if not exemplars:
            continue
        why = f"Placed in {names[group]}. Drawn at random from all items."
        found.append(WhichGroup(place[row], (exemplars,), why=why, at_random=True))
    return tuple(found)


def _complete_rows(labels: Labels, pile: VectorStore) -> int:
    """Return the number of labels; raise unless every item has one."""
    ranges, n = labels.ranges(), len(pile)
    if ranges != [(0, n)]:
        raise StateError(
            f"Expected labels of all {n:,} rows of {pile.path!r}, got {len(labels):,} in "
            f"{labels.path!r}. Finish them: samekind predict FILE.orientation {pile.path} --out "
            f"{labels.path}"
        )
    return n


def _name(labels: Labels, n: int, seed: int) -> str:
    """Name the check by what it is about, so that other labels get a check of their own."""
    made = labels.facts
    return f"check {made['orientation_digest']}-{made['vectors_digest']} of {n}, seed {seed}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")
