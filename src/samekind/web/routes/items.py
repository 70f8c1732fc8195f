"""Route of one item: what is known about it besides its content."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path
from fastapi.responses import Response

from samekind.items import Item
from samekind.web.dependencies import CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.rendering import RUN
from samekind.web.routes.groups import shown
from samekind.web.schemas import core, items
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api", responses=core.ERRORS)


@router.get("/items/{id:path}/details")
def get_details(id: str, workspace: CurrentWorkspace) -> items.ItemDetails:
    """Return what is known about an item, such as when and where a photo was taken."""
    item = find_item(workspace, id)
    facts = [items.Fact(name=name, value=value) for name, value in item.facts().items()]
    pile = f"&pile={quote(workspace.address, safe='')}" if workspace.address else ""
    shown = [
        core.ItemView(
            id=one.id,
            kind=one.kind,
            preview=f"/api/items/{quote(item.id, safe='')}/members/{k}?v={RUN}{pile}",
        )
        for k, one in enumerate(item.members)
    ]
    return items.ItemDetails(id=item.id, facts=facts, members=shown)


@router.get("/items/{id:path}/members/{number}", response_class=Response)
def get_member(
    id: str, number: Annotated[int, Path(ge=0, le=9999)], workspace: CurrentWorkspace
) -> Response:
    """Return what a person sees of one of the near-duplicates that an item stands for."""
    members = find_item(workspace, id).members
    if number >= len(members):
        raise ApiError(404, "unknown-item", "There is no such picture.")
    return shown(members[number].id, members[number].preview)


def find_item(workspace: Workspace, id: str) -> Item:
    """Return an item of the collection by its id."""
    try:
        return workspace.collection[workspace.collection.position(id)]
    except KeyError:
        raise ApiError(404, "unknown-item", "There is no such item in the collection.") from None
