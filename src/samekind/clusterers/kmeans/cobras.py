"""COBRA and COBRAS: sets of similar items, merged where the person says that they are one kind."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.group_count import Known, Pairs, checked_constraints
from samekind.clusterers.kmeans.base import CentreEstimator
from samekind.clusterers.kmeans.centres import nearest
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.questions import UNSURE, SamePair
from samekind.superinstances import Pair, Replayed, SuperInstance, replay_cobra, replay_cobras, tree

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class COBRAS(CentreEstimator):
    """COBRAS of van Craenendonck et al. (2018): cut the largest set, merge what is one kind.

    Finds the number of groups itself, and needs the answers to its own questions: use it with the
    strategy `cobras`. Sets are cut by k-means and represented by the items nearest to their means.
    The groups are those of the last merging for which all answers had come. Until the first is
    complete they are the sets of the first cut, with those known to be one kind merged, as in the
    published program when its questions run out. Answers about single items are honoured on top of
    that, which the published program does not do.

    Parameters
    ----------
    random_state : decides the cuts. A session gives its seed to method and strategy alike.

    Attributes
    ----------
    labels_ : (n,) group of each item. n_clusters_ : how many groups.
    part_centers_, part_labels_ : (p, d) and (p,) means and groups of the sets; other items go to
        the nearest.

    References
    ----------
    van Craenendonck, Dumancic, Van Wolputte, Blockeel: COBRAS: interactive clustering with pairwise
    queries. IDA 2018.

    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> told = Constraints.from_links(4, [(0, 2, False), (0, 1, True), (2, 3, True)])
    >>> COBRAS(random_state=0).fit(X, constraints=told).labels_.tolist()
    [0, 0, 1, 1]
    """

    strategy: ClassVar[str] = "cobras"

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = self._checked(X)
        constraints = checked_constraints(constraints, len(X), must_link, cannot_link)
        known = constraints or Constraints(len(X))
        self._tree = tree(X, self._seed())
        found = self._replayed(self._tree, known, _unsure(known))
        middles = np.array([part.middle for part in found.parts])
        kinds, kind = np.unique(known.components[middles], return_inverse=True)
        p = np.zeros((len(X), len(kinds)), dtype=np.float32)
        for part, group in zip(found.parts, kind.tolist(), strict=True):
            p[part.items, group] = 1.0
        # A merged set holds for all items known to be of the same kind, wherever they are.
        for item in known.touched.tolist():
            group = int(np.searchsorted(kinds, known.components[item]))
            if group < len(kinds) and kinds[group] == known.components[item]:
                p[item] = np.eye(len(kinds), dtype=np.float32)[group]
        groups = settled(p, known)
        self.labels_ = groups.labels
        self.n_clusters_ = len(np.unique(groups.labels))
        left = np.isin(kind, groups.columns)  # a set whose items were all answered may be empty
        self.part_centers_ = np.stack([part.centre for part in found.parts])[left].astype(X.dtype)
        self.part_labels_ = np.searchsorted(groups.columns, kind[left]).astype(np.intp)
        return self

    def predict(self, X: Any) -> Ints:
        """Group of each row: that of the nearest set."""
        near = nearest(self._checked_again(X), self.part_centers_)[0]
        return np.asarray(self.part_labels_[near])

    def _centres(self) -> Floats:
        """Of the sets: a group may have several."""
        return self.part_centers_

    def _replayed(self, whole: SuperInstance, known: Constraints, passed: set[Pair]) -> Replayed:
        return replay_cobras(whole, known, passed)

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(self._generator().integers(2**31))

    def __getstate__(self) -> Any:
        """Omit the tree, which holds the vectors and serves the next refit only."""
        state = dict(super().__getstate__())
        state.pop("_tree", None)
        return state


class COBRA(COBRAS):
    """COBRA of van Craenendonck et al. (2017): cut once by k-means, merge what is one kind.

    As :class:`COBRAS`, with a number of sets that is fixed in advance; use it with the strategy
    `cobra`. While answers are missing, sets that may be one kind stand apart.

    Parameters
    ----------
    n_parts : sets; more are purer and need more answers. The same number as in the strategy.
    random_state : as in :class:`COBRAS`.

    References
    ----------
    van Craenendonck, Dumancic, Blockeel: COBRA: a fast and simple method for active clustering with
    pairwise constraints. IJCAI 2017.
    """

    strategy: ClassVar[str] = "cobra"

    def __init__(self, *, n_parts: int = 50, random_state: Any = None) -> None:
        self.n_parts = n_parts
        self.random_state = random_state

    def _replayed(self, whole: SuperInstance, known: Constraints, passed: set[Pair]) -> Replayed:
        if self.n_parts < 1:
            raise InputError(f"Expected n_parts to be at least 1, got {self.n_parts!r}. Try 50.")
        return replay_cobra(whole, known, passed, self.n_parts)


def _unsure(known: Constraints) -> set[Pair]:
    """Pairs about which the person was unsure."""
    return {
        frozenset(answer.question.items())
        for answer in known.answers
        if answer.choice == UNSURE and isinstance(answer.question, SamePair)
    }
