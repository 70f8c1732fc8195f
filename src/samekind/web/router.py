"""Front: one address for several piles; each has the whole page, named by ``?pile=``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from urllib.parse import parse_qs

from anyio import to_thread
from fastapi import APIRouter
from starlette.types import ASGIApp, Receive, Scope, Send

from samekind.web.errors import ApiError
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

METHODS = ["GET", "POST", "PUT", "DELETE"]


class WorkspaceRouter:
    """Hands each request to the application of the pile that its address names.

    Parameters
    ----------
    hall : the open piles.
    make_app : builds the application of a desk, or, for None, the one without a pile, which shows
        Start only.
    """

    def __init__(
        self, workspaces: Workspaces, make_app: Callable[[Workspace | None], ASGIApp]
    ) -> None:
        self.workspaces = workspaces
        self._make_app = make_app
        self._empty = make_app(None)
        self._apps: dict[str, tuple[Workspace, ASGIApp]] = {}
        self._lock = threading.Lock()
        first = workspaces.find(None)
        if first is not None:  # built now: the first visit need not wait for it
            self._built(first)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        workspace = self.workspaces.find(wanted(scope))
        if workspace is None:
            await self._empty(scope, receive, send)
            return
        built, app = self._apps.get(workspace.key, (None, self._empty))
        if built is not workspace:  # building one takes a moment, in which others go on
            app = await to_thread.run_sync(self._built, workspace)
        await app(scope, receive, send)

    def _built(self, workspace: Workspace) -> ASGIApp:
        with self._lock:
            built, app = self._apps.get(workspace.key, (None, self._empty))
            if built is not workspace:
                app = self._make_app(workspace)
                held = {key: one for key, one in self._apps.items() if self.workspaces.has(key)}
                self._apps = {**held, workspace.key: (workspace, app)}  # others were closed
            return app

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await to_thread.run_sync(self.workspaces.close)
                await send({"type": "lifespan.shutdown.complete"})
                return


def wanted(scope: Scope) -> str | None:
    """The pile that an address names; None: none."""
    query = scope.get("query_string", b"").decode("latin-1")
    named = parse_qs(query).get("pile", [])
    return named[0] if named and named[0] else None


def no_pile() -> APIRouter:
    """Stands in for all routes about a pile while none is open."""
    api = APIRouter(include_in_schema=False)

    def refuse(rest: str) -> None:
        raise ApiError(
            409,
            "no-pile",
            "No pile is open at this address.",
            "Open one on the page, or with POST /api/start/open.",
        )

    api.add_api_route("/api/{rest:path}", refuse, methods=METHODS)
    return api
