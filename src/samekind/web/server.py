"""serve: run the page on this machine until it is stopped."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from samekind.errors import MissingExtra, ServerError
from samekind.web.addresses import Addresses, check_open, check_people

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from samekind.web.phone import Phone
    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces

WILDCARDS = ("", "0.0.0.0", "::")
DEFAULT_PORT = 8765
MAX_PORT = 65535
SHUTDOWN_SECONDS = 3
"""Time for requests to finish when the server stops."""
MAX_QUEUED = 1024
"""Connections that the operating system keeps until the server accepts them."""


def serve(
    workspaces: Workspaces,
    *,
    port: int = DEFAULT_PORT,
    host: str = "127.0.0.1",
    open_browser: bool = False,
    announce: Callable[[str], None] = print,
    token: bool = True,
    people: Sequence[str] = (),
    public_url: str | None = None,
    phone: Phone | None = None,
) -> None:
    """Serve workspaces until Ctrl-C.

    Parameters
    ----------
    workspaces : the open piles; the page shows the first one, or asks for one to open.
    port : 0 takes any free one. open_browser : open the page in the default browser.
    host : the address to listen on. Any but this machine's own lets others on the network see the
        items and answer.
    announce : is called with sentences that contain the address.
    token : whether the address contains a token, without which every request is refused.
    people : names of those who may answer; each gets an address with a token of their own.
    public_url : the address of a reverse proxy that adds TLS, which people open instead.
    phone : also listen on the local network, for phones with a token of their own.
    """
    check_open(host, token=token, public_url=public_url)
    names = check_people(people, token=token)
    try:
        import uvicorn  # noqa: F401

        from samekind.web.app import create_app
        from samekind.web.security import LOOPBACK, load_token, person_tokens
    except ImportError as missing:
        raise MissingExtra("The page", "app") from missing

    with ExitStack() as open_sockets:
        listeners, port = _listeners(open_sockets, host, port, phone)
        first = _first(workspaces)
        name = f"[{host}]" if ":" in host else host
        secret = load_token() if token else None
        addresses = Addresses(
            f"{public_url.rstrip('/')}/" if public_url else f"http://{name}:{port}/",
            secret,
            person_tokens(secret, names) if secret else {},
        )
        app = create_app(
            workspaces,
            hosts=tuple({*LOOPBACK, name, *([phone.host] if phone else [])}),
            port=port,
            token=secret,
            people=addresses.people,
            public_url=public_url,
            phone=None if phone is None else phone.token,
        )
        lines = () if phone is None else phone.announcements(port)
        for sentence in (*addresses.announcements(_describe(first)), *lines):
            announce(sentence)
        _run(app, listeners, workspaces, addresses.first if open_browser else "")


def _listeners(
    open_sockets: ExitStack, host: str, port: int, phone: Phone | None
) -> tuple[list[socket.socket], int]:
    """Listen on this machine, and for a phone on its network as well; return the port, too."""
    found = [open_sockets.enter_context(closing(listen(host, port)))]
    port = found[0].getsockname()[1]
    if phone is not None:
        found.append(open_sockets.enter_context(closing(listen(phone.host, port))))
    return found, port


def _first(workspaces: Workspaces) -> Workspace | None:
    """Return the first workspace; fail now, not in the browser, if it cannot be opened."""
    first = workspaces.find(None)
    if first is not None:
        first.session()
    return first


def _describe(first: Workspace | None) -> str:
    return "is ready" if first is None else f"serves {first.collection.name}"


def _run(
    app: FastAPI, listeners: list[socket.socket], workspaces: Workspaces, address: str
) -> None:
    """Run until Ctrl-C. Addresses are not logged, because they contain tokens.

    `address` is opened in the browser, unless it is empty.
    """
    import uvicorn

    from samekind.web.connections import LimitedProtocol, max_accepted

    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        backlog=max_accepted(),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    if address:
        _open(address)
    _keep_queue_long(server)
    _close_events_first(server, workspaces)
    server.run(sockets=listeners)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


def _keep_queue_long(server: uvicorn.Server) -> None:
    """Let more connections queue than are accepted at once; asyncio has one number for both."""
    start = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await start(sockets)
        for listener in sockets or ():
            listener.listen(MAX_QUEUED)

    server.startup = startup  # type: ignore[method-assign]


def _close_events_first(server: uvicorn.Server, workspaces: Workspaces) -> None:
    """Let a server end its event streams before it waits for requests to finish."""
    stop = server.shutdown

    async def shutdown(sockets: list[socket.socket] | None = None) -> None:
        workspaces.close_events()
        await stop(sockets)

    server.shutdown = shutdown  # type: ignore[method-assign]


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket to an address; errors say what to do."""
    if host in WILDCARDS:
        raise ServerError(
            f"{host!r} would listen on every network of this machine. Name one of its addresses, "
            "or omit --host to serve this machine only."
        )
    if not 0 <= port <= MAX_PORT:
        raise ServerError(f"Expected a port from 0 (any free one) to {MAX_PORT}, got {port}.")
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
        raise ServerError(_explain(host, port, fault)) from fault
    return listener


def _explain(host: str, port: int, fault: OSError) -> str:
    other = port + 1 if port < MAX_PORT else DEFAULT_PORT
    if fault.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is in use by another program. Stop it, or choose another port: "
            f"samekind serve PATH --port {other}"
        )
    if fault.errno in (errno.EACCES, errno.EPERM):
        return (
            f"Port {port} needs special rights. Choose another port: "
            f"samekind serve PATH --port {DEFAULT_PORT}"
        )
    return f"Cannot listen on {host} port {port}: {fault.strerror}. Choose another address."
