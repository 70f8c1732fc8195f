"""Routes of new items: files that a known pile has since the last time, and where they were put."""

from __future__ import annotations

from fastapi import APIRouter

from samekind.session import members
from samekind.web.dependencies import CurrentSession, CurrentWorkspace
from samekind.web.rendering import member_view
from samekind.web.schemas import core, items

router = APIRouter(prefix="/api/new", responses=core.ERRORS)
MAX_SHOWN = 500


@router.get("")
def get_new_items(workspace: CurrentWorkspace, session: CurrentSession) -> items.NewItems:
    """List the new items, by the group that each was put into, the least sure ones first."""
    clustering = session.clustering
    positions = [workspace.collection.position(id) for id in workspace.news.ids]
    sure = members.sureness(clustering)
    by_group: dict[int, list[int]] = {}
    for i in sorted(positions, key=lambda i: float(sure[i]))[:MAX_SHOWN]:
        by_group.setdefault(int(clustering.labels[i]), []).append(i)
    return items.NewItems(
        total=len(positions),
        groups=[
            items.NewInGroup(
                number=number,
                name=clustering.name(number),
                items=[member_view(workspace, session, i) for i in there],
            )
            for number, there in sorted(by_group.items(), key=lambda pair: -len(pair[1]))
        ],
    )


@router.post("/seen")
def accept_new_items(
    _: core.Empty, workspace: CurrentWorkspace, session: CurrentSession
) -> items.NewItems:
    """Note that the person has seen the new items."""
    workspace.news.accept(workspace.collection)
    return get_new_items(workspace, session)
