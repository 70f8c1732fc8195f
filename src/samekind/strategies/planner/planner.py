"""Planner: the question of any kind that resolves the most doubt per second."""

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
"""Kinds of question that are asked besides placements."""
MIN_SHARE, MAX_SHARE = 0.3, 0.7
"""Bounds on the share of "same" among answers to pairs, so that the person stays alert."""
N_CANDIDATES = 24
"""Items, among the next ones of `live`, for which other kinds of question are considered."""
N_LATEST_ANSWERS = 20
"""Latest answers to pairs by which the share of "same" is judged."""


@dataclass(frozen=True)
class Planner:
    """The question that resolves the most doubt per second of the person's time.

    :class:`~samekind.strategies.placement.live.Live` chooses the next item; the planner chooses how
    to ask about it: with a placement, with a pair, or together with other items of the same likely
    group. All are measured in bits of doubt about where items belong, summed over the items that an
    answer informs about, divided by the seconds that this person takes for such a question. What is
    implied is never asked. One question in eight is a random check.

    Parameters
    ----------
    placements : the strategy for placements and random checks.
    kinds : what may be asked besides placements.
    rare : 0 weighs all items equally, 1 all groups.
    searching : as long as more than this share of the items probably belongs to kinds not seen yet,
        only placements are asked, because only they find new kinds.
    """

    placements: Live = field(default_factory=Live)
    kinds: tuple[str, ...] = KINDS
    rare: float = 0.5
    searching: float = 0.05

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Up to `n` questions, the best first; a random check before them if one is due."""
        if len(view.constraints.kinds) < 2 or unseen_share(view.constraints) > self.searching:
            return self.placements.propose(view, n)
        placed = self.placements.propose(view, max(n, N_CANDIDATES))
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
    """If "same" or "different" was chosen too often, those expected to bring the other."""
    chosen = [a.choice for a in view.constraints.answers if a.choice in ("same", "different")]
    chosen = chosen[-N_LATEST_ANSWERS:]
    share = chosen.count("same") / max(len(chosen), 1)
    if len(chosen) < 4 or MIN_SHARE <= share <= MAX_SHARE:
        return found
    wanted = [p for p in found if p.same is not None and (p.same > 0.5) == (share < MIN_SHARE)]
    return wanted or found


def _without_repeats(questions: Sequence[Question], n: int) -> tuple[Question, ...]:
    """The first `n`, none of them about an item of an earlier one."""
    chosen: list[Question] = []
    used: set[int] = set()
    for question in questions:
        asked = {link.a for choice in question.choices()[:-1] for link in question.links(choice)}
        if len(chosen) < n and not asked & used:
            chosen.append(question)
            used |= asked
    return tuple(chosen)
