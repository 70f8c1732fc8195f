"""Acts: what a person does to groups by hand, as answers like all others.

An act is a question that the person put himself, with its answer. It speaks of items, never of
group numbers, so it stays true when the groups are learnt again. A group is named by items that
the person placed there, where there are any; else by those of its members that are most typical
of it, and as few as will do: the others are only guessed to belong there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import YES, Belongs, Elsewhere, OneKind, OwnKind, Question
from samekind.session import Session
from samekind.session.members import by_typicality

MOST = 5_000
"""Items that one act may name."""
SHOWN = 5
"""Items by which a group is shown."""
WHOLE = 2_500
"""Members that are named when a group without answers is meant as a whole. Fewer would not do: a
learner that knows nothing else keeps the others where they were."""


@dataclass(frozen=True)
class Act:
    """A question that a person put, to be answered with "yes", and what that does in words."""

    question: Question
    words: str


def perform(session: Session, act: Act, *, by: str = "me") -> int:
    """Keep an act in the ledger, once however often it is sent; the number of its question."""
    for told in reversed(session.answers):
        if told.question == act.question and told.choice == YES:
            return told.number
    return session.volunteer(act.question, YES, by=by)


def merge(session: Session, a: int, b: int) -> Act:
    """Two groups are one kind."""
    if a == b:
        raise InputError(f"Group {a} cannot be merged with itself. Name two groups.")
    groups = _Groups(session)
    parts = (groups.whole(a), groups.whole(b))
    names = f"{groups.name(a)} and {groups.name(b)}"
    return Act(OneKind(parts, why=f"You merged {names}."), f"{names} are one kind.")


def split(session: Session, group: int, items: Sequence[int]) -> Act:
    """Items of a group are a kind of their own, apart from the rest of it and all other groups."""
    own, groups = _checked(session, items), _Groups(session)
    groups.check(group)
    if (session.clustering.labels[list(own)] != group).any():
        raise InputError(
            f"Some of these items are not in {groups.name(group)} any more. Look at the groups "
            "again and choose the items anew."
        )
    rest = groups.exemplars(group, WHOLE, without=own)
    if not rest:
        raise InputError(
            f"These are all the items of {groups.name(group)}, so there is nothing to split them "
            "from. Leave some out, or name the group instead."
        )
    others = groups.all_but(group, without=own)
    why = f"You split {_count(own)} off {groups.name(group)}."
    words = f"{_count(own, capital=True)} of {groups.name(group)} {_are(own)} a kind of "
    words += f"{'its' if len(own) == 1 else 'their'} own."
    return Act(OwnKind((own, rest, *others), why=why), words)


def move(session: Session, items: Sequence[int], to: int) -> Act:
    """Items belong to another group."""
    moved, groups = _checked(session, items), _Groups(session)
    groups.check(to)
    group = groups.target(to, moved)
    if not group:
        raise InputError(f"{groups.name(to)} has no other items. Choose another group.")
    left = [] if groups.is_known(to) else groups.left_behind(moved, but=(*moved, *group))
    why = f"You put {_count(moved)} into {groups.name(to)}."
    words = f"{_count(moved, capital=True)} belong{'s' if len(moved) == 1 else ''} to "
    return Act(Belongs((moved, group, *left), why=why), f"{words}{groups.name(to)}.")


def out(session: Session, items: Sequence[int]) -> Act:
    """Items do not belong to the groups that they are in."""
    odd, groups = _checked(session, items), _Groups(session)
    cases: list[tuple[int, ...]] = []
    for group in groups.of(odd):
        stands_for = groups.exemplars(group, groups.named_by(group), without=odd)
        if not stands_for:
            raise InputError(
                f"{groups.name(group)} has no other items, so nothing can be taken out of it. "
                "Move its items to another group instead."
            )
        cases += [stands_for, groups.within(odd, group)]
    names = " and ".join(groups.name(group) for group in groups.of(odd)[:3])
    why = f"You took {_count(odd)} out of {names}."
    words = f"{_count(odd, capital=True)} {'does' if len(odd) == 1 else 'do'} not belong to {names}"
    return Act(Elsewhere(tuple(cases), why=why), f"{words}.")


def together(session: Session, items: Sequence[int]) -> Act:
    """Items are one kind, whatever groups they are in."""
    one = _checked(session, items)
    if len(one) < 2:
        raise InputError("One item alone is always one kind. Name two or more.")
    why = f"You put {_count(one)} together."
    return Act(OneKind((one,), why=why), f"{_count(one, capital=True)} are one kind.")


class _Groups:
    """The groups as they stand, and the items by which each is named."""

    def __init__(self, session: Session) -> None:
        self.clustering, self.known = session.clustering, session.constraints
        labels = self.clustering.labels
        self.kinds = {int(labels[kind[0]]): kind for kind in self.known.kinds}
        """By group, the items of the kind told apart that it has grown from."""

    def check(self, group: int) -> None:
        if group not in self.clustering.numbers:
            raise InputError(f"There is no group {group}; it may have gone in the last refresh.")

    def name(self, group: int) -> str:
        return self.clustering.name(group)

    def is_known(self, group: int) -> bool:
        """Whether the answers have told this group apart from others."""
        return group in self.kinds

    def of(self, items: Sequence[int]) -> list[int]:
        """The groups of some items, in the order of the items."""
        return list(dict.fromkeys(self.clustering.labels[list(items)].tolist()))

    def within(self, items: Sequence[int], group: int) -> tuple[int, ...]:
        return tuple(i for i in items if self.clustering.labels[i] == group)

    def exemplars(self, group: int, n: int, *, without: Collection[int]) -> tuple[int, ...]:
        """The most typical of the items placed in a group, or of all where there are none."""
        members = by_typicality(self.clustering, group)
        members = members[~np.isin(members, list(without))]
        placed = self._placed(group, members)
        return _plain(placed if len(placed) else members, n)

    def whole(self, group: int) -> tuple[int, ...]:
        """Items that stand for a group as a whole: what was told of it, or else all of them."""
        self.check(group)
        members = by_typicality(self.clustering, group)
        placed = self._placed(group, members)
        if len(placed):
            return _plain(placed, SHOWN)
        return _plain(members, WHOLE)

    def target(self, group: int, moved: Sequence[int]) -> tuple[int, ...]:
        """Items that name a group others are moved to: without answers, more than are moved."""
        n = SHOWN if self.is_known(group) else min(WHOLE, max(SHOWN, 2 * len(moved)))
        return self.exemplars(group, n, without=moved)

    def left_behind(self, items: Sequence[int], *, but: Collection[int]) -> list[tuple[int, ...]]:
        """One item each for those groups of some items that answers have told apart."""
        found = (self.exemplars(g, 1, without=but) for g in self.of(items) if self.is_known(g))
        return [one for one in found if one]

    def named_by(self, group: int) -> int:
        """How many items name a group: one that was placed there, or several others."""
        return 1 if self.is_known(group) else SHOWN

    def all_but(self, group: int, *, without: Collection[int]) -> list[tuple[int, ...]]:
        """A few items each for all other groups.

        Of a group that no answer has told apart yet more are named, the more has been told of
        others: it is as much a group as they are.
        """
        others = [g for g in self.clustering.numbers if g != group]
        guessed = sum(not self.is_known(g) for g in others)
        told = len(self.known.touched) + len(without)
        n = int(np.clip(-(-(told + 1) // max(guessed, 1)), 1, 4 * SHOWN))
        found = (self.exemplars(g, 1 if self.is_known(g) else n, without=without) for g in others)
        return [some for some in found if some]

    def _placed(self, group: int, members: NDArray[np.intp]) -> NDArray[np.intp]:
        kind = self.kinds.get(group)
        return members[:0] if kind is None else members[np.isin(members, kind)]


def _checked(session: Session, items: Sequence[int]) -> tuple[int, ...]:
    """The items, each once, in the order given."""
    n = len(session.collection)
    once = tuple(dict.fromkeys(int(i) for i in items))
    if not 1 <= len(once) <= MOST:
        raise InputError(f"An act names 1 to {MOST:,} items; {len(once):,} came.")
    if min(once) < 0 or max(once) >= n:
        wrong = next(i for i in once if not 0 <= i < n)
        raise InputError(f"There is no item at place {wrong}; the places are 0 to {n - 1}.")
    return once


def _plain(items: NDArray[np.intp], n: int) -> tuple[int, ...]:
    return tuple(items[:n].tolist())


def _count(items: Sequence[int], *, capital: bool = False) -> str:
    one = "One item" if capital else "one item"
    return one if len(items) == 1 else f"{len(items):,} items"


def _are(items: Sequence[int]) -> str:
    return "is" if len(items) == 1 else "are"
