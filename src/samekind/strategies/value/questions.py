"""Questions of value mining: an item, and the items that represent its nearest groups (IDC)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.questions import WhichGroup
from samekind.strategies.exemplars import choose_exemplars
from samekind.strategies.value.mining import unit

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_REPRESENTATIVES = 4
"""Items that may represent a group, nearest to its centre first. The first cannot if it is asked
about itself, or represents another group on the screen."""
MAX_SHOWN = 7
"""Groups that a question may show: as many as IDC tried."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that a question offers.

    Parameters
    ----------
    centres : (c, d) unit rows.
    representatives : for each group the items that may represent it, in order of preference.
    """

    centres: Floats
    representatives: Sequence[tuple[int, ...]]

    @classmethod
    def of(cls, z: Floats, centres: Floats) -> Groups:
        """Let the items nearest to a centre, by cosine, represent its group."""
        towards = unit(centres)
        nearest = _nearest_items(z, towards, MAX_REPRESENTATIVES)
        return cls(towards, [tuple(row.tolist()) for row in nearest])

    def with_first(self, first: Sequence[Sequence[int]]) -> Groups:
        """The same groups, preferring the representatives in `first`."""
        both = zip(first, self.representatives, strict=True)
        return Groups(self.centres, [tuple(dict.fromkeys((*a, *b))) for a, b in both])

    def question(
        self,
        z: Floats,
        item: int,
        shown: int,
        known: Constraints,
        *,
        exemplars: int = 1,
        why: str = "",
    ) -> WhichGroup | None:
        """Ask which of the nearest groups the item belongs to; None if that is implied already.

        A group that is known to differ from the item is not shown, nor are two groups that are
        known to be the same kind. Several items represent a group only if they are known to be the
        same kind.
        """
        standing = self._chosen(item)
        if any(known.same(item, who) for who in standing.values()):
            return None
        offered: list[int] = []
        for group in np.argsort(-(self.centres @ z[item]), kind="stable").tolist():
            who = standing.get(group)
            if who is None or who in offered or known.same(item, who) is not None:
                continue
            if not any(known.same(who, other) for other in offered):
                offered.append(who)
            if len(offered) == shown:
                break
        if not offered:
            return None
        groups = tuple(_with_others(z, who, item, known, exemplars) for who in offered)
        return WhichGroup(item, groups, why=why)

    def _chosen(self, item: int) -> dict[int, int]:
        """The representative of each group when this item is asked about."""
        able = ([i for i in some if i != item] for some in self.representatives)
        return {group: some[0] for group, some in enumerate(able) if some}


def questions(
    z: Floats,
    centres: Floats,
    items: Iterable[int],
    *,
    shown: int = WhichGroup.usual_groups,
    known: Constraints | None = None,
) -> tuple[WhichGroup, ...]:
    """For each item a question with the `shown` nearest groups, the nearest first.

    The item of largest cosine to a centre represents its group, or the next one if it is asked
    about itself. Items whose group is implied by the answers are skipped.
    """
    check_shown(shown)
    groups = Groups.of(z, centres)
    answers = Constraints(len(z)) if known is None else known
    made = (groups.question(z, int(item), shown, answers) for item in items)
    return tuple(question for question in made if question is not None)


def check_shown(shown: int) -> None:
    """Raise InputError unless a question can show this many groups."""
    if not 1 <= shown <= MAX_SHOWN:
        raise InputError(f"Expected 1 to {MAX_SHOWN} groups to show, got {shown}.")


def centres_of(z: Floats, labels: Ints, numbers: Collection[int]) -> Floats:
    """(c, d) the mean of the unit rows of each group, in the order of `numbers`."""
    index = np.searchsorted(np.array(sorted(numbers)), labels)
    sums = np.zeros((len(numbers), z.shape[1]))
    order = np.argsort(index, kind="stable")
    ends = np.bincount(index, minlength=len(numbers)).cumsum()
    for group, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        sums[group] = z[order[start:end]].mean(axis=0, dtype=np.float64)
    return sums


def _nearest_items(z: Floats, centres: Floats, count: int) -> Ints:
    """(c, count) the items of largest cosine to each centre, the largest first."""
    best = np.full((len(centres), 0), -9.0)
    who = np.zeros((len(centres), 0), dtype=np.intp)
    for start in range(0, len(z), 65_536):
        alike = centres @ z[start : start + 65_536].T  # (c, m)
        best = np.concatenate([best, alike], axis=1)
        here = np.arange(start, start + alike.shape[1])
        who = np.concatenate([who, np.broadcast_to(here, alike.shape)], axis=1)
        few = min(count, best.shape[1])
        top = np.argpartition(-best, few - 1, axis=1)[:, :few]
        best, who = np.take_along_axis(best, top, 1), np.take_along_axis(who, top, 1)
    order = np.lexsort((who, -np.round(best, 6)), axis=1)
    return np.take_along_axis(who, order, 1)


def _with_others(z: Floats, who: int, item: int, known: Constraints, count: int) -> tuple[int, ...]:
    """The representative of a group, then items that are known to be the same kind."""
    others = known.component(who)
    others = others[(others != who) & (others != item)]
    if count < 2 or not len(others):
        return (who,)
    return (who, *choose_exemplars(z, others, item, count - 1))
