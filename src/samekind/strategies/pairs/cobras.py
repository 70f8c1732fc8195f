"""COBRA and COBRAS: the questions that these methods ask while they group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.protocols import View
from samekind.questions import Question, SamePair
from samekind.superinstances import Pair, Replayed, SuperInstance, replay_cobra, replay_cobras, tree


@dataclass(frozen=True)
class COBRAS:
    """Pairs that represent sets of items: how finely to cut, and which sets are the same kind.

    The questions of :class:`samekind.COBRAS`, found by replaying it over the answers so far, one at
    a time, because each depends on the answer before. Unlike the published program it never asks
    what earlier answers imply. It works with any method. With the method `cobras` both replay the
    same cuts, so that the groups are those that the questions were asked for.
    """

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The next pair of the replay, whatever `n` is; none if everything is known."""
        key = ("super-instances", view.seed)
        whole = view.clustering.memo(key, lambda: tree(view.clustering.space, view.seed))
        passed = {frozenset(q.items()) for q in view.passed if isinstance(q, SamePair)}
        found = self._replayed(whole, view, passed)
        return () if found.question is None else (SamePair(*found.question, why=found.why),)

    def _replayed(self, whole: SuperInstance, view: View, passed: set[Pair]) -> Replayed:
        return replay_cobras(whole, view.constraints, passed)


@dataclass(frozen=True)
class COBRA(COBRAS):
    """Pairs that represent sets of items, cut once: which of the sets are the same kind.

    Ends when all sets are merged or told apart.

    Parameters
    ----------
    n_parts : number of sets; the same as in the method `cobra`.
    """

    n_parts: int = 50

    def _replayed(self, whole: SuperInstance, view: View, passed: set[Pair]) -> Replayed:
        return replay_cobra(whole, view.constraints, passed, self.n_parts)
