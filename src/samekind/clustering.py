"""Clustering: one snapshot of the groups, with numbers and names that are stable across refits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError

T = TypeVar("T")
Labels = NDArray[np.intp]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Clustering:
    """The groups after one refit. Immutable.

    Parameters
    ----------
    labels : (n,) group number of each item. Numbers start at 1 and are never reused for another
        group, so they may have gaps.
    space : (n, d) the vectors in which the groups were found; strategies measure distances here.
    membership : (n, k) soft membership, rows sum to one, columns follow `numbers`; None if the
        clusterer returns only hard groups.
    names : names given by the person, by group number.
    snapshot : counts the refits of a session.
    last_number : the highest number used in this or an earlier snapshot.
    lineage : for each group, the number of its items by their group in the previous snapshot.
    views : (2, n, d) the items under two random augmentations, if the learner has them.
    draws : whole groupings (items, labels, weight) drawn from a posterior, if the learner has one.

    >>> before = Clustering.first([0, 0, 1, 1], np.zeros((4, 2)))
    >>> after = before.followed_by([7, 7, 7, 3], before.space)
    >>> after.labels.tolist(), after.lineage[1]
    ([1, 1, 1, 2], {1: 2, 2: 1})
    """

    labels: Labels
    space: Vectors
    membership: NDArray[np.floating[Any]] | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    snapshot: int = 0
    last_number: int = 0
    lineage: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    views: Vectors | None = None
    draws: Any = None
    _memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def first(
        cls,
        labels: Any,
        space: Any,
        membership: NDArray[np.floating[Any]] | None = None,
        views: Vectors | None = None,
        draws: Any = None,
        *,
        snapshot: int = 0,
    ) -> Clustering:
        """The first snapshot: groups are numbered from 1 by descending size."""
        raw = _checked(labels, len(space))
        found, first_seen, counts = np.unique(raw, return_index=True, return_counts=True)
        order = np.lexsort((first_seen, -counts))
        numbers = np.empty(len(found), dtype=np.intp)
        numbers[order] = np.arange(1, len(found) + 1)
        parts = _renumbered(raw, found, numbers, space, membership)
        return cls(*parts, snapshot=snapshot, last_number=len(found), views=views, draws=draws)

    def followed_by(
        self,
        labels: Any,
        space: Any,
        membership: NDArray[np.floating[Any]] | None = None,
        views: Vectors | None = None,
        draws: Any = None,
        *,
        weight: NDArray[np.floating[Any]] | None = None,
    ) -> Clustering:
        """The next snapshot; a group inherits the number of the old group that it overlaps most.

        `weight` lets some items (those that the person placed) count more than others. Groups that
        inherit nothing get new numbers. `membership` columns follow the sorted raw labels.
        """
        raw = _checked(labels, len(space))
        if len(raw) != len(self.labels):
            raise InputError(
                f"Expected the next snapshot to have {len(self.labels)} items, got {len(raw)}. "
                "Start again with Clustering.first."
            )
        found, index = np.unique(raw, return_inverse=True)
        old, old_index = np.unique(self.labels, return_inverse=True)
        table = np.zeros((len(found), len(old)))
        np.add.at(table, (index, old_index), 1.0 if weight is None else weight)
        counts = np.zeros((len(found), len(old)), dtype=np.intp)
        np.add.at(counts, (index, old_index), 1)
        numbers = _inherited(table, old, self.last_number)
        lineage = {
            int(number): {int(old[j]): int(row[j]) for j in np.flatnonzero(row)}
            for number, row in zip(numbers, counts, strict=True)
        }
        return Clustering(
            *_renumbered(raw, found, numbers, space, membership),
            names={n: self.names[n] for n in sorted(map(int, numbers)) if n in self.names},
            snapshot=self.snapshot + 1,
            last_number=max(self.last_number, int(numbers.max(initial=0))),
            lineage=lineage,
            views=views,
            draws=draws,
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The group numbers, ascending."""
        return self.memo("numbers", lambda: tuple(int(k) for k in np.unique(self.labels)))

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.numbers)

    def sizes(self) -> dict[int, int]:
        """The number of items by group number."""
        numbers, counts = np.unique(self.labels, return_counts=True)
        return {int(k): int(c) for k, c in zip(numbers, counts, strict=True)}

    def members(self, number: int) -> NDArray[np.intp]:
        """Positions of the items of a group."""
        return np.flatnonzero(self.labels == number)

    def name(self, number: int) -> str:
        """The person's name for a group, or "Group 3"."""
        return self.names.get(number, f"Group {number}")

    def named(self, number: int, name: str) -> Clustering:
        """This snapshot with a group renamed; an empty name removes the name."""
        if number not in self.numbers:
            raise InputError(
                f"There is no group {number}. Groups: {', '.join(map(str, self.numbers))}."
            )
        names = {k: v for k, v in self.names.items() if k != number}
        renamed = replace(self, names=names | ({number: name} if name else {}))
        renamed._memo.update(self._memo)  # nothing derived depends on names
        return renamed

    def memo(self, key: Any, compute: Callable[[], T]) -> T:
        """A value derived from this snapshot (neighbours, medoids), computed once."""
        if key not in self._memo:
            self._memo[key] = compute()
        return cast(T, self._memo[key])


def _checked(labels: Any, n: int) -> Labels:
    raw = np.asarray(labels)
    if raw.shape != (n,):
        raise InputError(f"Expected one label for each of {n} items, got shape {raw.shape}.")
    return raw.astype(np.intp)


def _inherited(table: NDArray[np.floating[Any]], old: Labels, last_number: int) -> Labels:
    """Assign to each row (new group) the number of a column (old group), largest overlap first."""
    numbers = np.zeros(len(table), dtype=np.intp)
    taken: set[int] = set()
    for flat in np.argsort(-table, axis=None, kind="stable"):
        row, column = divmod(int(flat), len(old))
        if table[row, column] > 0 and not numbers[row] and column not in taken:
            numbers[row] = old[column]
            taken.add(column)
    fresh = np.flatnonzero(numbers == 0)
    numbers[fresh] = last_number + 1 + np.arange(len(fresh))
    return numbers


def _renumbered(
    raw: Labels,
    found: Labels,
    numbers: Labels,
    space: Any,
    membership: NDArray[np.floating[Any]] | None,
) -> tuple[Labels, Vectors, NDArray[np.floating[Any]] | None]:
    """Labels, space and membership with the raw labels `found` replaced by `numbers`."""
    labels = numbers[np.searchsorted(found, raw)]
    if membership is not None:
        if membership.shape != (len(raw), len(found)):
            raise InputError(
                "Expected a membership with one row per item and one column per group, "
                f"{(len(raw), len(found))}, got {membership.shape}."
            )
        membership = membership[:, np.argsort(numbers)]
    return labels, np.asarray(space, dtype=np.float32), membership
