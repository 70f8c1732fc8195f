"""Routes of orientations: list them, start one, and compare two."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from samekind.session import Session
from samekind.web.dependencies import CurrentPerson, CurrentWorkspace
from samekind.web.rendering import item_view, representative_views, session_view
from samekind.web.schemas import core, groups
from samekind.workspace import comparison
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api", responses=core.ERRORS)
SHOWN_PER_GROUP = 3
Name = Annotated[str, Query(min_length=1, max_length=200)]
Group = Annotated[int, Query(ge=0, le=core.MAX_SAFE_INTEGER)]


@router.get("/orientations")
def list_names(workspace: CurrentWorkspace) -> core.Orientations:
    """List the names of all orientations."""
    return core.Orientations(orientations=workspace.names())


@router.post("/orientations", status_code=201)
def start_orientation(
    new: core.NewOrientation, workspace: CurrentWorkspace, person: CurrentPerson
) -> core.SessionView:
    """Start a new orientation."""
    return session_view(workspace, workspace.begin(new.name), person)


@router.get("/orientations/list")
def list_orientations(workspace: CurrentWorkspace) -> groups.OrientationList:
    """List all orientations with their answers and times."""
    summaries = (comparison.summarise(workspace, name) for name in workspace.names())
    return groups.OrientationList(
        orientations=[groups.OrientationView.model_validate(one) for one in summaries]
    )


@router.get("/compare")
def compare(a: Name, b: Name, workspace: CurrentWorkspace) -> groups.Comparison:
    """Compare the groups of two orientations."""
    first, second = workspace.session(a), workspace.session(b)
    found = comparison.compare(first.clustering, second.clustering)
    nested = found.nesting
    return groups.Comparison(
        a=_side(workspace, first, found.rows, found.cells.sum(axis=1).tolist()),
        b=_side(workspace, second, found.columns, found.cells.sum(axis=0).tolist()),
        items=int(found.cells.sum()),
        cells=found.cells.tolist(),
        agreement=round(found.agreement, 4),
        words=comparison.describe(found, a, b),
        nesting=None if nested is None else groups.NestingView.model_validate(nested),
    )


@router.get("/compare/cell")
def list_cell(
    a: Name,
    b: Name,
    row: Group,
    column: Group,
    workspace: CurrentWorkspace,
    offset: Annotated[int, Query(ge=0, le=core.MAX_SAFE_INTEGER)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 24,
) -> groups.Cell:
    """List the items that two groups share."""
    in_row = comparison.members_of(workspace.session(a).clustering, row, a)
    in_column = comparison.members_of(workspace.session(b).clustering, column, b)
    shared = np.flatnonzero(in_row & in_column)
    return groups.Cell(
        total=len(shared),
        offset=offset,
        items=[item_view(workspace, int(i)) for i in shared[offset : offset + limit]],
    )


def _side(
    workspace: Workspace, session: Session, numbers: list[int], sizes: list[int]
) -> groups.ComparedOrientation:
    clustering = session.clustering

    def share(number: int, size: int) -> groups.ComparedGroup:
        name, shown = f"{clustering.n_groups - len(numbers) + 1} others", []
        if number != comparison.OTHERS:
            name = clustering.name(number)
            shown = representative_views(workspace, clustering, number, SHOWN_PER_GROUP)
        return groups.ComparedGroup(number=number, name=name, size=size, shown=shown)

    return groups.ComparedOrientation(
        name=session.name,
        answers=len(session.answers),
        snapshot=clustering.snapshot,
        groups=[share(number, size) for number, size in zip(numbers, sizes, strict=True)],
    )
