"""Proposers: for each kind of question, the few that would resolve the most doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.questions import OddOnes, Question, SameGroups, SamePair, WhichGroup
from samekind.strategies.exemplars import choose_exemplars
from samekind.strategies.planner.doubt import (
    Doubt,
    Floats,
    entropy,
    first_guess_right,
    rank_within,
    settled,
)

Ints = NDArray[np.intp]
Seconds = Callable[[Question], float]

N_EXEMPLARS = 4
"""Items that represent a group."""
MAX_PROPOSALS = 6
"""Proposals per kind of question."""
MIN_PROBABILITY = 0.5
"""Probability from which an item is shown with a group. If many items are odd, the person has to
look at each, and does not say where the odd ones belong."""
MAX_SHOWN = 12
"""Items shown with a group at once."""
MIN_SHOWN = 4
"""With fewer items it is not worth showing a whole group."""


@dataclass(frozen=True)
class Proposal:
    """A question, the bits of doubt that its answer resolves, and the probability of "same"."""

    question: Question
    bits: float
    same: float | None = None


def placements(doubt: Doubt, questions: Iterable[Question]) -> Iterator[Proposal]:
    """Placements chosen by another strategy, with their value."""
    for question in questions:
        if isinstance(question, WhichGroup):
            bits = entropy(_answer_chances(doubt, question)[None])
            where = doubt.region(np.array([question.item]))
            yield Proposal(question, float(doubt.resolved(bits, where)[0]))


def loose_placements(doubt: Doubt) -> Iterator[Proposal]:
    """Ask where items belong that are only known not to belong to some groups."""
    space = doubt.view.clustering.space
    avoid = {q.item for q in doubt.view.passed if isinstance(q, WhichGroup)}
    items, beliefs = _loose(doubt)
    worth = doubt.resolved(entropy(beliefs), doubt.region(items)) if len(items) else np.empty(0)
    for row in _highest(np.round(worth, 9), MAX_PROPOSALS):
        item = int(items[row])
        nearest = [int(k) for k in np.argsort(-beliefs[row, :-1], kind="stable")]
        nearest = sorted([k for k in nearest if beliefs[row, k] > 0][: WhichGroup.usual_groups])
        if len(nearest) < 2 or item in avoid:
            continue
        groups = tuple(choose_exemplars(space, doubt.kinds[k], item, N_EXEMPLARS) for k in nearest)
        why = "You said where it does not belong. Where does it?"
        yield from placements(doubt, [WhichGroup(item, groups, why=why)])


def pairs(doubt: Doubt, item: int) -> Iterator[Proposal]:
    """Ask whether an item belongs to its two likeliest groups, each represented by one item."""
    view, items = doubt.view, np.array([item])
    passed = {frozenset(q.items()) for q in view.passed if isinstance(q, SamePair)}
    beliefs = _considered(doubt, items, doubt.beliefs(items))
    worth, settles = _worth(doubt, items, beliefs)
    for k in np.argsort(-beliefs[0, :-1], kind="stable")[:2].tolist():
        other = choose_exemplars(view.clustering.space, doubt.kinds[k], item, 1)[0]
        same = float(beliefs[0, k])
        if view.constraints.same(item, other) is not None or {item, other} in passed:
            continue
        why = "Its group is unclear, and two items are quick to compare."
        yield Proposal(SamePair(item, other, why=why), float(worth[0] * settles[0, k]), same)


def odd_ones(doubt: Doubt, items: Ints, seconds: Seconds) -> Iterator[Proposal]:
    """Ask which items do not belong: the first one, with others of the same likely group."""
    view = doubt.view
    out = np.union1d(view.constraints.touched, list(_already_shown(view.passed)))
    if not len(items) or items[0] in out:
        return
    items = items[~np.isin(items, out)]
    items = items[rank_within(doubt.region(items)) == 0]  # neighbours would tell the same twice
    beliefs = doubt.beliefs(items)
    k = int(beliefs[0, :-1].argmax())
    rows = np.flatnonzero(beliefs[:, k] >= MIN_PROBABILITY)[:MAX_SHOWN]
    if len(rows) < MIN_SHOWN or rows[0] != 0:
        return
    worth, settles = _worth(doubt, items[rows], beliefs[rows])
    group = choose_exemplars(view.clustering.space, doubt.kinds[k], -1, N_EXEMPLARS)
    yield _best_size(group, items[rows], worth * settles[:, k], seconds)


def _worth(doubt: Doubt, items: Ints, beliefs: Floats) -> tuple[Floats, Floats]:
    """(m,) bits of knowing the group of each item; (m, kinds) chance that yes or no tells it."""
    trust = first_guess_right(doubt.view.constraints)
    return doubt.resolved(entropy(beliefs), doubt.region(items)), trust * settled(beliefs)


def groups(doubt: Doubt) -> Iterator[Proposal]:
    """Ask whether a group without answers is the same kind as its likeliest kind."""
    view, space = doubt.view, doubt.view.clustering.space
    passed = [frozenset(q.items()) for q in view.passed if isinstance(q, SameGroups)]
    answered = {int(view.clustering.labels[i]) for i in view.constraints.touched}
    for number in view.clustering.numbers:
        members = doubt.regions.sample[view.clustering.labels[doubt.regions.sample] == number]
        if number in answered or len(members) < 2:
            continue
        own = choose_exemplars(space, members, -1, 1)
        beliefs = doubt.beliefs(np.array(own))
        k = int(beliefs[0, :-1].argmax())
        other = choose_exemplars(space, doubt.kinds[k], -1, N_EXEMPLARS)
        if frozenset((*own, *other)) in passed:
            continue
        worth, settles = _worth(doubt, np.array(own), beliefs)
        bits = float(worth[0] * settles[0, k])
        why = f"If they are the same kind, {len(members):,} items find their group."
        yield Proposal(SameGroups(own, other, why=why), bits, float(beliefs[0, k]))


def _answer_chances(doubt: Doubt, question: WhichGroup) -> Floats:
    """Probabilities of the groups shown, and last of none of them."""
    item = np.array([question.item])
    belief = _considered(doubt, item, doubt.beliefs(item))[0]
    kind_of = {int(i): k for k, kind in enumerate(doubt.kinds) for i in kind}
    shown = [float(belief[kind_of[g[0]]]) if g[0] in kind_of else 0.0 for g in question.groups]
    return np.array([*shown, max(0.0, 1 - sum(shown))])


def _considered(doubt: Doubt, items: Ints, beliefs: Floats) -> Floats:
    """Beliefs without the kinds that the answers rule out."""
    same, firsts = doubt.view.constraints.same, [int(kind[0]) for kind in doubt.kinds]
    allowed = np.array(
        [[*(same(int(i), first) is not False for first in firsts), True] for i in items],
        dtype=bool,
    ).reshape(beliefs.shape)
    kept = np.where(allowed, beliefs, 0.0)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def _loose(doubt: Doubt) -> tuple[Ints, Floats]:
    """Items with answers whose kind is not known, and the beliefs about them."""
    items = np.setdiff1d(doubt.view.constraints.touched, np.concatenate(doubt.kinds))
    return items, _considered(doubt, items, doubt.beliefs(items))


def _best_size(group: Sequence[int], items: Ints, worth: Floats, seconds: Seconds) -> Proposal:
    """The question with the number of items that resolves the most bits per second."""
    found = []
    for size in range(MIN_SHOWN, len(items) + 1):
        chosen = tuple(sorted(int(i) for i in items[:size]))
        why = f"One answer places {size} items at once."
        question = OddOnes(tuple(i for i in group if i not in chosen), chosen, why=why)
        found.append(Proposal(question, float(worth[:size].sum())))
    return max(found, key=lambda proposal: proposal.bits / seconds(proposal.question))


def _already_shown(passed: Sequence[Question]) -> set[int]:
    """Items of such questions that the person passed on; other questions ask about them."""
    return {item for q in passed if isinstance(q, OddOnes) for item in q.shown}


def _highest(worth: Floats, count: int) -> list[int]:
    """Indices of the highest values, ties in order."""
    count = min(count, len(worth))
    if not count:
        return []
    bar = np.partition(worth, -count)[-count]
    places = np.flatnonzero(worth >= bar)
    return [int(p) for p in places[np.argsort(-worth[places], kind="stable")][:count]]
