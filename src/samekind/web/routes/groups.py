"""Routes of the result: groups, their items, previews of items, downloads."""

from __future__ import annotations

import re
import threading
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from samekind.errors import SourceError
from samekind.session import members
from samekind.web import rendering as views
from samekind.web.errors import ApiError
from samekind.web.routes.questions import Name
from samekind.web.schemas import acts as models_acts
from samekind.web.schemas import core as models
from samekind.workspace import download
from samekind.workspace.workspace import Workspace

GroupNumber = Annotated[int, Path(ge=1, le=models.LARGEST)]
SHOWN_AS = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/webp": "image/webp",
    "text/plain": "text/plain; charset=utf-8",
}
"""What a preview may be; anything that a browser could run is not in it."""
BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/webp": b"RIFF",
}
"""How the bytes of a picture begin: nothing else is sent under its name."""
AT_ONCE = threading.BoundedSemaphore(4)
"""Pictures that are decoded at the same time: a large one takes 240 MB of memory."""


def routes(workspace: Workspace) -> APIRouter:
    """Routes under /api that show the result."""
    api = APIRouter(prefix="/api", responses=models.FAILURES)
    _about_groups(api, workspace)
    _about_files(api, workspace)
    return api


def _about_groups(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/groups")
    def groups(session: Name = None) -> models_acts.GroupCards:
        one = workspace.session(session)
        clustering, answered = one.clustering, bool(len(one.constraints.touched))
        sizes = views.sizes(clustering)
        order = sorted(sizes, key=lambda number: (-sizes[number], number))
        return models_acts.GroupCards(
            snapshot=clustering.snapshot,
            groups=[views.group(workspace, clustering, k, answered=answered) for k in order],
        )

    @api.get("/groups/{number}")
    def listed(
        number: GroupNumber,
        session: Name = None,
        order: Literal["typical", "doubtful"] = "typical",
        offset: Annotated[int, Query(ge=0, le=models.LARGEST)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 60,
    ) -> models_acts.MemberPage:
        one = workspace.session(session)
        clustering = one.clustering
        check_group(number, clustering.numbers)
        ordered = members.by_doubt if order == "doubtful" else members.by_typicality
        shown = ordered(clustering, number)[offset : offset + limit]
        return models_acts.MemberPage(
            group=views.group(
                workspace, clustering, number, answered=bool(len(one.constraints.touched))
            ),
            offset=offset,
            items=[views.member(workspace, one, int(i)) for i in shown],
        )

    @api.put("/groups/{number}")
    def rename(
        number: GroupNumber, to: models.Rename, session: Name = None
    ) -> models_acts.GroupCard:
        one = workspace.session(session)
        check_group(number, one.clustering.numbers)
        one.rename(number, to.name)
        answered = bool(len(one.constraints.touched))
        return views.group(workspace, one.clustering, number, answered=answered)


def _about_files(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/items/{id:path}/preview", response_class=Response)
    def preview(id: str) -> Response:
        try:
            position = workspace.collection.position(id)
        except KeyError:
            raise ApiError(
                404, "unknown-item", "There is no such item in the collection."
            ) from None
        try:
            with AT_ONCE:
                shown = workspace.collection[position].preview()
        except OSError as fault:
            raise SourceError(
                f"The item {id!r} cannot be read any more. Put the file back, or open the "
                "collection again."
            ) from fault
        mime = SHOWN_AS.get(shown.mime.split(";")[0].strip().lower())
        if mime is None or not shown.data.startswith(BEGINNINGS.get(mime, b"")):
            raise ApiError(
                406,
                "cannot-be-shown",
                f"A preview of type {shown.mime!r} is not shown in a browser.",
                f"The source should give one of: {', '.join(SHOWN_AS)}.",
            )
        headers = {
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, max-age=3600",
            "Content-Disposition": "inline",
        }
        return Response(shown.data, media_type=mime, headers=headers)

    @api.get("/export", response_class=Response)
    def export(
        format: Annotated[Literal["csv", "json", "parquet"], Query()], session: Name = None
    ) -> Response:
        one = workspace.session(session)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{workspace.collection.name}-{one.name}").strip(
            "-."
        )
        headers = {"Content-Disposition": f'attachment; filename="{name or "groups"}.{format}"'}
        return Response(
            download.table(one, format), media_type=download.TYPES[format], headers=headers
        )


def check_group(number: int, known: tuple[int, ...]) -> None:
    """Refuse a group that there is not, or not any more."""
    if number not in known:
        raise ApiError(
            404,
            "unknown-group",
            f"There is no group {number}; it may have gone in the last refresh.",
            "GET /api/groups lists the groups.",
        )
