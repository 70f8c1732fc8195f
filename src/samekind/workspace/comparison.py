"""Orientations side by side: a list of them, and the groups of one against those of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True)
class OrientationSummary:
    """An orientation by its ledger alone. Times are seconds since 1970; None: nothing was kept."""

    name: str
    answers: int
    began: float | None
    latest: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """How many items each group of one clustering shares with each group of another.

    Parameters
    ----------
    rows, columns : group numbers, largest group first; :data:`OTHERS` for all smaller ones.
        Columns are ordered so that shared items form a diagonal.
    cells : (rows, columns) number of shared items.
    agreement : the adjusted Rand index.
    """

    rows: list[int]
    columns: list[int]
    cells: NDArray[np.intp]
    agreement: float


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
    return Comparison(rows, columns, table, ari(first.labels, second.labels))


def describe_agreement(agreement: float) -> str:
    """Put an agreement into words.

    >>> describe_agreement(0.97)
    'The two are nearly the same grouping.'
    """
    if agreement >= 0.9:
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
