"""ACC, NMI, ARI, Fowlkes-Mallows, pair F1, B-cubed; scores on asked and unasked items; curves.

Everything is computed from the non-empty cells of the contingency table, so a million items cost
two sorts and no n x n array. Labels are names: any integers (or strings), in any order. A truth of
-1 means that the kind of the item is not known, and the item is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.errors import InputError

Floats = NDArray[np.float64]

METRICS = ("acc", "nmi", "ari", "fm", "pair_f1", "bcubed")
"""The keys of :func:`score`, in the order in which tables show them."""

_DENSE_CELLS = 4_000_000
"""Above this many cells the assignment for ACC is solved on the sparse table."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """How many items each true kind shares with each group, non-empty cells only.

    Parameters
    ----------
    kind, group : (c,) row and column of each non-empty cell.
    count : (c,) items in it.
    kinds, groups : items per true kind and per group.
    """

    kind: NDArray[np.intp]
    group: NDArray[np.intp]
    count: Floats
    kinds: Floats
    groups: Floats

    @classmethod
    def of(cls, truth: ArrayLike, labels: ArrayLike) -> Self:
        """Count; raises :class:`InputError` when nothing is left to count."""
        true, found = np.asarray(truth), np.asarray(labels)
        if true.ndim != 1 or true.shape != found.shape:
            raise InputError(
                "Expected truth and labels to be two lists of the same length, got shapes "
                f"{true.shape} and {found.shape}. Give one label per item."
            )
        if np.issubdtype(true.dtype, np.number):
            known = true != -1
            if not known.all():
                true, found = true[known], found[known]
        if not len(true):
            raise InputError(
                "There is no item with a known truth, so nothing can be scored. "
                "Give at least one item whose truth is not -1."
            )
        rows, row = np.unique(true, return_inverse=True)
        columns, column = np.unique(found, return_inverse=True)
        cell, count = np.unique(row * len(columns) + column, return_counts=True)
        return cls(
            cell // len(columns),
            cell % len(columns),
            count.astype(np.float64),
            np.bincount(row, minlength=len(rows)).astype(np.float64),
            np.bincount(column, minlength=len(columns)).astype(np.float64),
        )

    @property
    def n(self) -> float:
        """How many items were counted."""
        return float(self.kinds.sum())

    @cached_property
    def pairs(self) -> tuple[float, float, float, float]:
        """Unordered pairs: together in both, in the truth, in the groups, and all of them."""
        return (
            float((self.count * (self.count - 1)).sum() / 2),
            float((self.kinds * (self.kinds - 1)).sum() / 2),
            float((self.groups * (self.groups - 1)).sum() / 2),
            self.n * (self.n - 1) / 2,
        )

    def acc(self) -> float:
        """See :func:`acc`."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        # Kinds and groups that share no item, not even through others, are matched separately.
        r, c = len(self.kinds), len(self.groups)
        cells = csr_array((self.count, (self.kind, r + self.group)), shape=(r + c, r + c))
        part = connected_components(cells, directed=False)[1]
        smaller = np.minimum(np.bincount(part[:r]), np.bincount(part[r:]))
        at = part[self.kind]
        largest = np.zeros(len(smaller))
        np.maximum.at(largest, at, self.count)
        right = float(largest[smaller == 1].sum())
        rest = np.flatnonzero(smaller[at] > 1)
        rest = rest[np.argsort(at[rest], kind="stable")]
        for cell in np.split(rest, np.flatnonzero(np.diff(at[rest])) + 1):
            if len(cell):
                right += _best_matching(self.kind[cell], self.group[cell], self.count[cell])
        return right / self.n

    def nmi(self) -> float:
        """See :func:`nmi`."""
        share = self.count / self.n
        expected = self.kinds[self.kind] * self.groups[self.group] / self.n**2
        mutual = float((share * np.log(share / expected)).sum())
        entropies = _entropy(self.kinds) + _entropy(self.groups)
        if len(self.kinds) == len(self.groups) == 1:
            return 1.0
        return float(np.clip(2 * mutual / entropies, 0.0, 1.0))

    def ari(self) -> float:
        """See :func:`ari`."""
        both, true, found, every = self.pairs
        if both == true == found:
            return 1.0
        expected = true * found / every
        return (both - expected) / ((true + found) / 2 - expected)

    def pair_prf(self) -> tuple[float, float, float]:
        """See :func:`pair_f1`."""
        both, true, found, _ = self.pairs
        return _prf(both / found if found else 0.0, both / true if true else 0.0)

    def bcubed_prf(self) -> tuple[float, float, float]:
        """See :func:`bcubed`."""
        square = self.count**2
        return _prf(
            float((square / self.groups[self.group]).sum() / self.n),
            float((square / self.kinds[self.kind]).sum() / self.n),
        )

    def purity(self) -> float:
        """See :func:`purity`."""
        largest = np.zeros(len(self.groups))
        np.maximum.at(largest, self.group, self.count)
        return float(largest.sum() / self.n)


def acc(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of items that are right under the best one-to-one naming of the groups (Hungarian).

    >>> acc([0, 0, 1, 1], [5, 5, 5, 3])
    0.75
    """
    return Contingency.of(truth, labels).acc()


def nmi(truth: ArrayLike, labels: ArrayLike) -> float:
    """Mutual information over the mean of the two entropies; 1 when neither side is split."""
    return Contingency.of(truth, labels).nmi()


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted Rand index: 0 at chance, 1 for equal groupings."""
    return Contingency.of(truth, labels).ari()


def fowlkes_mallows(truth: ArrayLike, labels: ArrayLike) -> float:
    """Geometric mean of pair precision and recall; 0 when no pair is together in both."""
    precision, recall, _ = Contingency.of(truth, labels).pair_prf()
    return float(np.sqrt(precision * recall))


def pair_f1(truth: ArrayLike, labels: ArrayLike) -> tuple[float, float, float]:
    """Precision, recall and F1 over pairs of items put together; 0 when there is no such pair."""
    return Contingency.of(truth, labels).pair_prf()


def bcubed(truth: ArrayLike, labels: ArrayLike) -> tuple[float, float, float]:
    """Precision, recall and F of B-cubed: each item weighs its own group and its own kind."""
    return Contingency.of(truth, labels).bcubed_prf()


def purity(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of items of the commonest kind of their group; many small groups make it high."""
    return Contingency.of(truth, labels).purity()


def score(truth: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """All :data:`METRICS` at once.

    >>> score([0, 0, 1, 1, -1], [7, 7, 2, 2, 2])["ari"]
    1.0
    """
    table = Contingency.of(truth, labels)
    precision, recall, f1 = table.pair_prf()
    return {
        "acc": table.acc(),
        "nmi": table.nmi(),
        "ari": table.ari(),
        "fm": float(np.sqrt(precision * recall)),
        "pair_f1": f1,
        "bcubed": table.bcubed_prf()[2],
    }


@dataclass(frozen=True)
class Scores:
    """One grouping scored three ways, because asked items flatter a method.

    Parameters
    ----------
    everything : scores on all items.
    unasked : on the items that no question showed; None when there is no such item.
    heldout : on items that the learner never saw, through `predict`; None when there are none.
    """

    everything: Mapping[str, float]
    unasked: Mapping[str, float] | None = None
    heldout: Mapping[str, float] | None = None

    @classmethod
    def of(
        cls,
        truth: ArrayLike,
        labels: ArrayLike,
        *,
        asked: ArrayLike | None = None,
        heldout_truth: ArrayLike | None = None,
        heldout_labels: ArrayLike | None = None,
    ) -> Self:
        """Score a grouping. `asked` is a mask over the items that questions showed."""
        true, found = np.asarray(truth), np.asarray(labels)
        everything = score(true, found)
        unasked: dict[str, float] | None = None
        if asked is not None:
            rest = ~np.asarray(asked, dtype=bool)
            if rest.shape != true.shape:
                raise InputError(
                    f"The mask of asked items has shape {rest.shape}, the truth {true.shape}. "
                    "Give one True or False per item."
                )
            unasked = _score_or_none(true[rest], found[rest])
        if (heldout_truth is None) != (heldout_labels is None):
            raise InputError("Held-out items need both their truth and their predicted labels.")
        if heldout_truth is None or heldout_labels is None:
            return cls(everything, unasked)
        held = _score_or_none(np.asarray(heldout_truth), np.asarray(heldout_labels))
        return cls(everything, unasked, held)

    def row(self) -> dict[str, float]:
        """One flat row: ``acc``, ..., ``unasked_acc``, ..., ``heldout_acc``, ..."""
        row = dict(self.everything)
        for prefix, part in (("unasked", self.unasked), ("heldout", self.heldout)):
            row |= {f"{prefix}_{name}": value for name, value in (part or {}).items()}
        return row


@dataclass(frozen=True)
class Curve:
    """How the scores grow with the questions: rows of ``{"questions": 10, "acc": .8, ...}``.

    >>> curve = Curve([{"questions": 0, "acc": 0.5}, {"questions": 10, "acc": 0.9}])
    >>> curve.area("acc"), curve.questions_to("acc", 0.7)
    (0.7, 10)
    """

    rows: Sequence[Mapping[str, float]] = ()

    def __post_init__(self) -> None:
        if any("questions" not in row for row in self.rows):
            raise InputError("Every row of a curve needs the key 'questions'.")
        questions = [row["questions"] for row in self.rows]
        if any(after <= before for before, after in pairwise(questions)):
            raise InputError(
                f"Expected questions that rise from row to row of a curve, got {questions}. "
                "Keep one row per number of questions, in order."
            )

    def values(self, metric: str) -> tuple[Floats, Floats]:
        """Questions and values of one metric, from the rows that have it."""
        kept = [row for row in self.rows if metric in row]
        if not kept:
            known = sorted({name for row in self.rows for name in row} - {"questions"})
            raise InputError(
                f"The curve has no row with {metric!r}. Known: {', '.join(known) or 'none'}."
            )
        pairs = np.array([(row["questions"], row[metric]) for row in kept], dtype=np.float64)
        return pairs[:, 0], pairs[:, 1]

    def area(self, metric: str = "ari") -> float:
        """Mean height over the questions (trapezoids): 1 for a curve that is perfect throughout."""
        x, y = self.values(metric)
        return float(y[0]) if len(x) == 1 else float(np.trapezoid(y, x) / (x[-1] - x[0]))

    def questions_to(self, metric: str, value: float) -> int | None:
        """Questions of the first row that reaches `value`; None when no row does."""
        x, y = self.values(metric)
        reached = np.flatnonzero(y >= value)
        return int(x[reached[0]]) if len(reached) else None


def _best_matching(kind: NDArray[np.intp], group: NDArray[np.intp], count: Floats) -> float:
    """Most items that a one-to-one naming of the groups gets right."""
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, row = np.unique(kind, return_inverse=True)
    columns, column = np.unique(group, return_inverse=True)
    r, c = len(rows), len(columns)
    if r * c <= _DENSE_CELLS:
        table = np.zeros((r, c))
        table[row, column] = count
        return float(table[linear_sum_assignment(table, maximize=True)].sum())
    if r > c:
        row, column, r, c = column, row, c, r
    # A private empty column per row makes every matching full; adding one to each weight
    # keeps those empty cells in the sparse table and shifts every matching by the same amount.
    weights = np.concatenate([count + 1, np.ones(r)])
    at = (np.concatenate([row, np.arange(r)]), np.concatenate([column, c + np.arange(r)]))
    padded = csr_array((weights, at), shape=(r, c + r))
    i, j = min_weight_full_bipartite_matching(padded, maximize=True)
    return float(padded[i, j].sum() - r)


def _score_or_none(truth: NDArray[Any], labels: NDArray[Any]) -> dict[str, float] | None:
    numeric = np.issubdtype(truth.dtype, np.number)
    known = int((truth != -1).sum()) if numeric else len(truth)
    return score(truth, labels) if known or truth.shape != labels.shape else None


def _entropy(sizes: Floats) -> float:
    share = sizes / sizes.sum()
    return float(-(share * np.log(share)).sum())


def _prf(precision: float, recall: float) -> tuple[float, float, float]:
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0
