"""Truth and Matched: simulated people who know the kinds and never err."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError
from samekind.questions import Question


@dataclass(frozen=True)
class Truth:
    """A person who knows the kinds, looks only at the items shown, and never errs.

    A group is judged by its central exemplar alone, as a real person would judge it. So an item
    gets "none" if no exemplar is of its kind, however many of its kind are in one of the groups. Of
    two groups whose exemplars are both of its kind, the first is chosen.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    """

    labels: NDArray[np.intp]

    def answer(self, question: Question) -> str:
        """The true choice."""
        return question.truthful(self._same)

    def _same(self, a: int, b: int) -> bool | None:
        if self.labels[a] < 0 or self.labels[b] < 0:
            return None
        return bool(self.labels[a] == self.labels[b])


@dataclass(frozen=True)
class Matched:
    """The answers of the published IDC protocol, for comparison only: no person could give them.

    Clusters and kinds are matched one to one, once, by the true labels of all items. Every answer
    then says which cluster an item should be in, and an exemplar stands for the cluster that it was
    in at the beginning, whatever its own kind. Report such runs separately.

    Parameters
    ----------
    labels : (n,) the true kind of each item; a negative one is not known, and answered "unsure".
    clusters : (n,) the cluster of each item before any answer.

    >>> Matched(np.array([0, 0, 0, 1, 1]), np.array([5, 5, 2, 2, 2])).cluster_of
    {0: 5, 1: 2}
    """

    labels: NDArray[np.intp]
    clusters: NDArray[np.intp]
    cluster_of: dict[int, int] = field(init=False, repr=False, compare=False)
    """For each kind the cluster that it is matched with; without one when there are too few."""

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.clusters):
            raise InputError(
                f"Expected one cluster per label, got {len(self.labels)} labels and "
                f"{len(self.clusters)} clusters."
            )
        object.__setattr__(self, "cluster_of", _matched(self.labels, self.clusters))

    def answer(self, question: Question) -> str:
        """The choice whose exemplar was in the cluster that the item's kind is matched with."""
        standing = {i for choice in question.choices() for i in question.exemplars(choice)}

        def cluster(item: int) -> int | None:
            return self.cluster_of.get(int(self.labels[item]))

        def same(a: int, b: int) -> bool | None:
            if self.labels[a] < 0 or (b not in standing and self.labels[b] < 0):
                return None
            if b in standing:
                return bool(cluster(a) == int(self.clusters[b]))
            return bool(self.labels[a] == self.labels[b])

        return question.truthful(same)


def _matched(labels: NDArray[np.intp], clusters: NDArray[np.intp]) -> dict[int, int]:
    """The one-to-one matching of kinds with clusters that most items agree with (Hungarian)."""
    from scipy.optimize import linear_sum_assignment

    known = labels >= 0
    kinds, kind = np.unique(labels[known], return_inverse=True)
    numbers, number = np.unique(clusters[known], return_inverse=True)
    shared = np.zeros((len(kinds), len(numbers)), dtype=np.intp)
    np.add.at(shared, (kind, number), 1)
    pairs = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
    return {int(kinds[row]): int(numbers[column]) for row, column in pairs}
