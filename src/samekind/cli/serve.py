"""``samekind serve`` and ``samekind demo``: answer on a page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine can reach. Only there, with a token, may the page name paths."""


def serve(
    path: Annotated[
        str | None,
        typer.Argument(help="A folder, a table, or a named set; omit it to choose on the page."),
    ] = None,
    port: options.Port = 8765,
    host: Annotated[str, typer.Option(help="Address of this machine to listen on.")] = "127.0.0.1",
    browser: options.Browser = False,
    orientation: options.Orientation = "main",
    encoder: options.Encoder = None,
    method: options.Method = None,
    strategy: options.Strategy = None,
    parameters: options.With = None,
    groups: options.Groups = None,
    seed: options.SessionSeed = None,
    ledger: options.Ledger = None,
    token: Annotated[
        bool,
        typer.Option(
            "--token/--no-token", help="Only someone with the printed address may use the page."
        ),
    ] = True,
) -> None:
    """Answer questions on a page in your browser."""
    from samekind.parameters import parse_assignments
    from samekind.web.server import listen
    from samekind.web.server import serve as run_server
    from samekind.workspace.pile import Request
    from samekind.workspace.workspaces import Workspaces

    given = parse_assignments(parameters or [])
    if port:
        listen(host, port).close()  # fails early, before any long work, if the port is in use
    workspaces = Workspaces.at_home(paths=token and host in LOCAL_HOSTS)
    if path is not None:
        request = Request(
            path, orientation, encoder, method, strategy, groups, seed, ledger, note, given
        )
        with progress_bar("Encoding") as progress:
            workspaces.open(request.remembered(), progress)
    run_server(
        workspaces,
        port=port,
        host=host,
        open_browser=browser,
        announce=say,
        token=token,
    )


def demo(port: options.Port = 8765, browser: options.Browser = False) -> None:
    """Try the page with 384 tiles: sort them by colour, shape, pattern or count."""
    serve("tiles", port=port, browser=browser)
