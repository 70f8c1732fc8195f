"""create_app: the routes of the page and its JSON twin, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import FastAPI

from samekind import __version__
from samekind.web import (
    acts,
    asking,
    comparing,
    events,
    failures,
    finishing,
    front,
    grouping,
    mapping,
    opening,
    polishing,
    progressing,
    static,
    working,
)
from samekind.web.desk import Desk
from samekind.web.hall import Hall
from samekind.web.security import LOOPBACK, Guard

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
    desk: Desk | None,
    *,
    hosts: Sequence[str] = LOOPBACK,
    port: int | None = None,
    page: Path = static.PAGE,
    hall: Hall | None = None,
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
    hall = (Hall() if desk is None else Hall.around(desk)) if hall is None else hall

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(hall.close)

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
    app.include_router(working.routes(hall))
    app.include_router(opening.routes(hall, __version__))
    if desk is None:
        app.include_router(static.routes(page))
        app.include_router(front.no_pile())
        return app
    app.include_router(polishing.routes(hall, desk))
    app.include_router(finishing.routes(hall, desk))
    app.include_router(asking.routes(desk, __version__))
    app.include_router(grouping.routes(desk))
    app.include_router(acts.routes(desk))
    app.include_router(mapping.routes(desk))
    app.include_router(events.routes(desk, hall.jobs))
    app.include_router(progressing.routes(desk))
    app.include_router(comparing.routes(desk))
    app.include_router(static.routes(page))
    return app
