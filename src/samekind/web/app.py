"""create_app: the routes of the page and its JSON twin, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import FastAPI

from samekind import __version__
from samekind.web import errors as failures
from samekind.web import router as front
from samekind.web import static
from samekind.web.routes import acts, events
from samekind.web.routes import exports as finishing
from samekind.web.routes import groups as grouping
from samekind.web.routes import jobs as working
from samekind.web.routes import map as mapping
from samekind.web.routes import orientations as comparing
from samekind.web.routes import polish as polishing
from samekind.web.routes import progress as progressing
from samekind.web.routes import questions as asking
from samekind.web.routes import start as opening
from samekind.web.security import LOOPBACK, Guard
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

if TYPE_CHECKING:  # older releases of the framework have no such module
    from fastapi.telemetry import TelemetryConfig

SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework can report requests to a collector named in the environment: never from here."""


def create_app(
    workspace: Workspace | None,
    *,
    hosts: Sequence[str] = LOOPBACK,
    port: int | None = None,
    page: Path = static.PAGE,
    workspaces: Workspaces | None = None,
    token: str | None = None,
) -> FastAPI:
    """The application over a desk.

    Parameters
    ----------
    desk : the collection and its orientations; None: no pile is open, the page shows Start only.
    hosts : names under which the server may be addressed; requests to any other are refused.
    port : the port that must stand in the Host header; None lets any through.
    page : the folder with the built page.
    hall : the other piles and the long work of this server; None: there is only this desk.
    token : what every request must show; None: nothing.
    """
    workspaces = (
        (Workspaces() if workspace is None else Workspaces.around(workspace))
        if workspaces is None
        else workspaces
    )

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(workspaces.close)

    app = FastAPI(
        title="samekind",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # the interactive documentation would load scripts from elsewhere
        redoc_url=None,
        lifespan=running,
        telemetry=SILENT,
    )
    app.add_middleware(Guard, hosts=hosts, port=port, token=token)
    failures.install(app)
    app.include_router(working.routes(workspaces))
    app.include_router(opening.routes(workspaces, __version__))
    if workspace is None:
        app.include_router(static.routes(page))
        app.include_router(front.no_pile())
        return app
    app.include_router(polishing.routes(workspaces, workspace))
    app.include_router(finishing.routes(workspaces, workspace))
    app.include_router(asking.routes(workspace, __version__))
    app.include_router(grouping.routes(workspace))
    app.include_router(acts.routes(workspace))
    app.include_router(mapping.routes(workspace))
    app.include_router(events.routes(workspace, workspaces.jobs))
    app.include_router(progressing.routes(workspace))
    app.include_router(comparing.routes(workspace))
    app.include_router(static.routes(page))
    return app
