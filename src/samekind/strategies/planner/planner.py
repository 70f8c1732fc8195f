"""Planner: of all kinds of question the one that tells most per second of the person's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.protocols import View
from samekind.questions import UNSURE, Question
from samekind.strategies.placement.live import Live
from samekind.strategies.planner.answer_times import AnswerTimes
from samekind.strategies.planner.doubt import Doubt, unseen_share
from samekind.strategies.planner.proposers import (
    Proposal,
    groups,
    loose_placements,
    odd_ones,
    pairs,
    placements,
)

KINDS = ("same-pair", "odd-ones", "same-groups")
"""What is asked besides placements, where it pays."""
FROM, TO = 0.3, 0.7
"""The share of "same" among the answers to pairs that keeps a person awake."""
LOOKED_AT = 24
"""Items, of those that `live` would ask about next, for which other forms are considered."""
COUNTED = 20
"""Latest such answers by which the share is judged."""


@dataclass(frozen=True)
class Planner:
    """The question that takes away most doubt per second of the person's time.

    Which item comes next is what
    :class:`~samekind.strategies.placement.live.Live` says; how it is asked
    about is decided here: by a placement, by a pair, or together with others that are most like the
    same group. All forms are measured in bits of doubt about where items belong, summed over the
    items that an answer tells something about, and divided by the seconds that this person takes
    for such a question. What is implied is never asked. One question in eight is a random check.

    Parameters
    ----------
    placements : who proposes placements and random checks.
    kinds : what may be asked besides placements.
    rare : 0 counts every item the same, 1 every group the same.
    searching : as long as more than this share of the items probably belongs to kinds that have not
        come up, placements alone are asked: only they find new kinds.
    """

    placements: Live = field(default_factory=Live)
    kinds: tuple[str, ...] = KINDS
    rare: float = 0.5
    searching: float = 0.05

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` questions, the best first; a random check before them where one is due."""
        if len(view.constraints.kinds) < 2 or unseen_share(view.constraints) > self.searching:
            return self.placements.propose(view, n)
        placed = self.placements.propose(view, max(n, LOOKED_AT))
        checks = tuple(question for question in placed if question.at_random)[:n]
        times = AnswerTimes.of(view.constraints.answers)
        found = self._proposals(view, placed, times)
        found.sort(key=lambda one: -round(one.bits / times.seconds(one.question), 9))
        return _without_repeats((*checks, *(one.question for one in found)), n)

    def _proposals(
        self, view: View, placed: Sequence[Question], times: AnswerTimes
    ) -> list[Proposal]:
        doubt = Doubt.of(view, self.rare)
        chosen = [question for question in placed if not question.at_random]
        found = list(placements(doubt, chosen[:1])) + list(loose_placements(doubt))
        items = np.array([question.items()[0] for question in chosen], dtype=np.intp)
        if "same-pair" in self.kinds and len(items):
            found += _balanced(view, list(pairs(doubt, int(items[0]))))
        if "odd-ones" in self.kinds:
            found += odd_ones(doubt, items, times.seconds)
        if "same-groups" in self.kinds:
            found += _balanced(view, list(groups(doubt)))
        known, passed = view.constraints, set(view.passed)
        return [
            one
            for one in found
            if one.question.truthful(known.same) == UNSURE and one.question not in passed
        ]


def _balanced(view: View, found: list[Proposal]) -> list[Proposal]:
    """Where "same" or "different" has been said too often, those expected to bring the other."""
    said = [a.choice for a in view.constraints.answers if a.choice in ("same", "different")]
    said = said[-COUNTED:]
    if len(said) < 4 or FROM <= (share := said.count("same") / len(said)) <= TO:
        return found
    wanted = [p for p in found if p.same is not None and (p.same > 0.5) == (share < FROM)]
    return wanted or found


def _without_repeats(questions: Sequence[Question], n: int) -> tuple[Question, ...]:
    """The first `n`, none about an item that one before it asks about."""
    chosen: list[Question] = []
    used: set[int] = set()
    for question in questions:
        asked = {link.a for choice in question.choices()[:-1] for link in question.links(choice)}
        if len(chosen) < n and not asked & used:
            chosen.append(question)
            used |= asked
    return tuple(chosen)
