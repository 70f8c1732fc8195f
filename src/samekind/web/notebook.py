"""The page inside a notebook: an iframe on a server of its own, over the notebook's session."""

from __future__ import annotations

import secrets
import threading
import time
from html import escape
from typing import TYPE_CHECKING

from samekind.errors import MissingExtra, ServerError
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from samekind.session import Session

START_SECONDS = 60.0
"""Time in which the server must be ready."""
LOCAL_PAGES = "http://localhost:* http://127.0.0.1:* vscode-webview:"
"""Pages that may show the page in a frame: notebooks on this machine."""


class AllowFrames:
    """Lets notebooks on this machine show the page in a frame; others still cannot."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_framed(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message["headers"] if k.lower() != b"x-frame-options"]
                allowed = f"frame-ancestors {LOCAL_PAGES}".encode()
                message["headers"] = [
                    (k, v.replace(b"frame-ancestors 'none'", allowed)) for k, v in kept
                ]
            await send(message)

        await self.app(scope, receive, send_framed)


class PageWidget:
    """The page over a session, to be shown by Jupyter, marimo and others.

    Answers on the page are answers of the session: ``session.answers`` has them at once. The server
    listens on this machine only, and its address has a token. It stops with :meth:`close`, or with
    the notebook.

    Parameters
    ----------
    session : of the notebook.
    height : of the frame in pixels.
    host : the name of this machine in the address. It has to be the one in the address of the
        notebook, because browsers keep no cookies for frames of other sites.
    """

    def __init__(self, session: Session, *, height: int = 760, host: str = "localhost") -> None:
        try:
            import uvicorn

            from samekind.web.app import create_app
            from samekind.web.server import listen
        except ImportError as missing:
            raise MissingExtra("The page", "app") from missing
        self.session, self.height = session, height
        workspace = Workspace(
            session.collection, self._open, store=session.store, first=session.name
        )
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        app = create_app(Workspaces.around(workspace), port=port, token=token)
        app.add_middleware(AllowFrames)
        self.address = f"http://{host}:{port}/?token={token}"
        config = uvicorn.Config(app, log_level="error", access_log=False, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        end = time.monotonic() + START_SECONDS
        while not self._server.started:
            if time.monotonic() > end or not self._thread.is_alive():
                raise ServerError("The page did not start. Run the cell again.")
            time.sleep(0.01)

    def _open(self, name: str) -> Session:
        """Return the session of the notebook, or begin another grouping of its items."""
        if name == self.session.name:
            return self.session
        from sklearn.base import clone

        from samekind.session import Session

        one = self.session
        return Session(
            one.collection,
            one.X,
            store=one.store,
            name=name,
            clusterer=clone(one.clusterer),
            strategy=one.strategy,
            seed=one.seed,
            refit_every=one.refit_every,
        )

    def _repr_html_(self) -> str:
        """Show the page in a frame."""
        return (
            f'<iframe src="{escape(self.address)}" title="samekind" width="100%" '
            f'height="{self.height}" style="border: 0"></iframe>'
        )

    def close(self) -> None:
        """Stop the server; all answers are in the session."""
        self._server.should_exit = True
        self._thread.join()
