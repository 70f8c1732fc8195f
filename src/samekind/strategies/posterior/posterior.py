"""Posterior: the question with the largest information gain, under draws of whole groupings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Question, SamePair, WhichGroup
from samekind.strategies.exemplars import choose_exemplars
from samekind.strategies.pairs.choice import best_pairs
from samekind.strategies.pairs.entropy import entropy
from samekind.strategies.posterior.draws import Draws, Floats, Ints, draws_of, items_key

ASKS = ("either", "pair", "placement")
MAX_PAIRS = 20_000
"""Pairs that are scored for a question; half of them are the most doubtful at the refit."""


@dataclass(frozen=True)
class Posterior:
    """The question with the largest information gain; the number of groups may be unknown.

    Draws of whole groupings predict each answer, and a single draw determines it. So the expected
    information gain of an answer, in nats, is the entropy of the prediction: zero if all draws
    agree, log 2 for a pair that is together in half of them, more for an item that may belong to
    several groups. Answers given since the draws were made count at once.

    Meant for methods that draw groupings (``ncp``). For others, draws are made from the memberships
    item by item, which misses that items move together.

    Parameters
    ----------
    ask : ``pair``; ``placement``, once two kinds are told apart; or ``either``, the better one.
    n_draws : number of draws if the method has none.
    exemplars : number of items that represent a group.
    """

    ask: str = "either"
    n_draws: int = 200
    exemplars: int = 4

    def __post_init__(self) -> None:
        if self.ask not in ASKS:
            raise InputError(f"Expected `ask` to be one of {', '.join(ASKS)}, got {self.ask!r}.")

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` questions of largest expected gain among the candidates, no item twice."""
        draws = draws_of(view, self.n_draws)
        weight = draws.given(view.constraints)
        placements = [] if self.ask == "pair" else self._placements(view, draws, weight, n)
        pairs = [] if self.ask == "placement" and placements else self._pairs(
            view, draws, weight, n
        )  # fmt: skip
        ranked = sorted([*placements, *pairs], key=lambda found: -round(found.gain, 9))
        chosen: list[Question] = []
        used: set[int] = set()
        for found in ranked:
            about = found.question.items()
            asked = set(about if isinstance(found.question, SamePair) else about[:1])
            if not asked & used and len(chosen) < n:
                chosen.append(found.question)
                used |= asked
        return tuple(chosen)

    def _pairs(self, view: View, draws: Draws, weight: NDArray[np.float64], n: int) -> list[_Found]:
        key = ("gain-pairs", self, *items_key(view))
        a, b = view.clustering.memo(key, lambda: pool(view, draws))
        alive = np.flatnonzero(weight > 0)
        together = draws.labels[np.ix_(alive, a)] == draws.labels[np.ix_(alive, b)]
        chance = weight[alive] @ together if len(a) else np.zeros(0)
        gain = pair_gain(chance)
        gains: list[float] = []

        def why(k: int) -> str:
            gains.append(float(gain[k]))
            return "Whether these two belong together says most about all groups" + _source(draws)

        questions = best_pairs(view, draws.items[a], draws.items[b], gain, n, why)
        # Random pairs that were added come last and have no gain.
        padded = [*gains, *[0.0] * (len(questions) - len(gains))]
        return [_Found(g, q) for g, q in zip(padded, questions, strict=True)]

    def _placements(
        self, view: View, draws: Draws, weight: NDArray[np.float64], n: int
    ) -> list[_Found]:
        """Ask where unplaced items belong, among the known kinds."""
        known = view.constraints
        first = np.array([kind[0] for kind in known.kinds], dtype=np.intp)
        columns = draws.places(first)
        if len(first) < 2 or (columns < 0).any():
            return []
        placed = np.concatenate(known.kinds)
        avoid = [question.items()[0] for question in view.passed]
        free = np.flatnonzero(~np.isin(draws.items, placed) & ~np.isin(draws.items, avoid))
        match = draws.labels[:, free][:, :, None] == draws.labels[:, columns][:, None]  # (S, f, k)
        chance = np.einsum("s,sfk->fk", weight, match)
        excluded = _excluded_kinds(view, draws.items[free], first)
        chance = np.where(excluded, 0.0, chance)
        most = WhichGroup.usual_groups
        seen = np.sort(chance, axis=1)[:, ::-1][:, :most]
        none = np.clip(1 - seen.sum(axis=1, keepdims=True), 0.0, 1.0)
        gain = entropy(np.concatenate([seen, none], axis=1))
        order = np.lexsort((free, -np.round(gain, 9)))
        found = []
        for k in order[: 4 * n].tolist():
            question = self._placement(
                view, draws, int(draws.items[free[k]]), chance[k], excluded[k]
            )
            if question is not None:
                found.append(_Found(float(gain[k]), question))
        return found[:n]

    def _placement(
        self, view: View, draws: Draws, item: int, chance: Floats, excluded: NDArray[np.bool_]
    ) -> WhichGroup | None:
        kinds, space = view.constraints.kinds, view.clustering.space
        order = [k for k in np.argsort(-chance, kind="stable").tolist() if not excluded[k]]
        groups = tuple(
            choose_exemplars(space, kinds[k], item, self.exemplars)
            for k in order[: WhichGroup.usual_groups]
        )
        why = "Where this belongs says most about all groups" + _source(draws)
        return WhichGroup(item, groups, why=why) if groups else None


class _Found(NamedTuple):
    gain: float
    question: Question


def pair_gain(chance: Floats) -> Floats:
    """(m,) expected information gain of "same kind?" in nats, by the probability of "same".

    >>> pair_gain(np.array([0.5, 1.0])).round(4).tolist()
    [0.6931, 0.0]
    """
    chance = np.clip(np.asarray(chance, dtype=np.float64), 0.0, 1.0)
    return entropy(np.stack([chance, 1 - chance], axis=1))


def pool(view: View, draws: Draws) -> tuple[Ints, Ints]:
    """Columns ``a < b`` of candidate pairs in random order: doubtful ones and random ones."""
    m = len(draws.items)
    rng = np.random.default_rng((view.seed, view.clustering.snapshot, 1))
    a, b = np.triu_indices(m, 1)
    order = rng.permutation(len(a))
    if len(a) > MAX_PAIRS:
        gain = pair_gain(together(draws)[a, b])[order]
        doubtful = np.argpartition(-gain, MAX_PAIRS // 2)[: MAX_PAIRS // 2]
        others = np.setdiff1d(np.arange(MAX_PAIRS), doubtful)[: MAX_PAIRS // 2]
        order = order[np.sort(np.concatenate([doubtful, others]))]
    return a[order].astype(np.intp), b[order].astype(np.intp)


def together(draws: Draws) -> Floats:
    """(m, m) probability that two items are in the same group."""
    found = np.zeros((len(draws.items),) * 2, dtype=np.float32)
    for k in range(int(draws.labels.max(initial=0)) + 1):
        inside = (draws.labels == k).astype(np.float32)  # (S, m)
        found += (inside * draws.weight[:, None].astype(np.float32)).T @ inside
    return found


def _excluded_kinds(view: View, items: Ints, first: Ints) -> NDArray[np.bool_]:
    """(m, k) whether an item is known not to be of a kind; only touched items can be."""
    known = view.constraints
    excluded = np.zeros((len(items), len(first)), dtype=bool)
    for row in np.flatnonzero(np.isin(items, known.touched)).tolist():
        excluded[row] = [known.same(int(items[row]), int(f)) is False for f in first]
    return excluded


def _source(draws: Draws) -> str:
    return "." if draws.exact else " (estimated: only the method ncp draws whole groupings)."
