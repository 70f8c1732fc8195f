"""Routes of orientations: list, start, rename and delete them, and compare two."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from samekind.session import Session
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.rendering import item_view, representative_views, session_view
from samekind.web.schemas import core, groups
from samekind.workspace import comparison, groupings, starts
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
    listings = [workspace.listing(name) for name in workspace.all_names()]
    nested = [one for one in listings if one.nested and one.inside == workspace.root]
    gone = [one for one in listings if one.deleted]
    return groups.OrientationList(
        orientations=[_listed(workspace, workspace.listing(name)) for name in workspace.names()],
        nested=[_listed(workspace, one) for one in nested if not one.deleted],
        deleted=[_listed(workspace, one) for one in gone if groupings.is_listed(workspace, one)],
        whole=_whole(workspace),
    )


@router.put("/orientations/{name}")
def change_orientation(
    name: str, change: groups.OrientationChange, workspace: CurrentWorkspace
) -> groups.OrientationList:
    """Rename, delete or restore an orientation; its answers are kept."""
    if change.deleted:
        groupings.delete(workspace, name)
    elif change.deleted is False:
        groupings.restore(workspace, name)
    if change.title is not None:
        groupings.rename(workspace, name, change.title)
    return list_orientations(workspace)


@router.post("/orientations/within", status_code=201)
def start_within(
    new: groups.NewWithin, workspace: CurrentWorkspace, session: CurrentSession
) -> groups.Begun:
    """Start an orientation for the items of one group of this one."""
    begun = groupings.begin_within(workspace, session, new.group, new.name)
    message = f"{len(begun.items):,} items of {begun.group} are sorted by themselves."
    pile = groupings.part_key(workspace, begun.name)
    return groups.Begun(session=begun.name, pile=pile, message=message)


@router.get("/orientations/starts")
def list_starts(workspace: CurrentWorkspace) -> groups.LabelStarts:
    """List the labels that an orientation can begin from: folders, and columns of a table."""
    found = starts.starts_of(workspace)
    return groups.LabelStarts(starts=[groups.LabelStart.model_validate(one) for one in found])


@router.post("/orientations/from", status_code=201)
def start_from(new: groups.NewFrom, workspace: CurrentWorkspace) -> groups.Begun:
    """Start an orientation from folders, a column, or a file with items and their groups."""
    labels = starts.labels_of(workspace, new.kind, new.column, new.text)
    session, words = starts.begin_from(workspace, new.name, labels)
    return groups.Begun(session=session.name, pile=None, message=words)


def _listed(workspace: Workspace, listing: groupings.Listing) -> groups.OrientationView:
    found = comparison.summarise(workspace, listing.name)
    of = workspace.listing(listing.of).title if listing.of else ""
    return groups.OrientationView(
        name=listing.name,
        title=listing.title,
        group=f"{listing.group} of {of}" if listing.nested else "",
        pile=groupings.part_key(workspace, listing.name)
        if listing.name != workspace.root and listing.nested
        else None,
        answers=found.answers,
        began=found.began,
        latest=found.latest,
    )


def _whole(workspace: Workspace) -> groups.Whole | None:
    """Where the items of a nested orientation come from."""
    if not workspace.root:
        return None
    of = workspace.listing(workspace.root).of
    pile = workspace.key.rpartition(groupings.SEPARATOR)[0]
    return groups.Whole(title=workspace.listing(of).title, session=of, pile=pile or None)


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
        words=comparison.describe(found, workspace.listing(a).title, workspace.listing(b).title),
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
        title=workspace.listing(session.name).title,
        answers=len(session.answers),
        snapshot=clustering.snapshot,
        groups=[share(number, size) for number, size in zip(numbers, sizes, strict=True)],
    )
