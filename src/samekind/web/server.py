"""serve: run the page on this machine until it is stopped."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from samekind.errors import MissingExtra, ServerError

if TYPE_CHECKING:
    from samekind.web.desk import Desk

WILDCARDS = ("", "0.0.0.0", "::")


def serve(
    desk: Desk,
    *,
    port: int = 8765,
    host: str = "127.0.0.1",
    open_browser: bool = False,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a desk until Ctrl-C.

    Parameters
    ----------
    port : 0 takes any free one.
    host : the address to listen on. Anything but this machine's own lets others on the network
        see the items and answer.
    open_browser : open the page in the person's browser.
    announce : is given the address, in a sentence.
    """
    try:
        import uvicorn

        from samekind.web.app import create_app
        from samekind.web.security import LOOPBACK
    except ImportError as missing:
        raise MissingExtra("The page", "app") from missing

    with closing(listen(host, port)) as listener:
        desk.session()  # what cannot be opened is told now, not in the browser
        port = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{port}"
        config = uvicorn.Config(
            create_app(desk, hosts=tuple({*LOOPBACK, name}), port=port),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=3,
        )
        announce(f"samekind serves {desk.collection.name} at {address} (stop with Ctrl-C)")
        if open_browser:
            import webbrowser

            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listener])


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
