"""Planner: placements and grids, whichever places the most items per second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.protocols import View
from samekind.questions import AllLike, OddOnes, Question
from samekind.strategies.exemplars import choose_exemplars, soft, squared_distances
from samekind.strategies.placement.live import PLACEMENTS_PER_GROUP, Live
from samekind.strategies.placement.placement import margin, unfinished_items
from samekind.strategies.planner.answer_times import AnswerTimes
from samekind.strategies.planner.history import History, unseen_share
from samekind.strategies.planner.selection import Floats, Ints, covering

FEW = 3
"""Items with which a grid is worth showing."""
LIKELY = 0.5
"""Belief from which an item is shown with a group in a review."""
REVIEW_WORTH = 0.5
"""Worth of an item that is placed by a review, against one placed by itself: all items of a review
are thought to be of one kind, so they say less about the others."""
MIN_BELIEF = 1e-3
"""Belief in every kind that the answers leave open."""
N_BORDER_POOL = 6
"""Border items are chosen from this many times as many doubtful ones."""
CLEAR_SHARE = 0.85
"""Share of the reviewed items that belonged, from which on reviews are large."""


@dataclass(frozen=True)
class Planner(Live):
    """The question that places the most items per second of the person's time.

    It begins with a *tray*: which of some very different items are the same kind as this one? What
    was not named is looked at again with the next kind, for as long as enough of it is named;
    otherwise items are placed one by one. As soon as the kinds are known, *reviews* show items that
    the learner puts into one group, typical ones first and doubtful ones later, and the person taps
    those that do not belong. All are compared with a placement of
    :class:`~samekind.strategies.placement.live.Live`, by the items that the answer is expected to
    place, judged by the answers so far, and the seconds that this person is expected to take. One
    question in eight is a random check.

    Parameters
    ----------
    tray : items of the first question; 0: begin with placements.
    small, large : items of a review, before and after reviews have found little.
    max_kinds : with more kinds no reviews are asked: each is about one kind, and tells little about
        the others.
    searching : while more than this share of the items probably belongs to kinds not seen yet, no
        reviews are asked: they find no new kinds.
    border : share of the items that count as doubtful.
    """

    tray: int = 16
    small: int = 12
    large: int = 24
    max_kinds: int = 5
    searching: float = 0.15
    border: float = 0.03

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """A grid, if it places more items per second than a placement; else placements."""
        known = view.constraints
        if not len(known.touched):
            first = self._tray(view) if self.tray else None
            return super().propose(view, n) if first is None else (first,)
        due = self.check_every and view.spent % self.check_every == self.check_every - 1
        if due or not known.kinds:
            return super().propose(view, n)
        history = History.of(known)
        loose = self._loose(view)
        if len(loose) >= FEW:
            question = self._settling(view, history, loose)
            return super().propose(view, n) if question is None else (question,)
        unfinished = unfinished_items(known, set()) or unseen_share(known) > self.searching
        if unfinished or len(known.kinds) > self.max_kinds:
            return super().propose(view, n)
        return self._best(view, history, n)

    def _best(self, view: View, history: History, n: int) -> Sequence[Question]:
        """A review or placements, by the items that are placed per second."""
        placed = super().propose(view, n)
        review = self._review(view, history)
        if review is None or not placed or review in view.passed:
            return placed if review is None or review in view.passed else (review,)
        times = AnswerTimes.of(view.constraints.answers)
        gain = REVIEW_WORTH * _gain(times, review, history.belonging)
        return (review,) if gain > 1 / times.seconds(placed[0]) else placed

    def _tray(self, view: View) -> Question | None:
        """Ask which of some very different items are the same kind as the most typical one."""
        patches = self._patches(view)
        mass = np.bincount(patches.patch_of, minlength=len(patches.middles)).astype(np.float64)
        chosen = covering(view.clustering.space, patches.middles, mass, None, self.tray + 1)
        if len(chosen) <= FEW:
            return None
        question = AllLike(
            (int(chosen[0]),),
            tuple(sorted(chosen[1:].tolist())),
            why=f"To start with, {len(chosen)} items that look very different.",
        )
        return None if question in view.passed else question

    def _loose(self, view: View) -> Ints:
        """Items that are only known not to belong to some kinds, without those passed on."""
        known = view.constraints
        passed = [i for question in view.passed for i in question.items()]
        loose = np.setdiff1d(known.touched, np.concatenate(known.kinds))
        return np.asarray(np.setdiff1d(loose, passed), dtype=np.intp)

    def _settling(self, view: View, history: History, loose: Ints) -> Question | None:
        """Ask where loose items belong: together with a likely kind, or one by one."""
        allowed, beliefs = self._considered(view, loose)
        likely = (beliefs >= LIKELY).sum(axis=0)
        kind = int(likely.argmax())
        if likely[kind] >= FEW:
            some = loose[beliefs[:, kind] >= LIKELY][: self.large]
            why = f"You said where these {len(some)} items do not belong. Is it here?"
            return self._grid(view, kind, some, OddOnes, why)
        single = self._question(view, self._patches(view), self._central(view, loose), False)
        kind = int((allowed * beliefs).sum(axis=0).argmax())
        some = loose[allowed[:, kind]][: self.large]
        if len(some) < FEW:
            return single
        why = f"One answer may place some of {len(some)} items."
        grid = self._grid(view, kind, some, AllLike, why)
        times = AnswerTimes.of(view.constraints.answers)
        if single is not None and _gain(times, grid, history.named) < 1 / times.seconds(single):
            return single
        return None if grid in view.passed else grid

    def _considered(self, view: View, items: Ints) -> tuple[Floats, Floats]:
        """(m, kinds) which kinds the answers leave open, and the beliefs in them."""
        known = view.constraints
        firsts = [int(kind[0]) for kind in known.kinds]
        allowed = np.array([[known.same(int(i), f) is None for f in firsts] for i in items])
        beliefs = np.where(allowed, self._beliefs(view, items) + MIN_BELIEF, 0.0)
        unseen = max(unseen_share(known), 0.05)
        total = beliefs.sum(axis=1, keepdims=True) * (1 - unseen) + unseen
        return allowed, beliefs * (1 - unseen) / total

    def _beliefs(self, view: View, items: Ints) -> Floats:
        """(m, kinds) the membership of items in the groups of the kinds told apart."""
        clustering = view.clustering
        column = {number: k for k, number in enumerate(clustering.numbers)}
        at = [column[int(clustering.labels[kind[0]])] for kind in view.constraints.kinds]
        shares = np.asarray(soft(clustering, items), dtype=np.float64)
        crowd = np.bincount(at, minlength=shares.shape[1])
        return np.asarray(shares[:, at] / np.maximum(crowd[at], 1))

    def _review(self, view: View, history: History) -> OddOnes | AllLike | None:
        """Show items that the learner puts into one group, those that tell the most."""
        clustering, known = view.clustering, view.constraints
        size = self.large if history.belonging >= CLEAR_SHARE else self.small
        items, weight = self._candidates(view, size, history.n_grids)
        if len(items) < FEW:
            return None
        top = self._beliefs(view, items).argmax(axis=1)
        distances = squared_distances(clustering.space[items], clustering.space[known.touched])
        worth = np.bincount(top, weight * distances.min(axis=1), minlength=len(known.kinds))
        kind = int(np.round(worth, 9).argmax())
        own = top == kind
        chosen = covering(clustering.space, items[own], weight[own], known.touched, size)
        if len(chosen) < FEW:
            return None
        why = f"If these {len(chosen)} fit, one answer places them all."
        return self._grid(view, kind, chosen, OddOnes, why)

    def _candidates(self, view: View, size: int, n_grids: int) -> tuple[Ints, Floats]:
        """Medoids of patches, or doubtful items once the kinds have enough placed items."""
        clustering, known = view.clustering, view.constraints
        patches = self._patches(view)
        out = np.zeros(known.n_items, dtype=bool)
        out[known.touched] = True
        out[[i for question in view.passed for i in question.items() if i < len(out)]] = True
        placed, enough = sum(map(len, known.kinds)), PLACEMENTS_PER_GROUP * len(known.kinds)
        if placed >= 2 * enough or (placed >= enough and n_grids % 2):
            sample = patches.sample
            clear = clustering.memo(
                ("planner-margin", view.seed), lambda: np.round(margin(clustering, sample), 12)
            )
            order = np.lexsort((sample, clear))
            order = order[~out[sample[order]]]
            pool = order[: max(N_BORDER_POOL * size, int(self.border * len(sample)))]
            return sample[pool], 1.1 - clear[pool]
        mass = np.bincount(patches.patch_of, minlength=len(patches.middles))
        free = ~out[patches.middles]
        items = patches.middles[free]
        return items, mass[free] * (1.1 - margin(clustering, items))

    def _grid(
        self, view: View, kind: int, items: Ints, form: type[AllLike | OddOnes], why: str
    ) -> AllLike | OddOnes:
        exemplars = choose_exemplars(
            view.clustering.space, view.constraints.kinds[kind], -1, self.exemplars
        )
        return form(exemplars, tuple(sorted(items.tolist())), why=why)

    def _central(self, view: View, items: Ints) -> int:
        """The item that most others are close to."""
        distances = squared_distances(view.clustering.space[items], view.clustering.space[items])
        near = np.exp(-distances / max(float(np.median(distances)), 1e-12)).sum(axis=1)
        return int(items[int(np.round(near, 9).argmax())])


def _gain(times: AnswerTimes, grid: AllLike | OddOnes, share: float) -> float:
    """Items of a grid that are placed per second, if this share of them belongs."""
    belong = share * len(grid.shown)
    taps = belong if isinstance(grid, AllLike) else len(grid.shown) - belong
    return belong / times.seconds(grid, taps=taps)
