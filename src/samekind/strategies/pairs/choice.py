"""Choice: the best pairs that can be asked, after random ones, while the budget runs down."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Question, SamePair
from samekind.strategies.pairs.candidates import Floats, Ints, distinct_pairs

AT_RANDOM = "Two items picked at random."
MAX_BLOCKS = 16
"""Blocks of questions with one r each, into which a large proposal is divided."""
MIN_STEP = 1 / 64
"""Difference of r between two blocks of a large proposal, at least."""
DECIMALS = 6
"""Scores are rounded, for the same ranking on every machine."""


@dataclass(frozen=True)
class RandomFirst(ABC):
    """A strategy that may begin with random pairs (PCL, Algorithm 1: the first Q1 questions).

    Parameters
    ----------
    random_first : until so many answers are given, questions are random pairs: two different items
        of which nothing is known. 0: the scores decide from the first question on.
    """

    random_first: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self.random_first < 0:
            raise InputError(
                f"Expected random_first to be 0 or more, got {self.random_first}. "
                "Give the number of random questions at the beginning."
            )

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Random pairs as long as they are due, then the best pairs; no item twice."""
        due = min(n, self.random_first - view.spent)
        begun = random_questions(view, due) if due > 0 else ()
        return begun if len(begun) >= n else self.best(view, n, begun)

    @abstractmethod
    def best(self, view: View, n: int, begun: Sequence[Question]) -> Sequence[Question]:
        """`begun` and the best pairs after them, `n` in all."""


class ShiftingScores(NamedTuple):
    """Scores of pairs that move along a line as the budget is spent (PCL, Eq. 8)."""

    early: Floats
    """(m,) while all of the budget is left, r = 1."""
    late: Floats
    """(m,) when nothing is left, r = 0."""

    def at(self, r: float) -> Floats:
        """(m,) with the share `r` of the budget left."""
        return np.asarray(r * self.early + (1 - r) * self.late)


def remaining(view: View, ahead: int = 0) -> float:
    """The share r of the budget left after `ahead` more answers (Eq. 8); a half without one."""
    if not view.budget:
        return 0.5
    return min(1.0, max(0.0, 1 - (view.spent + ahead) / view.budget))


def random_pairs(view: View, count: int, *, all_below: int = 300) -> tuple[Ints, Ints]:
    """Pairs in random order: all of a small set, else up to `count` draws."""
    n = view.constraints.n_items
    if n > all_below:
        return distinct_pairs(view.rng, n, count)
    a, b = np.triu_indices(n, 1)
    order = view.rng.permutation(len(a))
    return a[order].astype(np.intp), b[order].astype(np.intp)


def random_questions(view: View, n: int, *, tries: int = 200) -> tuple[Question, ...]:
    """Ask about `n` random pairs, drawing at most `tries` for each, or twice that if needed."""
    a, b = random_pairs(view, tries * n)
    return best_pairs(view, a, b, np.zeros(len(a)), n, lambda k: AT_RANDOM)


def best_pairs(
    view: View,
    a: Ints,
    b: Ints,
    score: Floats,
    n: int,
    why: Callable[[int], str],
    begun: Sequence[Question] = (),
) -> tuple[Question, ...]:
    """The `n` highest pairs that can be asked: not implied, not passed on, no item twice.

    `why` is called with the index of a pair. `begun` are chosen already and count. If too few
    candidates are left, random pairs are added.
    """
    chosen = _Chosen(view, begun)
    chosen.add(a, b, chosen.falling(score, a, b, n), n, why)
    return chosen.filled(len(a), n)


def best_pairs_by_share(
    view: View,
    a: Ints,
    b: Ints,
    scores: ShiftingScores,
    n: int,
    why: Callable[[int, float], str],
    begun: Sequence[Question] = (),
) -> tuple[Question, ...]:
    """As `best_pairs`, with scores that move with the share r of the budget that is left.

    Question i of the proposal is chosen with the r that it has if those before it were answered.
    Many questions are chosen in a few blocks, each with the r of its first question. `why` is
    called with the index of a pair and r.
    """
    chosen = _Chosen(view, begun)
    starts = [*block_starts(view, len(begun), n), n]
    for start, end in pairwise(starts):
        r = remaining(view, start)

        def because(k: int, r: float = r) -> str:
            return why(k, r)

        chosen.add(a, b, chosen.falling(scores.at(r), a, b, n), end, because)
    return chosen.filled(len(a), n)


def block_starts(view: View, begun: int, n: int) -> range:
    """The questions of a proposal, numbered from `begun`, at which another r begins.

    Up to `MAX_BLOCKS` questions each have their own. Of more, each block spans at least `MIN_STEP`
    of the budget, and there are at most `MAX_BLOCKS`.
    """
    span = remaining(view, begun) - remaining(view, n - 1)
    blocks = n - begun
    if blocks > MAX_BLOCKS or not span:
        blocks = max(1, min(MAX_BLOCKS, math.ceil(span / MIN_STEP)))
    return range(begun, n, math.ceil((n - begun) / blocks))


class _Chosen:
    """Questions chosen so far, and the items that must not come again.

    Parameters
    ----------
    begun : questions to begin with.
    """

    def __init__(self, view: View, begun: Sequence[Question]) -> None:
        self.view = view
        self.questions = list(begun)
        self.passed = {frozenset(question.items()) for question in view.passed}
        self.taken = np.zeros(view.constraints.n_items, dtype=bool)
        self.taken[[item for question in begun for item in question.items()]] = True

    def add(
        self, a: Ints, b: Ints, order: Iterable[int], until: int, why: Callable[[int], str]
    ) -> None:
        """Choose the first pairs in this order that can be asked, until there are `until`."""
        known, taken, passed = self.view.constraints, self.taken, self.passed
        for k in order:
            if len(self.questions) >= until:
                break
            i, j = int(a[k]), int(b[k])
            if taken[i] or taken[j] or i == j or (passed and frozenset((i, j)) in passed):
                continue
            if known.same(i, j) is None:
                self.questions.append(SamePair(i, j, why=why(k)))
                taken[i] = taken[j] = True

    def falling(self, score: Floats, a: Ints, b: Ints, n: int) -> Iterator[int]:
        """Pairs of items that are not taken, by falling score, ties in order.

        Only the best are sorted, and more when those do not suffice.
        """
        score = np.round(score, DECIMALS)
        first = 64 + 16 * n
        left = np.arange(len(score))
        while len(left):
            left = left[~(self.taken[a[left]] | self.taken[b[left]])]
            part = score[left]
            bar = np.partition(part, -first)[-first] if len(left) > first else -np.inf
            best = left[part >= bar]
            yield from best[np.argsort(-score[best], kind="stable")].tolist()
            left = left[part < bar]

    def filled(self, n_candidates: int, n: int) -> tuple[Question, ...]:
        """The questions, with random pairs added if the candidates did not suffice."""
        n_items = self.view.constraints.n_items
        if len(self.questions) < n and n_candidates < n_items * (n_items - 1) // 2:
            a, b = random_pairs(self.view, 200 * n)
            self.add(a, b, range(len(a)), n, lambda k: AT_RANDOM)
        return tuple(self.questions)
