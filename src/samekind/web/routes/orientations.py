"""Routes of orientations side by side: a list of them, and two as a table of groups by groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray

from samekind.evaluation import ari
from samekind.ledger.fold import Ledger
from samekind.web import rendering as views
from samekind.web.errors import ApiError
from samekind.web.schemas import core as models
from samekind.web.schemas import orientations as shapes
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.session import Session

MOST = 24
"""Groups of an orientation that are shown by themselves; the others stand together, as number 0."""
OTHERS = 0
STAND_FOR = 3
"""Items that stand for a group beside the table."""
Orientation = Annotated[str, Query(min_length=1, max_length=200)]
Group = Annotated[int, Query(ge=0, le=models.LARGEST)]


def routes(workspace: Workspace) -> APIRouter:
    """Routes under /api that show several orientations at once."""
    api = APIRouter(prefix="/api", responses=models.FAILURES)

    @api.get("/orientations/list")
    def listed() -> shapes.OrientationList:
        return shapes.OrientationList(
            orientations=[_seen(workspace, name) for name in workspace.names()]
        )

    @api.get("/compare")
    def compare(a: Orientation, b: Orientation) -> shapes.Comparison:
        return compared(workspace, workspace.session(a), workspace.session(b))

    @api.get("/compare/cell")
    def cell(
        a: Orientation,
        b: Orientation,
        row: Group,
        column: Group,
        offset: Annotated[int, Query(ge=0, le=models.LARGEST)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 24,
    ) -> shapes.Cell:
        rows = _members(workspace.session(a).clustering, row, a)
        columns = _members(workspace.session(b).clustering, column, b)
        found = np.flatnonzero(rows & columns)
        return shapes.Cell(
            total=len(found),
            offset=offset,
            items=[views.item(workspace, int(i)) for i in found[offset : offset + limit]],
        )

    return api


def compared(workspace: Workspace, a: Session, b: Session) -> shapes.Comparison:
    """Two orientations of one collection; columns stand where they share most with the rows."""
    first, second = a.clustering, b.clustering
    rows, columns = shown(first), shown(second)
    table = np.zeros((len(rows), len(columns)), dtype=np.intp)
    np.add.at(table, (_index(first, rows), _index(second, columns)), 1)
    order = _beside(table, columns)
    columns, table = [columns[k] for k in order], table[:, order]
    agreement = ari(first.labels, second.labels)
    return shapes.Comparison(
        a=_side(workspace, a, first, rows, table.sum(axis=1)),
        b=_side(workspace, b, second, columns, table.sum(axis=0)),
        items=len(first.labels),
        cells=table.tolist(),
        agreement=round(agreement, 4),
        words=in_words(agreement),
    )


def shown(clustering: Clustering) -> list[int]:
    """The numbers of the largest groups, and 0 for the others if there are any."""
    sizes = views.sizes(clustering)
    largest = sorted(sizes, key=lambda number: (-sizes[number], number))
    return largest if len(largest) <= MOST else [*largest[: MOST - 1], OTHERS]


def in_words(agreement: float) -> str:
    """What an agreement means to a person.

    >>> in_words(0.97)
    'The two are nearly the same grouping.'
    """
    if agreement >= 0.9:
        return "The two are nearly the same grouping."
    if agreement >= 0.5:
        return "The two have much in common."
    if agreement >= 0.1:
        return "The two have a little in common."
    return "The two have nothing in common beyond chance: they are two different views."


def _index(clustering: Clustering, numbers: list[int]) -> NDArray[np.intp]:
    """(n,) the place of each item's group among these numbers; those not listed are the last."""
    place = np.full(max(clustering.numbers) + 1, len(numbers) - 1, dtype=np.intp)
    place[numbers] = np.arange(len(numbers))
    return place[clustering.labels]


def _beside(table: NDArray[np.intp], columns: list[int]) -> list[int]:
    """Columns in the order of the rows that they share most with, so that a diagonal shows."""
    best = table.argmax(axis=0)
    last = [number == OTHERS for number in columns]
    return sorted(range(len(columns)), key=lambda k: (last[k], best[k], -table[best[k], k]))


def _side(
    workspace: Workspace,
    session: Session,
    clustering: Clustering,
    numbers: list[int],
    sizes: NDArray[np.intp],
) -> shapes.Side:
    left = clustering.n_groups - len(numbers) + 1

    def one(number: int, size: int) -> shapes.Share:
        if number == OTHERS:
            return shapes.Share(number=number, name=f"{left} others", size=size, shown=[])
        items = [
            views.item(workspace, i) for i in views.representatives(clustering, number, STAND_FOR)
        ]
        return shapes.Share(number=number, name=clustering.name(number), size=size, shown=items)

    return shapes.Side(
        name=session.name,
        answers=len(session.answers),
        snapshot=clustering.snapshot,
        groups=[one(number, int(size)) for number, size in zip(numbers, sizes, strict=True)],
    )


def _members(clustering: Clustering, number: int, orientation: str) -> NDArray[np.bool_]:
    """(n,) which items are in a group, or in those that are not shown by themselves."""
    numbers = shown(clustering)
    if number != OTHERS and number in clustering.numbers:
        return np.asarray(clustering.labels == number)
    if number == OTHERS and OTHERS in numbers:
        return ~np.isin(clustering.labels, numbers)
    raise ApiError(
        404,
        "unknown-group",
        f"There is no group {number} in {orientation!r}; it may have gone in the last refresh.",
        "Compare the two again with GET /api/compare.",
    )


def _seen(workspace: Workspace, name: str) -> shapes.OrientationView:
    """An orientation by its ledger alone, so that none has to be opened."""
    store = workspace.store if workspace.store is not None else workspace.session(name).store
    places: dict[str, int] = {}
    ledger = Ledger(lambda id: places.setdefault(id, len(places)))
    times = []
    for event in store.read(name):
        ledger.fold(event)
        times.append(event.at)
    return shapes.OrientationView(
        name=name,
        answers=len(ledger.answers),
        began=times[0] if times else None,
        latest=times[-1] if times else None,
    )
