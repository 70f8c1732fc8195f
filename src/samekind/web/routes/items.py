"""Route of one item: what is known about it besides its content."""

from __future__ import annotations

from fastapi import APIRouter

from samekind.web.dependencies import CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.schemas import core, items

router = APIRouter(prefix="/api", responses=core.ERRORS)


@router.get("/items/{id:path}/details")
def get_details(id: str, workspace: CurrentWorkspace) -> items.ItemDetails:
    """Return what is known about an item, such as when and where a photo was taken."""
    try:
        item = workspace.collection[workspace.collection.position(id)]
    except KeyError:
        raise ApiError(404, "unknown-item", "There is no such item in the collection.") from None
    facts = [items.Fact(name=name, value=value) for name, value in item.facts().items()]
    return items.ItemDetails(id=item.id, facts=facts)
