"""serve: run the page on this machine until it is stopped."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from samekind.errors import MissingExtra, ServerError

if TYPE_CHECKING:
    import uvicorn

    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces

WILDCARDS = ("", "0.0.0.0", "::")


def serve(
    workspace: Workspace | None,
    *,
    workspaces: Workspaces | None = None,
    port: int = 8765,
    host: str = "127.0.0.1",
    open_browser: bool = False,
    announce: Callable[[str], None] = print,
    token: bool = True,
) -> None:
    """Serve a desk until Ctrl-C.

    Parameters
    ----------
    desk : what the page opens with; None: a page on which a pile is chosen.
    hall : where other piles are opened from the page; None: there is only this desk.
    port : 0 takes any free one.
    host : the address to listen on. Anything but this machine's own lets others on the network
        see the items and answer.
    open_browser : open the page in the person's browser.
    announce : is given the address, in a sentence.
    token : whether the address holds a token, without which every request is refused.
    """
    try:
        import uvicorn

        from samekind.web.app import create_app
        from samekind.web.router import WorkspaceRouter
        from samekind.web.security import LOOPBACK
        from samekind.web.tokens import kept_token
        from samekind.workspace.workspaces import Workspaces
    except ImportError as missing:
        raise MissingExtra("The page", "app") from missing

    with closing(listen(host, port)) as listener:
        if workspace is not None:
            workspace.session()  # what cannot be opened is told now, not in the browser
        workspaces = workspaces or (
            Workspaces() if workspace is None else Workspaces.around(workspace)
        )
        port = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        secret = kept_token() if token else None
        address = f"http://{name}:{port}/" + (f"?token={secret}" if secret else "")
        hosts = tuple({*LOOPBACK, name})
        make_app = partial(create_app, hosts=hosts, port=port, workspaces=workspaces, token=secret)
        config = uvicorn.Config(
            WorkspaceRouter(workspaces, make_app),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=3,
        )
        what = (
            "samekind is ready"
            if workspace is None
            else f"samekind serves {workspace.collection.name}"
        )
        announce(f"{what} at {address} (stop with Ctrl-C)")
        if open_browser:
            _open(address)
        server = uvicorn.Server(config)
        _close_events_first(server, workspaces)
        server.run(sockets=[listener])


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


def _close_events_first(server: uvicorn.Server, workspaces: Workspaces) -> None:
    """Let a server end its streams of news before it waits for requests to come to an end."""
    stop = server.shutdown

    async def shutdown(sockets: list[socket.socket] | None = None) -> None:
        workspaces.close_events()
        await stop(sockets)

    server.shutdown = shutdown  # type: ignore[method-assign]


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to an address, or a sentence that says why not."""
    if host in WILDCARDS:
        raise ServerError(
            f"{host!r} would listen on every network of this machine. Name one address of it, or "
            "leave --host away to serve this machine only."
        )
    if not 0 <= port <= 65535:
        raise ServerError(f"{port} is not a port. Choose one from 1024 to 65535, or 0 for any.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as fault:
        raise ServerError(f"{host!r} is not an address of this machine: {fault}.") from fault
    listener = socket.socket(family, kind, protocol)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()
    except OSError as fault:
        listener.close()
        raise ServerError(_why_not(host, port, fault)) from fault
    return listener


def _why_not(host: str, port: int, fault: OSError) -> str:
    other = port + 1 if port < 65535 else 8765
    if fault.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is in use by another program. Stop it, or choose another: "
            f"samekind serve PATH --port {other}"
        )
    if fault.errno in (errno.EACCES, errno.EPERM):
        return (
            f"Port {port} may not be used without special rights. Choose another: "
            "samekind serve PATH --port 8765"
        )
    return f"Cannot listen on {host} port {port}: {fault.strerror}. Choose another address."
