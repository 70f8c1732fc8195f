"""create_app: the page and its JSON API, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import APIRouter, Depends, FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response

from samekind import __version__
from samekind.web import errors
from samekind.web.dependencies import check_ledger
from samekind.web.routes import LEDGER_ROUTERS, ROUTERS
from samekind.web.security import LOOPBACK, Guard
from samekind.workspace.workspaces import Workspaces

if TYPE_CHECKING:  # older releases of the framework have no such module
    from fastapi.telemetry import TelemetryConfig

NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework can report requests to a collector named in the environment: never from here."""
PAGE = Path(__file__).parent / "page"
VIEWS = (
    "/",
    "/groups",
    "/groups/{number}",
    "/answers",
    "/groupings",
    "/orientations",
    "/progress",
    "/uncertainty",
    "/review",
    "/polish",
    "/conflicts",
    "/compare",
    "/map",
    "/start",
    "/new",
    "/finish",
)
"""Addresses of the page's views; all are served by the same document."""
ASSET_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
NOT_BUILT = """samekind is running, but its page has not been built.

Build it with Node 20 or newer:

    cd page && npm ci && npm run build

or install samekind again with pip, which builds it. Then reload.
The JSON API works without it: GET /api/session, GET /api/question.
"""


def create_app(
    workspaces: Workspaces,
    *,
    hosts: Sequence[str] = LOOPBACK,
    port: int | None = None,
    page: Path = PAGE,
    token: str | None = None,
    people: Mapping[str, str] | None = None,
    public_url: str | None = None,
    phone: str | None = None,
) -> FastAPI:
    """Build the application over some workspaces; it closes them when it shuts down.

    Parameters
    ----------
    workspaces : the open piles; without any, only the start page works.
    hosts : host names of the server; requests to any other are refused.
    port : the port that the Host header must name; None accepts any.
    page : the folder with the built page.
    token : the secret that every request must carry; None: no secret.
    people : the tokens of people by name, instead of one for all.
    public_url : the address of a reverse proxy in front of the server.
    phone : a token for phones, which must not open or write files of this machine.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(workspaces.close)

    app = FastAPI(
        title="samekind",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # the interactive documentation would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # it would repeat the token in an address without encryption
        lifespan=lifespan,
        telemetry=NO_TELEMETRY,
    )
    app.state.workspaces = workspaces
    app.state.people = tuple(people or ())
    app.add_middleware(
        Guard,
        hosts=hosts,
        port=port,
        token=token,
        people=people,
        public_url=public_url,
        phone=phone,
    )
    errors.install(app)
    for router in ROUTERS:
        app.include_router(router)
    for router in LEDGER_ROUTERS:
        app.include_router(router, dependencies=[Depends(check_ledger)])
    app.include_router(page_router(page))
    return app


def page_router(page: Path = PAGE) -> APIRouter:
    """Serve the built page; one that is built while the server runs is found."""
    router = APIRouter(include_in_schema=False)

    def document() -> Response:
        index = page / "index.html"
        if not index.is_file():
            return PlainTextResponse(NOT_BUILT, status_code=503)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    for address in VIEWS:
        router.add_api_route(address, document, methods=["GET"])

    @router.get("/assets/{name}")
    def asset(name: str) -> Response:
        # The name is looked up among the files of the folder, and never joined to a path.
        folder = page / "assets"
        known = {file.name: file for file in folder.iterdir()} if folder.is_dir() else {}
        media_type = ASSET_TYPES.get(Path(name).suffix)
        if name not in known or media_type is None:
            raise errors.ApiError(
                404, "not-found", "The page has no such file.", "Reload the page."
            )
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return FileResponse(known[name], media_type=media_type, headers=headers)

    return router
