"""Orientations side by side: a list of them, and the groups of one against those of another.

Two groupings can agree by chance only and still belong together: every breed is of one species.
Such nesting is found beside the adjusted Rand index, which is close to 0 for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from samekind.errors import UnknownGroup
from samekind.evaluation import ari
from samekind.ledger.fold import LedgerState
from samekind.session.members import sizes

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.workspace.workspace import Workspace

MAX_SHOWN_GROUPS = 24
"""Groups of an orientation with a row or column of their own; the others share one."""
OTHERS = 0
"""Stands for all groups without a row or column of their own."""
SAME, NESTED, PARTLY_NESTED = 0.9, 0.9, 0.5
"""Agreement from which two groupings count as the same, and nesting beyond chance."""
SHUFFLES = 8
"""Random groupings from which the nesting by chance is estimated."""
MAX_SHUFFLED = 20_000
"""Items of which the nesting by chance is estimated."""


@dataclass(frozen=True)
class OrientationSummary:
    """An orientation by its ledger alone. Times are seconds since 1970; None: nothing was kept."""

    name: str
    answers: int
    began: float | None
    latest: float | None


@dataclass(frozen=True)
class Nesting:
    """Groups of one clustering that lie within groups of the other.

    Parameters
    ----------
    inner : which of the two is the finer one: "a" for the rows, "b" for the columns.
    outside : items that do not lie in the group in which most of their finer group lies.
    share : 1 if every finer group lies within one group of the other, 0 by chance.
    """

    inner: Literal["a", "b"]
    outside: int
    share: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """How many items each group of one clustering shares with each group of another.

    Parameters
    ----------
    rows, columns : group numbers, largest group first; :data:`OTHERS` for all smaller ones.
        Columns are ordered so that shared items form a diagonal.
    cells : (rows, columns) number of shared items.
    agreement : the adjusted Rand index.
    nesting : how far the groups of one lie within those of the other; None: no more than by chance.
    """

    rows: list[int]
    columns: list[int]
    cells: NDArray[np.intp]
    agreement: float
    nesting: Nesting | None


def summarise(workspace: Workspace, name: str) -> OrientationSummary:
    """Summarise an orientation from its ledger, without opening its session."""
    store = workspace.store if workspace.store is not None else workspace.session(name).store
    positions: dict[str, int] = {}
    ledger = LedgerState(lambda id: positions.setdefault(id, len(positions)))
    times = []
    for event in store.read(name):
        ledger.fold(event)
        times.append(event.at)
    first, last = (times[0], times[-1]) if times else (None, None)
    return OrientationSummary(name, len(ledger.answers), first, last)


def compare(first: Clustering, second: Clustering) -> Comparison:
    """Compare two clusterings of the same items."""
    rows, columns = shown_groups(first), shown_groups(second)
    table = np.zeros((len(rows), len(columns)), dtype=np.intp)
    np.add.at(table, (_index(first, rows), _index(second, columns)), 1)
    order = _diagonal_order(table, columns)
    columns, table = [columns[k] for k in order], table[:, order]
    found = nesting(first.labels, second.labels)
    return Comparison(rows, columns, table, ari(first.labels, second.labels), found)


def nesting(a: NDArray[np.intp], b: NDArray[np.intp]) -> Nesting | None:
    """Find which of two groupings is the finer one, and how far it lies within the other.

    >>> nesting(np.array([1, 1, 1, 1, 2, 2, 2, 2]), np.array([1, 1, 2, 2, 3, 3, 4, 4]))
    Nesting(inner='b', outside=0, share=1.0)
    """
    a, b = (np.unique(labels, return_inverse=True)[1] for labels in (a, b))
    if min(a.max(), b.max()) == 0:  # everything lies within a single group
        return None
    inner: Literal["a", "b"] = "b" if b.max() >= a.max() else "a"
    fine, coarse = (b, a) if inner == "b" else (a, b)
    inside = _inside(fine, coarse)
    some = np.unique(np.linspace(0, len(fine) - 1, min(MAX_SHUFFLED, len(fine))).astype(np.intp))
    rng = np.random.default_rng(0)
    chance = np.mean(
        [_inside(fine[some], coarse[rng.permutation(some)]) / len(some) for _ in range(SHUFFLES)]
    )
    share = float((inside / len(fine) - chance) / (1 - chance)) if chance < 1 else 0.0
    if share < PARTLY_NESTED:
        return None
    return Nesting(inner, len(fine) - inside, share)


def _inside(fine: NDArray[np.intp], coarse: NDArray[np.intp]) -> int:
    """Count the items in the coarse group in which most of their fine group lies."""
    width = int(coarse.max()) + 1
    cells, n_items = np.unique(fine * width + coarse, return_counts=True)
    most = np.zeros(int(fine.max()) + 1, dtype=np.intp)
    np.maximum.at(most, cells // width, n_items)
    return int(most.sum())


def describe(found: Comparison, a: str, b: str) -> str:
    """Put a comparison of the orientations `a` and `b` into words."""
    inner = found.nesting
    if inner is None or found.agreement >= SAME:
        return describe_agreement(found.agreement)
    fine, coarse = (a, b) if inner.inner == "a" else (b, a)
    if inner.outside == 0:
        return f"Every group of “{fine}” lies within one group of “{coarse}”."
    items = int(found.cells.sum())
    rest = f"all but {inner.outside:,} of {items:,} items"
    if inner.share >= NESTED:
        return f"The groups of “{fine}” lie within groups of “{coarse}”, for {rest}."
    return f"Most groups of “{fine}” lie within groups of “{coarse}”: it holds for {rest}."


def describe_agreement(agreement: float) -> str:
    """Put an agreement into words.

    >>> describe_agreement(0.97)
    'The two are nearly the same grouping.'
    """
    if agreement >= SAME:
        return "The two are nearly the same grouping."
    if agreement >= 0.5:
        return "The two have much in common."
    if agreement >= 0.1:
        return "The two have a little in common."
    return "The two have nothing in common beyond chance: they are two different views."


def shown_groups(clustering: Clustering) -> list[int]:
    """Numbers of the largest groups, and :data:`OTHERS` if there are more."""
    n_items = sizes(clustering)
    largest = sorted(n_items, key=lambda number: (-n_items[number], number))
    if len(largest) <= MAX_SHOWN_GROUPS:
        return largest
    return [*largest[: MAX_SHOWN_GROUPS - 1], OTHERS]


def members_of(clustering: Clustering, number: int, orientation: str) -> NDArray[np.bool_]:
    """(n,) which items are in a group, or in one of the :data:`OTHERS`."""
    shown = shown_groups(clustering)
    if number != OTHERS and number in clustering.numbers:
        return np.asarray(clustering.labels == number)
    if number == OTHERS and OTHERS in shown:
        return ~np.isin(clustering.labels, shown)
    raise UnknownGroup(
        f"There is no group {number} in {orientation!r}; it may have gone in the last refresh. "
        "Compare the two again."
    )


def _index(clustering: Clustering, numbers: list[int]) -> NDArray[np.intp]:
    """(n,) the index of each item's group in `numbers`; groups that are not listed count last."""
    index = np.full(max(clustering.numbers) + 1, len(numbers) - 1, dtype=np.intp)
    index[numbers] = np.arange(len(numbers))
    return index[clustering.labels]


def _diagonal_order(table: NDArray[np.intp], columns: list[int]) -> list[int]:
    """Order the columns by the row with which they share most; the others come last."""
    best = table.argmax(axis=0)
    last = [number == OTHERS for number in columns]
    return sorted(range(len(columns)), key=lambda k: (last[k], best[k], -table[best[k], k]))
