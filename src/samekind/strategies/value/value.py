"""Value: items between groups, with many others like them, unlike those asked before (IDC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.compute import as_tensor, one_thread
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Question, WhichGroup
from samekind.strategies.value.greedy import Greedy
from samekind.strategies.value.mining import hardness, representativeness, unit
from samekind.strategies.value.questions import Groups, centres_of, check_shown

Floats = NDArray[Any]


@dataclass(frozen=True)
class Value:
    """Items between groups, with many others like them, unlike those asked before (IDC).

    Each is asked once: which of these groups does it belong to? Items asked before count as picked,
    so that diversity is measured from them too, also after a refit has changed the groups.

    Parameters
    ----------
    hard, rep, div : whether hardness (Eq. 2), representativeness (Eq. 3) and diversity (Eq. 4)
        count. Without any of them items are drawn at random.
    shown : how many of the nearest groups a question shows.
    neighbours : how many of them say how representative an item is.
    include_self : count an item among its own neighbours, as the published program does (I6).
    exemplars : how many items show what a group is. The first is nearest to the middle of the
        group; others are shown only if they are known to be of its kind.
    keep : let who stood for a group before go on standing for it as long as it is in the group, so
        that the answers about a group speak of one item.
    exact : how neighbours are found; None: exactly on a GPU and in small sets.
    """

    hard: bool = True
    rep: bool = True
    div: bool = True
    shown: int = WhichGroup.max_groups
    neighbours: int = 20
    include_self: bool = False
    exemplars: int = 4
    keep: bool = True
    exact: bool | None = None

    def __post_init__(self) -> None:
        check_shown(self.shown)

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` most valuable items; fewer when fewer are left to ask about."""
        trail = view.clustering.memo(("value", self, view.seed), lambda: self._trail(view))
        return trail.questions(view, n)

    def _trail(self, view: View) -> _Trail:
        z = self._points(view.clustering)
        centres = centres_of(z, view.clustering.labels, view.clustering.numbers)
        return _Trail(self, z, Groups.of(z, centres), self._worth(view, z, centres))

    def _points(self, clustering: Clustering) -> Floats:
        """(n, d) unit vectors; plain ones as seen from the middle of the set."""
        return clustering.memo("value points", lambda: _points(clustering.space))

    def _worth(self, view: View, z: Floats, centres: Floats) -> Floats:
        """(n,) what an item is worth, diversity aside."""
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
            parts.append("many others are like it")
        if self.div:
            parts.append("nothing like it was asked before")
        if not parts:
            return "Drawn at random."
        *others, last = parts
        said = f"{', '.join(others)} and {last}" if others else last
        return f"{said[0].upper()}{said[1:]}."


@dataclass(frozen=True)
class ValueHard(Value):
    """Items that lie between groups, and nothing else (IDC's first ablation)."""

    rep: bool = False
    div: bool = False


@dataclass(frozen=True)
class ValueHardRep(Value):
    """Items between groups with many others like them, however alike (IDC's second ablation)."""

    div: bool = False


@dataclass(frozen=True)
class ValueRandom(Value):
    """Items drawn at random, asked as `value` asks: what value mining has to beat."""

    hard: bool = False
    rep: bool = False
    div: bool = False


@dataclass
class _Trail:
    """The picks of one snapshot, continued from question to question.

    What it keeps changes how fast questions come, never which come.
    """

    strategy: Value
    z: Floats
    groups: Groups
    worth: Floats
    seen: set[int] = field(default_factory=set)
    greedy: Greedy | None = None
    made: tuple[Constraints, tuple[Question, ...], list[WhichGroup]] | None = None

    def questions(self, view: View, n: int) -> tuple[WhichGroup, ...]:
        """The next `n`; those made for a moment ago come again when no answer has come since."""
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
        groups = self.groups.with_first(self._standing(view)) if self.strategy.keep else self.groups
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
        """The state in which just these items are picked."""
        if self.greedy is None or not self.seen <= asked:  # new, or an answer was taken back
            z = as_tensor(self.z)
            self.greedy, self.seen = (
                Greedy(z, self.worth, diversity=float(self.strategy.div)),
                set(),
            )
        for item in sorted(asked - self.seen):
            self.greedy.take(item)
        self.seen = asked
        self.greedy.best()  # brings values up to date here, where they are kept
        return self.greedy

    def _standing(self, view: View) -> list[list[int]]:
        """For each group who stood for it in an answer, and is still in it; central ones first."""
        clustering = view.clustering
        place = {number: k for k, number in enumerate(clustering.numbers)}
        found: list[list[int]] = [[] for _ in place]
        for who in stood_before(view.constraints, len(self.z)):
            found[place[int(clustering.labels[who])]].append(who)
        towards = self.groups.centres
        return [
            sorted(some, key=lambda who: (-round(float(self.z[who] @ towards[k]), 6), who))
            for k, some in enumerate(found)
        ]


def asked_items(known: Constraints, passed: Sequence[Question], n: int) -> set[int]:
    """Items that were asked about or passed on; those that only stood for a group are not."""
    found: set[int] = set()
    for question in (*(answer.question for answer in known.answers), *passed):
        alone = set(question.items())
        for choice in question.choices():
            alone -= set(question.exemplars(choice))
        found |= alone
    return {item for item in found if item < n}


def stood_before(known: Constraints, n: int) -> set[int]:
    """Items that stood for a group in a question that was answered."""
    found: set[int] = set()
    for answer in known.answers:
        shown = map(answer.question.exemplars, answer.question.choices())
        if answer.links:
            found |= {some[0] for some in shown if some and some[0] < n}
    return found


def _points(space: Floats) -> Floats:
    """Unit rows. Plain vectors mostly lie to one side of the origin: they are centred first."""
    sample = np.linalg.norm(space[:: max(1, len(space) // 1000)], axis=1)
    trained = bool(np.abs(sample - 1).max(initial=0.0) < 1e-2)
    return np.asarray(unit(space if trained else space - space.mean(axis=0)), dtype=np.float32)
