"""The built page: one document for all its views, and its hashed files."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse, Response

from samekind.web.errors import ApiError

PAGE = Path(__file__).parent / "page"
VIEWS = (
    "/",
    "/groups",
    "/groups/{number}",
    "/answers",
    "/orientations",
    "/progress",
    "/conflicts",
    "/compare",
    "/map",
    "/start",
    "/finish",
)
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
NOT_BUILT = """samekind is running, but its page has not been built.

Build it with Node 20 or newer:

    cd page && npm ci && npm run build

or install samekind again with pip, which builds it by itself. Then reload.
The JSON interface works without it: GET /api/session, GET /api/question.
"""


def routes(page: Path = PAGE) -> APIRouter:
    """Routes of the page itself; a page built while the server runs is found."""
    site = APIRouter(include_in_schema=False)

    def document() -> Response:
        index = page / "index.html"
        if not index.is_file():
            return PlainTextResponse(NOT_BUILT, status_code=503)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    for address in VIEWS:
        site.add_api_route(address, document, methods=["GET"])

    @site.get("/assets/{name}")
    def asset(name: str) -> Response:
        # Only files that lie in the folder itself: the name is looked up, never joined blindly.
        folder = page / "assets"
        known = {one.name: one for one in folder.iterdir()} if folder.is_dir() else {}
        kind = TYPES.get(Path(name).suffix)
        if name not in known or kind is None:
            raise ApiError(
                404, "not-found", "There is no such file of the page.", "Reload the page."
            )
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return FileResponse(known[name], media_type=kind, headers=headers)

    return site
