"""Value: items between groups, with many similar ones, unlike those asked before (IDC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.compute import as_tensor, check_torch, one_thread
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Question, WhichGroup
from samekind.strategies.pairs.candidates import have_unit_length
from samekind.strategies.value.greedy import Greedy
from samekind.strategies.value.mining import hardness, representativeness, unit
from samekind.strategies.value.questions import Groups, centres_of, check_shown

Floats = NDArray[Any]


@dataclass(frozen=True)
class Value:
    """Items between groups, with many similar ones, unlike those asked before (IDC).

    Each is asked once: which of these groups does it belong to? Items asked before count as picked,
    so that diversity is measured from them too, even after a refit has changed the groups.

    Parameters
    ----------
    hard, rep, div : whether hardness (Eq. 2), representativeness (Eq. 3) and diversity (Eq. 4)
        count. Without any of them items are picked at random.
    shown : number of nearest groups that a question shows.
    neighbours : number of neighbours that determine how representative an item is.
    include_self : count an item among its own neighbours, as the published program does (I6).
    exemplars : number of items that represent a group. The first is nearest to its centre; others
        are shown only if they are known to be the same kind.
    keep : keep the representative of a group as long as it is in the group, so that all answers
        about a group refer to one item.
    exact : whether neighbours are exact; None: on a GPU and in small sets.
    """

    hard: bool = True
    rep: bool = True
    div: bool = True
    shown: int = WhichGroup.usual_groups
    neighbours: int = 20
    include_self: bool = False
    exemplars: int = 4
    keep: bool = True
    exact: bool | None = None

    def __post_init__(self) -> None:
        check_shown(self.shown)

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Ask about the `n` most valuable items; fewer if fewer are left."""
        picks = view.clustering.memo(("value", self, view.seed), lambda: self._picks(view))
        return picks.questions(view, n)

    def _picks(self, view: View) -> _Picks:
        check_torch(f"The strategy {type(self).__name__}")
        z = self._points(view.clustering)
        centres = centres_of(z, view.clustering.labels, view.clustering.numbers)
        return _Picks(self, z, Groups.of(z, centres), self._worth(view, z, centres))

    def _points(self, clustering: Clustering) -> Floats:
        """(n, d) unit vectors; plain ones are centred first."""
        return clustering.memo("value points", lambda: _points(clustering.space))

    def _worth(self, view: View, z: Floats, centres: Floats) -> Floats:
        """(n,) the value of each item without diversity."""
        if not (self.hard or self.rep or self.div):
            chance = np.random.default_rng((view.seed, 20241210))
            return np.asarray(-chance.permutation(len(z)), dtype=np.float64)
        worth = np.zeros(len(z))
        if self.hard:
            worth += hardness(z, centres)
        if self.rep:
            key = ("value neighbours", self.neighbours, self.include_self, self.exact)
            worth += view.clustering.memo(
                key,
                lambda: representativeness(z, self.neighbours, self.include_self, exact=self.exact),
            )
        return worth

    def _why(self) -> str:
        parts = []
        if self.hard:
            parts.append("it lies between groups")
        if self.rep:
            parts.append("many items are similar to it")
        if self.div:
            parts.append("nothing similar was asked before")
        if not parts:
            return "Picked at random."
        *others, last = parts
        reasons = f"{', '.join(others)} and {last}" if others else last
        return f"{reasons[0].upper()}{reasons[1:]}."


@dataclass(frozen=True)
class ValueHard(Value):
    """Items that lie between groups, and nothing else (IDC's first ablation)."""

    rep: bool = False
    div: bool = False


@dataclass(frozen=True)
class ValueHardRep(Value):
    """Items between groups with many similar ones, without diversity (IDC's second ablation)."""

    div: bool = False


@dataclass(frozen=True)
class ValueRandom(Value):
    """Random items, asked like `value`: the baseline of value mining."""

    hard: bool = False
    rep: bool = False
    div: bool = False


@dataclass
class _Picks:
    """The picks of one snapshot, continued from question to question.

    A cache: it makes questions faster, but never changes them.
    """

    strategy: Value
    z: Floats
    groups: Groups
    worth: Floats
    seen: set[int] = field(default_factory=set)
    greedy: Greedy | None = None
    made: tuple[Constraints, tuple[Question, ...], list[WhichGroup]] | None = None

    def questions(self, view: View, n: int) -> tuple[WhichGroup, ...]:
        """The next `n` questions; the same as before if no answer was given since."""
        made = self.made
        if made is None or made[0] is not view.constraints or made[1] != view.passed:
            made = (view.constraints, view.passed, [])
        if len(made[2]) < n:
            with one_thread():  # the products of one pick are small
                self.made = (*made[:2], self._picked(view, n))
            made = self.made
        return tuple(made[2][:n])

    def _picked(self, view: View, n: int) -> list[WhichGroup]:
        known, why = view.constraints, self.strategy._why()
        ahead = self._after(asked_items(known, view.passed, len(self.z))).copy()
        groups = self.groups
        if self.strategy.keep:
            groups = groups.with_first(self._earlier_representatives(view))
        found: list[WhichGroup] = []
        while len(found) < n and (best := ahead.best()) is not None:
            question = groups.question(
                self.z, best[0], self.strategy.shown, known,
                exemplars=self.strategy.exemplars, why=why,
            )  # fmt: skip
            if question is None:
                ahead.leave_out(best[0])
                continue
            found.append(question)
            ahead.take(best[0])
        return found

    def _after(self, asked: set[int]) -> Greedy:
        """The state in which exactly these items are picked."""
        if self.greedy is None or not self.seen <= asked:  # new, or an answer was undone
            z = as_tensor(self.z)
            self.greedy, self.seen = (
                Greedy(z, self.worth, diversity=float(self.strategy.div)),
                set(),
            )
        for item in sorted(asked - self.seen):
            self.greedy.take(item)
        self.seen = asked
        self.greedy.best()  # update the values here, where they are kept
        return self.greedy

    def _earlier_representatives(self, view: View) -> list[list[int]]:
        """For each group its earlier representatives that are still in it, central ones first."""
        clustering = view.clustering
        place = {number: k for k, number in enumerate(clustering.numbers)}
        found: list[list[int]] = [[] for _ in place]
        for who in representatives(view.constraints, len(self.z)):
            found[place[int(clustering.labels[who])]].append(who)
        towards = self.groups.centres
        return [
            sorted(some, key=lambda who: (-round(float(self.z[who] @ towards[k]), 6), who))
            for k, some in enumerate(found)
        ]


def asked_items(known: Constraints, passed: Sequence[Question], n: int) -> set[int]:
    """Items that were asked about or passed on, without those that only represented a group."""
    found: set[int] = set()
    for question in (*(answer.question for answer in known.answers), *passed):
        alone = set(question.items())
        for choice in question.choices():
            alone -= set(question.exemplars(choice))
        found |= alone
    return {item for item in found if item < n}


def representatives(known: Constraints, n: int) -> set[int]:
    """Items that represented a group in an answered question."""
    found: set[int] = set()
    for answer in known.answers:
        shown = map(answer.question.exemplars, answer.question.choices())
        if answer.links:
            found |= {some[0] for some in shown if some and some[0] < n}
    return found


def _points(space: Floats) -> Floats:
    """Unit rows. Plain vectors mostly lie to one side of the origin, so they are centred first."""
    centred = space if have_unit_length(space) else space - space.mean(axis=0)
    return np.asarray(unit(centred), dtype=np.float32)
