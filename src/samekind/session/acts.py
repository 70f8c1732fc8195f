"""Acts: changes that a person makes to groups by hand, recorded as ordinary answers.

An act is a question that was not asked, with its answer. It is about items and not group numbers,
so it stays valid across refits. A group is represented by items that the person placed there, or
else by as few of its most typical members as suffice: the others are only guessed to belong there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import YES, Belongs, ByHand, Elsewhere, OneKind, OwnKind
from samekind.session import Session
from samekind.session.members import by_typicality

MAX_ITEMS = 5_000
"""Items that one act may name."""
N_EXEMPLARS = 5
"""Items that represent a group with answers."""
MAX_MEMBERS = 2_500
"""Members that represent a whole group without answers. With fewer, a learner that knows nothing
else would keep the others where they are."""


@dataclass(frozen=True)
class Act:
    """A question to be answered with "yes", and the effect of that in words.

    Parameters
    ----------
    verb : what the person does, as on a button: "Merge".
    """

    question: ByHand
    words: str
    verb: str


def perform(session: Session, act: Act, *, by: str = "me") -> int:
    """Record an act in the ledger, once however often it is sent; returns its question's number.

    It outranks single answers: see :mod:`samekind.session.precedence`.
    """
    if (number := performed(session, act)) is not None:
        return number
    weighed = session.precedence.weigh(act.question)
    return session.volunteer(weighed.question, YES, by=by, aside=weighed.aside)


def performed(session: Session, act: Act) -> int | None:
    """The number of an act that has been performed already; None: it has not."""
    wanted = act.question
    for answer in reversed(session.answers):
        question = answer.question
        if not isinstance(question, ByHand) or answer.choice != YES:
            continue
        if question.kind == wanted.kind and question.given[: len(wanted.given)] == wanted.given:
            return answer.number
    return None


def merge(session: Session, *numbers: int) -> Act:
    """Merge two or more groups."""
    if len(numbers) < 2 or len(set(numbers)) < len(numbers):
        listed = ", ".join(map(str, numbers)) or "none"
        raise InputError(f"Expected at least 2 different groups to merge, got {listed}.")
    groups = _Groups(session)
    parts = tuple(groups.whole(number) for number in numbers)
    names = _listed([groups.name(number) for number in numbers])
    return Act(OneKind(parts, why=f"You merged {names}."), f"{names} are the same kind.", "Merge")


def split(session: Session, group: int, items: Sequence[int]) -> Act:
    """Split items off a group, as a kind that differs from the rest of it and all other groups."""
    own, groups = _checked(session, items), _Groups(session)
    groups.check(group)
    if (session.clustering.labels[list(own)] != group).any():
        raise InputError(
            f"Some of these items are no longer in {groups.name(group)}. Reload the groups and "
            "choose the items again."
        )
    rest = groups.exemplars(group, MAX_MEMBERS, without=own)
    if not rest:
        raise InputError(
            f"These are all the items of {groups.name(group)}, so nothing would be left in it. "
            "Choose fewer items, or name the group instead."
        )
    others = groups.all_but(group, without=own)
    why = f"You split {_count(own)} off from {groups.name(group)}."
    words = f"{_count(own, capital=True)} of {groups.name(group)} {_are(own)} a kind of "
    words += f"{'its' if len(own) == 1 else 'their'} own."
    return Act(OwnKind((own, rest, *others), why=why), words, "Split")


def move(session: Session, items: Sequence[int], to: int) -> Act:
    """Move items to another group."""
    moved, groups = _checked(session, items), _Groups(session)
    groups.check(to)
    group = groups.target(to, moved)
    if not group:
        raise InputError(f"{groups.name(to)} has no other items. Choose another group.")
    left = [] if groups.is_known(to) else groups.left_behind(moved, but=(*moved, *group))
    why = f"You moved {_count(moved)} to {groups.name(to)}."
    words = f"{_count(moved, capital=True)} belong{'s' if len(moved) == 1 else ''} to "
    return Act(Belongs((moved, group, *left), why=why), f"{words}{groups.name(to)}.", "Move")


def out(session: Session, items: Sequence[int]) -> Act:
    """Take items out of the groups that they are in."""
    odd, groups = _checked(session, items), _Groups(session)
    cases: list[tuple[int, ...]] = []
    for group in groups.of(odd):
        exemplars = groups.exemplars(group, groups.n_exemplars(group), without=odd)
        if not exemplars:
            raise InputError(
                f"{groups.name(group)} has no other items, so nothing can be taken out of it. "
                "Move its items to another group instead."
            )
        cases += [exemplars, groups.within(odd, group)]
    names = " and ".join(groups.name(group) for group in groups.of(odd)[:3])
    why = f"You took {_count(odd)} out of {names}."
    words = f"{_count(odd, capital=True)} {'does' if len(odd) == 1 else 'do'} not belong to {names}"
    return Act(Elsewhere(tuple(cases), why=why), f"{words}.", "Remove")


def together(session: Session, items: Sequence[int]) -> Act:
    """Put items together as one kind, whatever groups they are in."""
    one = _checked(session, items)
    if len(one) < 2:
        raise InputError("Expected at least 2 items to put together, got 1. Choose more items.")
    why = f"You put {_count(one)} together."
    words = f"{_count(one, capital=True)} are the same kind."
    home, others = _by_home(session, one)
    if others:  # of several kinds: those of the smaller ones join the others
        return Act(Belongs((others, home), why=why), words, "Put together")
    return Act(OneKind((one,), why=why), words, "Put together")


class _Groups:
    """The current groups, and the items that represent each of them."""

    def __init__(self, session: Session) -> None:
        self.clustering, self.known = session.clustering, session.constraints
        labels = self.clustering.labels
        self.kinds = {int(labels[kind[0]]): kind for kind in self.known.kinds}
        """By group, the items of the kind that it has grown from."""

    def check(self, group: int) -> None:
        if group not in self.clustering.numbers:
            raise InputError(
                f"There is no group {group}. It may have disappeared in the last refit: reload the "
                "groups."
            )

    def name(self, group: int) -> str:
        return self.clustering.name(group)

    def is_known(self, group: int) -> bool:
        """Whether answers have told this group apart from others."""
        return group in self.kinds

    def of(self, items: Sequence[int]) -> list[int]:
        """The groups of some items, in the order of the items."""
        return list(dict.fromkeys(self.clustering.labels[list(items)].tolist()))

    def within(self, items: Sequence[int], group: int) -> tuple[int, ...]:
        return tuple(i for i in items if self.clustering.labels[i] == group)

    def exemplars(self, group: int, n: int, *, without: Collection[int]) -> tuple[int, ...]:
        """The most typical of the items placed in a group, or of all members if there are none."""
        members = by_typicality(self.clustering, group)
        members = members[~np.isin(members, list(without))]
        placed = self._placed(group, members)
        return _plain(placed if len(placed) else members, n)

    def whole(self, group: int) -> tuple[int, ...]:
        """Items that represent a whole group: those with answers, or else all members."""
        self.check(group)
        members = by_typicality(self.clustering, group)
        if self.is_known(group):
            members = members[np.isin(members, self.known.touched)]
        return _plain(members, MAX_MEMBERS)

    def target(self, group: int, moved: Sequence[int]) -> tuple[int, ...]:
        """Items that represent the target of a move: without answers, more than are moved."""
        n = min(MAX_MEMBERS, max(N_EXEMPLARS, 2 * len(moved)))
        return self.exemplars(group, N_EXEMPLARS if self.is_known(group) else n, without=moved)

    def left_behind(self, items: Sequence[int], *, but: Collection[int]) -> list[tuple[int, ...]]:
        """One item of each group that these items leave and that answers have told apart."""
        found = (self.exemplars(g, 1, without=but) for g in self.of(items) if self.is_known(g))
        return [one for one in found if one]

    def n_exemplars(self, group: int) -> int:
        """Number of items that represent a group: one that was placed there, or several others."""
        return 1 if self.is_known(group) else N_EXEMPLARS

    def all_but(self, group: int, *, without: Collection[int]) -> list[tuple[int, ...]]:
        """A few items of every other group.

        A group that no answer has told apart yet is represented by more items, the more items of
        other groups were answered about, so that it counts as much as they do.
        """
        others = [g for g in self.clustering.numbers if g != group]
        guessed = sum(not self.is_known(g) for g in others)
        answered = len(self.known.touched) + len(without)
        n = int(np.clip(-(-(answered + 1) // max(guessed, 1)), 1, 4 * N_EXEMPLARS))
        found = (self.exemplars(g, 1 if self.is_known(g) else n, without=without) for g in others)
        return [some for some in found if some]

    def _placed(self, group: int, members: NDArray[np.intp]) -> NDArray[np.intp]:
        kind = self.kinds.get(group)
        return members[:0] if kind is None else members[np.isin(members, kind)]


def _by_home(session: Session, items: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The items of the kind that most of them are known to be, and those known to differ.

    Items of which nothing is known belong to the former.
    """
    known = session.constraints
    kinds = [set(kind.tolist()) for kind in known.kinds]
    homes = [next((k for k, kind in enumerate(kinds) if i in kind), -1) for i in items]
    counts = Counter(home for home in homes if home >= 0)
    if len(counts) < 2:
        return tuple(items), ()
    main = counts.most_common(1)[0][0]
    stay = tuple(i for i, home in zip(items, homes, strict=True) if home in (main, -1))
    return stay, tuple(i for i, home in zip(items, homes, strict=True) if home not in (main, -1))


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _checked(session: Session, items: Sequence[int]) -> tuple[int, ...]:
    """The items, each once, in the order given."""
    n = len(session.collection)
    once = tuple(dict.fromkeys(int(i) for i in items))
    if not 1 <= len(once) <= MAX_ITEMS:
        raise InputError(f"Expected 1 to {MAX_ITEMS:,} items, got {len(once):,}. Choose fewer.")
    if min(once) < 0 or max(once) >= n:
        wrong = next(i for i in once if not 0 <= i < n)
        raise InputError(f"Expected item positions from 0 to {n - 1}, got {wrong}.")
    return once


def _plain(items: NDArray[np.intp], n: int) -> tuple[int, ...]:
    return tuple(items[:n].tolist())


def _count(items: Sequence[int], *, capital: bool = False) -> str:
    one = "One item" if capital else "one item"
    return one if len(items) == 1 else f"{len(items):,} items"


def _are(items: Sequence[int]) -> str:
    return "is" if len(items) == 1 else "are"
