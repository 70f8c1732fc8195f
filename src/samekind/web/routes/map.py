"""Routes of the map: where every item lies in the plane, and its group."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from samekind.session import members
from samekind.web.dependencies import CurrentSession, CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.rendering import placed_view
from samekind.web.schemas import core, groups
from samekind.workspace.item_search import find_items
from samekind.workspace.objects import objects_of

router = APIRouter(prefix="/api/map", responses=core.ERRORS)
MAX_ITEMS = 200
"""Items per request."""
MAX_FOUND = 20_000
"""Items that a search returns."""
Positions = Annotated[
    str,
    Query(
        pattern=r"^\d{1,15}(,\d{1,15})*$",
        max_length=16 * MAX_ITEMS,
        description="Positions, separated by commas",
    ),
]


@router.get("")
def get_map(workspace: CurrentWorkspace, session: CurrentSession) -> groups.MapView:
    """Describe the current map; its points are fetched by version."""
    current = workspace.maps.current(session)
    clustering, places = session.clustering, session.places.groups
    sizes = members.sizes(clustering)
    return groups.MapView(
        snapshot=current.snapshot,
        version=current.version,
        stage=current.stage,
        n=len(current.places),
        groups=[
            groups.MapGroup(
                number=number,
                name=clustering.name(number),
                place=places.get(number, 0),
                size=sizes.get(number, 0),
            )
            for number in current.numbers
        ],
    )


@router.get("/points", response_class=Response)
def get_points(
    version: Annotated[int, Query(ge=1, le=core.MAX_SAFE_INTEGER)],
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> Response:
    """Return coordinates and groups of all items, as binary data."""
    found = workspace.maps.version(session.name, version)
    if found is None:
        raise ApiError(
            404,
            "unknown-map",
            f"There is no version {version} of the map; it has been redrawn.",
            "GET /api/map returns the current version.",
        )
    return Response(found.as_bytes(), media_type="application/octet-stream")


@router.get("/find")
def find(
    workspace: CurrentWorkspace,
    session: CurrentSession,
    text: Annotated[str, Query(max_length=200)] = "",
    group: Annotated[int | None, Query(ge=1, le=core.MAX_SAFE_INTEGER)] = None,
    doubtful: bool = False,
) -> groups.FoundItems:
    """Find items by words in names, folders, texts and tables or for photos, by group, by doubt."""
    objects = objects_of(workspace.pile) if text.strip() else None
    found = find_items(session, text, group=group, doubtful=doubtful, objects=objects)
    return groups.FoundItems(
        total=len(found.positions),
        positions=found.positions[:MAX_FOUND].tolist(),
        words=found.words,
    )


@router.get("/items")
def list_items(
    positions: Positions, workspace: CurrentWorkspace, session: CurrentSession
) -> groups.MapItems:
    """Return the items at some positions."""
    n = len(session.collection)
    wanted = [int(position) for position in positions.split(",")][:MAX_ITEMS]
    if max(wanted) >= n:
        raise ApiError(
            404,
            "unknown-item",
            f"Expected positions from 0 to {n - 1}, got {max(wanted)}.",
            "Get the map again.",
        )
    return groups.MapItems(items=[placed_view(workspace, position) for position in wanted])
