"""Routes of the map: where every item lies in the plane, and in which group it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from samekind.web import rendering as views
from samekind.web.errors import ApiError
from samekind.web.routes.questions import Name
from samekind.web.schemas import core as models
from samekind.web.schemas import map as models_map
from samekind.workspace.workspace import Workspace

MOST = 200
"""Items that may be looked up at once."""
Wanted = Annotated[
    str,
    Query(
        pattern=r"^\d{1,15}(,\d{1,15})*$", max_length=16 * MOST, description="Places, with commas"
    ),
]


def routes(workspace: Workspace) -> APIRouter:
    """Routes under /api/map."""
    api = APIRouter(prefix="/api/map", responses=models.FAILURES)

    @api.get("")
    def describe(session: Name = None) -> models_map.MapView:
        one = workspace.session(session)
        chart = workspace.maps.current(one)
        sizes = views.sizes(one.clustering)
        return models_map.MapView(
            snapshot=chart.snapshot,
            version=chart.version,
            stage=chart.stage,
            n=len(chart.places),
            groups=[
                models_map.MapGroup(
                    number=number, name=one.clustering.name(number), size=sizes.get(number, 0)
                )
                for number in chart.numbers
            ],
        )

    @api.get("/points", response_class=Response)
    def points(
        version: Annotated[int, Query(ge=1, le=models.LARGEST)], session: Name = None
    ) -> Response:
        one = workspace.session(session)
        chart = workspace.maps.version(one.name, version)
        if chart is None:
            raise ApiError(
                404,
                "unknown-map",
                f"There is no version {version} of the map; it has been drawn anew.",
                "GET /api/map tells which version there is.",
            )
        return Response(chart.as_bytes(), media_type="application/octet-stream")

    @api.get("/items")
    def items(positions: Wanted, session: Name = None) -> models_map.MapItems:
        n = len(workspace.session(session).collection)
        wanted = [int(place) for place in positions.split(",")][:MOST]
        if any(place >= n for place in wanted):
            raise ApiError(
                404,
                "unknown-item",
                f"There is no item at place {max(wanted)}; the places are 0 to {n - 1}.",
                "Get the map again.",
            )
        return models_map.MapItems(items=[views.placed(workspace, place) for place in wanted])

    return api
